"""The limits of a process that compiles what somebody typed. It has no way back, so the process does nothing else."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence

import incc
from incc.frontends.gcc_wrapper.compiler import Compiler
from incc.support.confined import confine_process
from incc.support.errors import AnalysisError

CPU_SECONDS = 20
"""Seconds of the processor that the analysis, and each program that it starts, may take."""
MEMORY = 3 << 30
"""Bytes of address space of each process. Compilers map more than they use."""
FILE = 64 << 20
"""Bytes of the largest file, and so of a compiler's output."""
PROCESSES = 64
"""Processes that this user may have beyond those that there are."""

_SEARCH = re.compile(r"search starts here:\n(.*?)End of search list\.", re.DOTALL)


def confine(compiler: Compiler, environment: Mapping[str, str], folder: str) -> None:
    """Keep this process and what it starts from all files but software and those in `folder`, and limit them.

    Raises:
        NotConfinedError: The kernel cannot keep a process from files.
    """
    # Compilers for Arm read what -march=native is from /proc/cpuinfo.
    own = [*_package(), sys.prefix, sys.base_prefix, *sys.path, "/proc/cpuinfo"]
    processes = _processes() + PROCESSES
    confine_process(compiler.path, environment, folder, [name for name in own if name])
    limit_process()
    _limit((resource.RLIMIT_FSIZE, FILE), (resource.RLIMIT_NPROC, processes), (resource.RLIMIT_CORE, 0))


def limit_process() -> None:
    """Limit the time and memory of this process, and of each that it starts."""
    _limit((resource.RLIMIT_CPU, CPU_SECONDS), (resource.RLIMIT_AS, MEMORY))


def _limit(*limits: tuple[int, int]) -> None:
    for limit, value in limits:
        _, most = resource.getrlimit(limit)
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(limit, (value, value))


def _package() -> list[str]:
    """Return the folders of this package, which are links into the tree for who develops it."""
    top = os.path.dirname(incc.__file__ or "")
    inner = [os.path.join(top, name) for name in os.listdir(top)]
    tables = os.path.join(top, "models", "tables")
    return [os.path.realpath(name) for name in (top, *inner, tables)]


def _processes() -> int:
    """Return the number of processes of this user."""
    count = 0
    for name in os.listdir("/proc"):
        try:
            count += name.isdecimal() and os.stat(f"/proc/{name}").st_uid == os.getuid()
        except OSError:
            continue
    return count


def check_includes(
    compiler: Compiler, options: Sequence[str], source: str, environment: Mapping[str, str], folder: str
) -> None:
    """Raise AnalysisError if the preprocessor opens a file that is in none of the system's folders of headers.

    Messages are thrown away, since they may quote the file.
    """
    command = [*compiler.words, *options, "-M", "-v", source]
    done = subprocess.run(
        command, executable=compiler.path, cwd=folder, env=dict(environment), capture_output=True, check=False
    )
    text = done.stderr.decode("utf-8", "replace")
    folders = [line.strip() for found in _SEARCH.findall(text) for line in found.splitlines() if line[:1] == " "]
    allowed = [os.path.realpath(name) for name in (*folders, folder)]
    for name in _prerequisites(done.stdout.decode("utf-8", "surrogateescape")):
        path = os.path.realpath(os.path.join(folder, name))
        if not any(path.startswith(f"{place}/") for place in allowed):
            raise AnalysisError(f"{name}: only headers in the system's folders can be included here")


def _prerequisites(rule: str) -> list[str]:
    """Return the files after the colon of a make rule."""
    _, _, names = rule.replace("\\\n", " ").partition(": ")
    return [re.sub(r"\\(.)", r"\1", name) for name in re.findall(r"(?:\\.|\S)+", names)]
