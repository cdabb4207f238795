"""The command by which a compiler makes code with probes.

The compiler runs as always, but for the assembler that it starts: that is incc, which puts probes into the text
(`incc.driver.commands.assemble`) and starts the real assembler. A command that links gets the probes' runtime.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence

import msgspec

from incc.frontends.gcc_wrapper.compiler import Compiler
from incc.frontends.gcc_wrapper.dry_run import DryRun, parse
from incc.frontends.gcc_wrapper.response_files import expanded
from incc.frontends.isa import of_target
from incc.running.insertion import ISA
from incc.support.trust import user_folder

RUNTIME = os.path.join(os.path.dirname(__file__), "runtime", "probe.o")
"""The object with the runtime of probes, which is there on Linux for x86-64."""

VARIABLE = "INCC_PROBE_COMMAND"
"""The variable that tells incc, started as an assembler, about the compilation: a `Probing` in JSON."""


_WITHOUT_SYSTEM = frozenset(("-ffreestanding", "-fno-hosted", "-mcmodel=kernel"))
"""Options for code that runs where there is no thread-local memory: kernels, firmware, parts of C libraries."""


class Probing(msgspec.Struct, frozen=True, kw_only=True):
    """A compilation with probes."""

    assembler: str
    """The path of the real assembler."""
    folder: str
    """The absolute path of the command's working directory."""
    arguments: tuple[str, ...]
    """The compiler's arguments, with response files expanded."""
    command: tuple[str, ...]
    """The user's command line."""
    compiler: str
    version: str
    condition: str
    """The condition that loops with probes meet, "" for all loops."""


class ProbedCommand(msgspec.Struct, frozen=True):
    """A command that makes code with probes."""

    arguments: list[str]
    environment: dict[str, str]
    note: str
    """The reason that the code has no probes, "" if it has."""


def probed_command(
    compiler: Compiler, arguments: Sequence[str], environment: Mapping[str, str], program: str, condition: str
) -> ProbedCommand:
    """Return the command with probes for a compiler's command; without them if they are not possible.

    Args:
        compiler: the real compiler.
        arguments: its arguments.
        environment: its environment.
        program: the path of the program `incc`.
        condition: the condition that loops with probes meet, "" for all loops.
    """
    plain = list(arguments)
    folder = os.getcwd()

    def without(reason: str) -> ProbedCommand:
        return ProbedCommand(plain, dict(environment), reason)

    words = expanded([*compiler.words[1:], *arguments], folder)
    if not _WITHOUT_SYSTEM.isdisjoint(words) or ("-nostdlib" in words and "-lc" not in words):
        return without("code without a C library has no thread-local memory")
    try:
        dry_run = _dry_run(compiler, arguments, environment)
    except OSError as error:
        return without(f"{compiler.path}: {error.strerror}")
    is_clang = any("-cc1" in command.words for command in dry_run.commands)
    if not dry_run.commands or of_target(dry_run.target) != ISA:
        return without("" if not dry_run.commands else f"there are no probes for {dry_run.target}")
    if not os.path.exists(RUNTIME):
        return without("this installation has no runtime for probes")
    assembler = _assembler(compiler, dry_run, environment)
    if not assembler:
        return without("the compiler's assembler was not found")
    try:
        place = _place(program, environment)
    except OSError as error:
        return without(f"{error.filename}: {error.strerror}")
    probing = Probing(
        assembler=assembler,
        folder=folder,
        arguments=tuple(words),
        command=(*compiler.words, *arguments),
        compiler=compiler.name,
        version=dry_run.version,
        condition=condition,
    )
    # -B comes first: a compiler looks there before it looks anywhere else.
    added = [f"-B{place}", *(["-fno-integrated-as"] if is_clang else [])]
    behind = ["-Xlinker", RUNTIME] if _links_for_host(dry_run) else []
    end = plain.index("--") if "--" in plain else len(plain)
    return ProbedCommand(
        [*added, *plain[:end], *behind, *plain[end:]],
        {**environment, VARIABLE: json.dumps(msgspec.to_builtins(probing))},
        "",
    )


def _dry_run(compiler: Compiler, arguments: Sequence[str], environment: Mapping[str, str]) -> DryRun:
    """Return the sub-commands that the compiler would run. Raises OSError."""
    done = subprocess.run(
        [*compiler.words[:1], "-###", *compiler.words[1:], *arguments],
        executable=compiler.path,
        env={**environment, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    return parse(done.stderr.decode("utf-8", "surrogateescape"))


def _assembler(compiler: Compiler, dry_run: DryRun, environment: Mapping[str, str]) -> str:
    """Return the path of the assembler that the compiler would start, "" if it is not found."""
    names = [c.words[0] for c in dry_run.commands if os.path.basename(c.words[0]).removesuffix(".exe").endswith("as")]
    for name in [*names, "as"]:
        path = name if os.path.isabs(name) else shutil.which(name, path=environment.get("PATH", os.defpath)) or ""
        if path and os.path.exists(path):
            return path
    return ""


def _place(program: str, environment: Mapping[str, str]) -> str:
    """Return the folder in which incc is called `as`. Raises OSError."""
    place = os.path.join(user_folder(environment, "XDG_DATA_HOME", ".local/share") or "/nonexistent", "probes")
    os.makedirs(place, exist_ok=True)
    link = os.path.join(place, "as")
    if not os.path.islink(link) or os.readlink(link) != program:
        # Atomic, since other compilers may be starting it.
        new = f"{link}.{os.getpid()}.new"
        os.symlink(program, new)
        os.replace(new, link)
    return place


_NOT_LINKED = frozenset(("-r", "--relocatable", "-i"))


def _links_for_host(dry_run: DryRun) -> bool:
    """Return True if a command links a program or library that can have the runtime."""
    for command in dry_run.commands:
        words = command.words
        if "-o" in words and "-lc" in words and not _NOT_LINKED.intersection(words):
            machine = next((words[i + 1] for i, word in enumerate(words[:-1]) if word == "-m"), "elf_x86_64")
            return machine == "elf_x86_64"
    return False
