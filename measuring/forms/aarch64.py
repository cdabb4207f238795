"""Loops that measure latency and throughput of AArch64's data-processing forms. Not tested on hardware yet.

Only named forms without memory and flags are supported: registers of one kind or several and constants. Latency is that
of a chain in which each copy reads the previous result in one operand; throughput that of copies with separate
results. Text is assembled where it is compiled, as inline assembly of LLVM's intermediate representation.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator

import msgspec

NOT_TRIED = "not tested: the AArch64 loops have not run on hardware yet"
COUNTER = 28
"""The number of the register that counts trips (x28); forms do not touch it."""
UNROLL = 16

_VECTOR = re.compile(r"v\.\d*[bhsdq]")
# x18 is the platform's, x29 and x30 frame and link; x9 to x15 are read, x0 to x7 written.
_WRITTEN, _READ = range(8), range(9, 16)
_READ_VECTORS = range(24, 31)
_MANY_VECTORS = 16
# Instructions with only register operands that are no data processing, or keep state.
_BRANCHES = ("b", "bl", "br", "blr", "ret")
_NO_DATA = ("cb", "tb", "ld", "st", "prf", "msr", "mrs", "sys", "svc", "hvc", "adr", "dc", "ic")


class NotMeasurable(ValueError):
    """A form for which no loop exists; the message gives the reason."""


class FormLoop(msgspec.Struct, frozen=True, kw_only=True):
    """A loop of copies of a form."""

    form: str
    operand: int
    """The operand through which the copies are a chain; 0 for independent ones."""
    text: str
    copies: int


def _kind(shape: str) -> str:
    """Return the kind of register, "" for a constant. Raises NotMeasurable."""
    if shape in ("x", "w"):
        return "gpr"
    if shape in ("b", "h", "s", "d", "q") or _VECTOR.fullmatch(shape):
        return "vector"
    if shape == "#":
        return ""
    raise NotMeasurable(f"operand {shape!r} is no register that can be chosen, nor a constant")


def operands(form: str) -> tuple[str, list[str]]:
    """Return (mnemonic, shapes). Raises NotMeasurable."""
    mnemonic, _, text = form.partition("/")
    shapes = text.split(",") if text else []
    if not shapes:
        raise NotMeasurable(f"{form}: no operands")
    # `b` alone is a branch, but `bic` is not.
    if mnemonic in _BRANCHES or "." in mnemonic or mnemonic.startswith(_NO_DATA):
        raise NotMeasurable(f"{form}: no data-processing instruction")
    try:
        kinds = [_kind(shape) for shape in shapes]
    except NotMeasurable as e:
        raise NotMeasurable(f"{form}: {e}") from None
    if not kinds[0]:
        raise NotMeasurable(f"{form}: writes no register")
    return mnemonic, shapes


def _name(shape: str, number: int) -> str:
    return f"v{number}{shape[1:]}" if shape.startswith("v.") else f"{shape}{number}"


def _line(mnemonic: str, shapes: list[str], result: int, chained: int = 0) -> str:
    """Return one copy that writes register `result`, and reads it in operand `chained` (0: nowhere)."""
    texts = [_name(shapes[0], result)]
    for n, shape in enumerate(shapes[1:], 1):
        kind = _kind(shape)
        if not kind:
            texts.append("#1")
        elif n == chained:
            texts.append(_name(shape, result))
        else:
            texts.append(_name(shape, (_READ if kind == "gpr" else _READ_VECTORS)[n % 7]))
    return f"{mnemonic} {', '.join(texts)}"


def latencies(form: str) -> Iterator[FormLoop]:
    """Yield a loop for each operand through which copies of the form can be a chain by themselves."""
    mnemonic, shapes = operands(form)
    for n, shape in enumerate(shapes[1:], 1):
        if _kind(shape) == _kind(shapes[0]):
            yield _loop(form, n, [_line(mnemonic, shapes, 0, n)] * UNROLL)


def registers_written(form: str) -> int:
    """Return how many registers the copies of a form write to in turn. Raises NotMeasurable."""
    return len(_WRITTEN) if _kind(operands(form)[1][0]) == "gpr" else _MANY_VECTORS


def throughput(form: str) -> FormLoop:
    """Return a loop of copies with other results; a form that reads its result (`fmla`) waits for itself."""
    mnemonic, shapes = operands(form)
    many = registers_written(form)
    return _loop(form, 0, [_line(mnemonic, shapes, n % many) for n in range(3 * many)])


def _loop(form: str, operand: int, lines: list[str]) -> FormLoop:
    text = "\n".join(["0:", *lines, f"subs x{COUNTER}, x{COUNTER}, #1", "b.ne 0b"])
    return FormLoop(form=form, operand=operand, text=text, copies=len(lines))


def intermediate(code: FormLoop) -> str:
    """Return a function that runs nothing but the loop, as LLVM's intermediate representation."""
    text = code.text.replace("\n", "\\0A")
    return f'define void @incc_loop() naked {{\n  call void asm sideeffect "{text}", ""()\n  unreachable\n}}\n'


def machine_code(code: FormLoop) -> bytes:
    """Return the loop's bytes.

    Raises NotMeasurable where this is no AArch64: llvmlite assembles for its own machine only.
    """
    if platform.machine() not in ("aarch64", "arm64"):
        raise NotMeasurable(f"loops of AArch64 are assembled on AArch64 only, not on {platform.machine()}")
    import lief
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    target = llvm.Target.from_default_triple().create_target_machine(features="+neon,+fullfp16")
    binary = lief.parse(list(target.emit_object(llvm.parse_assembly(intermediate(code)))))
    section = binary.get_section(".text") if isinstance(binary, lief.ELF.Binary) else None
    if section is None:
        raise NotMeasurable("LLVM refuses the loop")
    return bytes(section.content)
