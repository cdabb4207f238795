"""Compiler Explorer's way with tools: what it does to assembly, how it calls them, and the sandbox they run in.

Sources, in github.com/compiler-explorer/compiler-explorer: lib/tooling/llvm-mca-tool.ts and osaca-tool.ts,
lib/compilers/llvm-mca.ts, lib/parsers/asm-parser.ts, lib/exec.ts, etc/nsjail/compilers-and-tools.cfg.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec
from wrapper_launcher import installed

import incc

# --- assembly --------------------------------------------------------------------------------------------------------


def rewritten(text: str) -> str:
    """The compiler's output as the tool class llvm-mca-tool writes it for its tool."""
    text = re.sub(r"(?i).hword\s", ".short ", text)
    text = re.sub(r"(?i)offset flat:", "", text)
    text = re.sub(r"(?i)ptr\s%fs", "PTR fs", text)
    return re.sub(r"(?im)^\s*\.(?:fnstart|eabi_attribute|fpu|loc|file).*", "", text)


_LABEL = re.compile(r'([\w$.@]+|"[\w$.@]+"):')
_NAME = re.compile(r'[.A-Z_a-z][\w$.]*|"[.A-Z_a-z][\w$.]*"')
_DEFINED = re.compile(r"\s*\.(?:globa?l|weak)\s+(\S+)|\s*\.type\s+([^,\s]+),\s*[%@]function")
_DATA = re.compile(
    r"\s*\.(?:asci[iz]|[1248]?byte|double|dword|float|hword|long|octa|quad|short|single|skip|string|value|word|xword|zero)"
)
_SECTION = re.compile(r".*\.(?:cfi_endproc|data|text|section)\b")
_COMMENT = re.compile(r"\s*(?:#|@|//|/\*.*\*/$|;)")
_DIRECTIVE = re.compile(r"\s*\.")


def _used_labels(lines: list[str]) -> set[str]:
    """The labels that code refers to, or data that code refers to."""
    used: set[str] = set()
    of_data: dict[str, set[str]] = {}
    labels: list[str] = []
    for before, line in zip(["", *lines], lines, strict=False):
        if _SECTION.match(line):
            labels = []
        if match := _LABEL.match(line):
            labels = [*(labels if _LABEL.match(before) else ()), match[1]]
        elif match := _DEFINED.match(line):
            used.add(match[1] or match[2])
        elif _DATA.match(line):
            for label in labels:
                of_data.setdefault(label, set()).update(_NAME.findall(line))
        elif not _DIRECTIVE.match(line):
            used.update(_NAME.findall(line))
    left = [*used]
    while left:
        more = of_data.get(left.pop(), set()) - used
        used |= more
        left += more
    return used


def filtered(text: str) -> str:
    """The compiler's output as the tool class osaca-tool writes it: as it is shown with the usual filters.

    These remove directives, comments, and labels that nothing refers to with the data behind them.
    """
    lines = text.splitlines()
    used = _used_labels(lines)
    shown, label = [], ""
    for line in lines:
        match = _LABEL.match(line)
        if match:
            label = match[1] if match[1] in used else ""
            keep = bool(label)
        elif _SECTION.match(line):
            label, keep = "", False
        else:
            keep = not _COMMENT.match(line) and (not _DIRECTIVE.match(line) or bool(label and _DATA.match(line)))
        if keep:
            shown.append(line.expandtabs(8))
    return "\n".join(shown) + "\n"


# --- the installation ------------------------------------------------------------------------------------------------


def _link(source: str, target: str) -> None:
    source = os.path.realpath(source)
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def _requirements(names: Iterable[str], found: set[str]) -> set[str]:
    """The installed distributions among these, and those that they require, without extras."""
    for name in (re.split(r"[^\w.-]", each)[0] for each in names if "extra ==" not in each):
        with suppress(importlib.metadata.PackageNotFoundError):
            if name not in found:
                more = importlib.metadata.requires(name) or ()
                found.add(name)
                _requirements(more, found)
    return found


def install(folder: Path, own_python: bool = True) -> Path:
    """An installation in one folder as pip makes it: an environment, or without `own_python` what --target makes."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    packages = folder / "lib" / version / "site-packages" if own_python else folder
    (folder / "bin").mkdir(parents=True)
    packages.mkdir(parents=True, exist_ok=True)
    shutil.copy(installed("incc-mca"), folder / "bin")
    if own_python:
        python = Path(os.path.realpath(sys.executable))
        (folder / "bin/python3").symlink_to(python)
        (folder / "pyvenv.cfg").write_text(f"home = {python.parent}\n")
    shutil.copytree(Path(incc.__file__).parent, packages / "incc", copy_function=_link)
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    site = Path(sysconfig.get_path("purelib"))
    for requirement in _requirements(project["dependencies"], set()):
        files = importlib.metadata.files(requirement) or ()
        for name in {file.parts[0] for file in files if len(file.parts) > 1 and file.parts[0] != ".."}:
            shutil.copytree(site / name, packages / name, copy_function=_link, dirs_exist_ok=True)
    return folder


# --- the sandbox -----------------------------------------------------------------------------------------------------

INSTALLED = "/opt/compiler-explorer/incc"
"""The installation, in the sandbox."""

LIMITS = {"as": 5 << 28, "nproc": 72, "nofile": 300, "fsize": 1 << 30, "cpu": 7}
"""Compiler Explorer limits memory instead of address space, and 7.5 s by the clock instead of the processor's time."""

# A new root with the system's software, read-only, and the folder of the run.
_JAIL = r"""
set -e
root=$1 installation=$2 app=$3 temporary=$4 python=$5
shift 5
mount --make-rprivate /
mount -t tmpfs -o mode=755 none "$root"
for place in /usr /bin /lib /lib32 /lib64 /etc/alternatives /etc/ld.so.conf /etc/ld.so.conf.d "$python"; do
  if [ -e "$root$place" ] || [ ! -e "$place" ]; then continue; fi
  mkdir -p "$root$(dirname "$place")"
  if [ -h "$place" ]; then cp -P "$place" "$root$place"; continue; fi
  if [ -d "$place" ]; then mkdir "$root$place"; else : > "$root$place"; fi
  mount --rbind "$place" "$root$place"
  mount -o remount,bind,ro "$root$place"
done
mkdir -p "$root/app" "$root/proc" "$root/dev" "$root%(installed)s"
for place in null zero urandom; do : > "$root/dev/$place"; mount --bind /dev/$place "$root/dev/$place"; done
mount -t proc none "$root/proc"
mount --bind "$installation" "$root%(installed)s"
mount -o remount,bind,ro "$root%(installed)s"
mount --bind "$app" "$root/app"
if [ "$temporary" = noexec ]; then
  mkdir "$root/tmp"
  mount -t tmpfs -o mode=1777,noexec,nosuid,nodev,size=512m,nr_inodes=1000 none "$root/tmp"
fi
mount -o remount,ro "$root"
exec chroot %(user)s "$root" "$@"
"""


def _unshare() -> list[str]:
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, "--mount", "--pid", "--fork", "--net", "--ipc", "--uts"]


@cache
def no_sandbox() -> str:
    """Why this system has no sandbox, "" if it has one."""
    missing = [name for name in ("unshare", "chroot", "prlimit", "mount") if not shutil.which(name)]
    if missing:
        return f"no {missing[0]}"
    script = "mount --make-rprivate / && mount -t proc none /proc"
    tried = subprocess.run([*_unshare(), "sh", "-c", script], capture_output=True)
    return "no namespaces" if tried.returncode else ""


class Result(msgspec.Struct, frozen=True):
    status: int
    out: str
    err: str


def run(
    installation: Path, app: Path, arguments: list[str], temporary: str = "noexec", path: str = "", **limits: int
) -> Result:
    """Run incc-mca as Compiler Explorer does, in the folder `app`, which is /app there.

    `temporary`: /tmp is "noexec", or there is none: "none", and no HOME either. `path`: PATH. `limits`: in place of
    those of LIMITS.
    """
    app.chmod(0o777)
    root = app.parent / "root"
    root.mkdir(exist_ok=True)
    python = Path(os.path.realpath(sys.executable)).parent
    user = "--userspec=10240:10240" if os.geteuid() == 0 else ""
    command = [*_unshare(), "sh", "-c", _JAIL % {"installed": INSTALLED, "user": user}, "sh"]
    command += [str(root), str(installation), str(app), temporary, str(python.parent)]
    command += ["/usr/bin/env", "-i", "-C", "/app", f"PATH={path or f'{python}:/usr/bin:/bin'}"]
    command += [] if temporary == "none" else ["HOME=/app"]
    command += [shutil.which("prlimit") or "", *(f"--{k}={v}" for k, v in (LIMITS | limits).items())]
    command += [f"{INSTALLED}/bin/incc-mca", *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())
