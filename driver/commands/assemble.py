"""incc in place of a compiler's assembler: it puts probes into the text and runs the real assembler (`incc.running`).

The compilation must not suffer from it: without probes that assemble, the text is assembled as it is.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence

import msgspec

from incc.frontends.gcc_wrapper.assembly import target_cpu
from incc.frontends.gcc_wrapper.outputs import output_of
from incc.frontends.unit import Unit
from incc.running.compiling import VARIABLE, Probing
from incc.running.edges import NoProbes
from incc.running.insertion import with_probes
from incc.running.units import SECTION, StoredUnit, source_of, stored, unit_key
from incc.support.signals import die_by, end_in_order

_OTHER_MODES = ("--32", "--x32", "--version", "--help")


def main(arguments: list[str]) -> int:
    """Assemble with probes and return the assembler's exit status.

    The arguments are those of the assembler; the environment variable `VARIABLE` describes the compilation.
    """
    probing = msgspec.json.decode(os.environ.pop(VARIABLE), type=Probing)
    end_in_order()
    name = _input(arguments)
    if any(option in arguments for option in _OTHER_MODES):
        return _run(probing, arguments)
    data: bytes | None = None
    try:
        if name in ("", "-"):
            data = sys.stdin.buffer.read()
        else:
            with open(name, "rb") as file:
                data = file.read()
        if _is_by_hand(name, data, probing):
            return _run(probing, arguments, data if name in ("", "-") else None)
        with tempfile.TemporaryDirectory(prefix="incc-") as folder:
            probed = _probed(data.decode("utf-8", "surrogateescape"), probing, folder)
            if probed and _run(probing, _with_input(arguments, name, probed), quiet=True) == 0:
                return 0
    except (OSError, UnicodeError) as error:
        _debug(str(error))
    except Exception as error:  # the object is more important than its probes
        _debug(f"{type(error).__name__}: {error}")
    return _run(probing, arguments, data if name in ("", "-") else None)


def _is_by_hand(name: str, data: bytes, probing: Probing) -> bool:
    """Return True if a text was not written by a compiler: it need not follow the calling convention.

    It is a source of the command, or has come through the preprocessor, which begins with the name of the source.
    """
    sources = {os.path.normpath(os.path.join(probing.folder, each)) for each in probing.arguments}
    return bool(re.match(rb'# \d+ "', data)) or (bool(name) and os.path.abspath(name) in sources)


def _input(arguments: Sequence[str]) -> str:
    """Return the file that the assembler reads, "" for standard input."""
    for before, name in zip(reversed(["", *arguments[:-1]]), reversed(arguments), strict=True):
        if before not in ("-o", "-I", "--MD", "--defsym") and not name.startswith("-") and os.path.isfile(name):
            return name
    return "-" if "-" in arguments else ""


def _probed(text: str, probing: Probing, folder: str) -> str:
    """Write the text with probes into a folder and return its path, "" if it has no loop for probes."""
    source = source_of(text, probing.arguments)
    output = output_of(probing.arguments, source) if source else ""
    try:
        probed = with_probes(text, unit_key(text), _wanted(text, probing, source))
    except NoProbes as problem:
        _debug(str(problem))
        return ""
    if not probed.kernels:
        return ""
    unit = StoredUnit(
        key=unit_key(text),
        source=source,
        folder=probing.folder,
        output=output,
        compiler=probing.compiler,
        version=probing.version,
        command=probing.command,
        arguments=probing.arguments,
        cpu=target_cpu((), probing.arguments),
        skipped=probed.skipped,
    )
    content = os.path.join(folder, "unit")
    with open(content, "wb") as file:
        file.write(stored(unit, text))
    path = os.path.join(folder, "probed.s")
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as text_file:
        text_file.write(f'{probed.text}\t.section {SECTION}, "", @progbits\n\t.incbin "{content}"\n\t.text\n')
    return path


def _wanted(text: str, probing: Probing, source: str) -> Callable[[str], bool]:
    """Return a function that tells by the identity of a loop whether it gets probes.

    These are the loops that meet the condition, at marks if the source has any; all without both.
    """
    path = os.path.join(probing.folder, source)
    if not probing.condition and not _may_have_marks(path):
        return lambda kernel: True
    from incc.driver.pipeline import analyze_units
    from incc.driver.settings import Settings
    from incc.report.where import kernel_values, parse

    unit = Unit(
        assembly=text,
        assembly_file=f"{source}.s",
        source=source,
        cpu=target_cpu((), probing.arguments),
        folder=probing.folder,
        arguments=probing.arguments,
        command=probing.command,
    )
    units = analyze_units([unit], Settings()).units
    if not probing.condition and not any(each.marks for each in units):
        return lambda kernel: True
    condition = parse(probing.condition) if probing.condition else None
    kernels = {
        kernel.kernel_id
        for each in units
        for kernel in each.kernels
        if condition is None or condition.holds(kernel_values(each, kernel))
    }
    return kernels.__contains__


def _may_have_marks(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return b"incc" in file.read()
    except OSError:
        return False


def _with_input(arguments: Sequence[str], name: str, path: str) -> list[str]:
    """Return arguments with another input."""
    if name == "":
        return [*arguments, path]
    at = len(arguments) - 1 - list(reversed(arguments)).index(name)
    return [*arguments[:at], path, *arguments[at + 1 :]]


def _run(probing: Probing, arguments: Sequence[str], data: bytes | None = None, quiet: bool = False) -> int:
    """Run the real assembler and return its exit status. A signal that ends it ends this process, too."""
    command = [probing.assembler, *arguments]
    done = subprocess.run(command, input=data, stderr=subprocess.DEVNULL if quiet else None, check=False)
    if done.returncode < 0:
        die_by(-done.returncode)
    return done.returncode


def _debug(message: str) -> None:
    if os.environ.get("INCC_DEBUG"):
        sys.stderr.write(f"incc: note: no probes: {message}\n")
