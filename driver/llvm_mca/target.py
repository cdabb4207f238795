"""The target that -mtriple, -march and -mattr name."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from incc.driver.machine_code import MachineCode
from incc.frontends.isa import isa
from incc.frontends.x86.assembler import NARROW_TARGET
from incc.frontends.x86.iced import Narrow
from incc.models.processors.names import level

DEFAULT = "x86_64-pc-linux-gnu"

_TARGETS = {"x86": "i386", "x86-64": "x86_64", "aarch64": "aarch64", "arm64": "arm64"}
"""The LLVM targets that incc can read, and the names of their architectures in a triple."""
_ARCHITECTURES = {"x86": r"i[3-9]86|x86_64h?|amd64", "aarch64": r"aarch64|arm64"}
"""The names of architectures in triples, by incc's name of the instruction set."""
_OTHERS = (
    r"aarch64_be|aarch64_32|arm64_32|amdgcn|arm|avr|bpf|csky|hexagon|lanai|loongarch|m68k|mips|msp430|nvptx|powerpc|ppc|r600|riscv|s390x|"
    r"systemz|sparc|thumb|ve\b|wasm|xcore|xtensa"
)


class TargetError(Exception):
    """A target that does not exist, or a `foreign` one, whose code incc cannot read."""

    def __init__(self, message: str, foreign: bool) -> None:
        super().__init__(message)
        self.foreign = foreign


class McaTarget(msgspec.Struct, frozen=True):
    """The target of the analysis."""

    triple: str
    """As it was given, or the default."""
    march: str
    """The architecture in the triple."""
    narrow: bool
    """The target has 32 bits."""
    isa: str = "x86"
    """incc's name of the instruction set."""

    @property
    def generic(self) -> str:
        """The core that LLVM's processor `generic` has the scheduling model of."""
        return "generic" if self.isa == "x86" else level("generic", self.isa)[0]


def target(march: str, mtriple: str) -> McaTarget:
    """Return the target that the two options name. Raises TargetError."""
    triple = mtriple or DEFAULT
    if march:
        if march not in _TARGETS:
            raise _no_target(march, march)
        _, *rest = triple.split("-", 3)
        triple = "-".join([_TARGETS[march], *rest, *[""] * (2 - len(rest))])
    architecture = triple.partition("-")[0]
    for name, architectures in _ARCHITECTURES.items():
        if re.fullmatch(architectures, architecture):
            return McaTarget(triple, architecture, architecture[0] == "i", name)
    raise _no_target(architecture, triple)


def _no_target(architecture: str, written: str) -> TargetError:
    if re.match(_OTHERS, architecture):
        return TargetError(f"cannot read code of LLVM's target {architecture!r}, only of x86, x86-64 and aarch64", True)
    return TargetError(
        f"there is no target {written!r}; use x86-64, x86 or aarch64, or a triple such as x86_64-linux-gnu", False
    )


def narrow(code: MachineCode) -> MachineCode:
    """Return bytes as code of 32-bit mode; objects themselves say which mode they are for."""
    return code if code.blocks is None else replace(code, blocks=[(name, Narrow(each)) for name, each in code.blocks])


def without_slash_markers(text: str, target: McaTarget) -> str:
    """Return the text without markers behind `//` where llvm-mca does not see them.

    Its lexer passes on a comment without its first character. Where comments begin with `//`, in AArch64's ELF, one
    slash is left, and only a marker behind `#` or in `/* */` is one.
    """
    if isa(target.isa).syntax.comments[0] != "//" or re.search("apple|darwin|macos|ios|windows", target.triple):
        return text
    return re.sub(r"//([ \t]*LLVM-MCA-)", r"///\1", text)


def narrow_text(text: str) -> str:
    """Return an assembly text as one for a target of 32 bits. Its lines keep their numbers."""
    return NARROW_TARGET + text


def written_out(text: str, narrow: bool, intel: bool, trusted: bool) -> str:
    """Return the text with macros and repetitions written out, "" where LLVM refuses it.

    `narrow`: the text is for 32-bit mode; `intel`: it begins in Intel's syntax; `trusted`: it may read files.

    Raises DecodeError if LLVM was stopped.
    """
    from incc.frontends.x86.written_out import written_out as written

    return written(text, "i686-unknown-linux-gnu" if narrow else "", intel, trusted)


def notes(mattr: Sequence[str], ignored: Sequence[str], isa: str) -> list[str]:
    """Return notes on unknown features, and on options that have no effect on the analysis.

    Args:
        mattr: the values of -mattr.
        ignored: the options without effect, as they are written.
        isa: the instruction set, whose features are known.
    """
    names = [name.strip().lower() for name in mattr if name.strip()]
    signed = [name if name[0] in "+-" else f"+{name}" for name in names if name.lstrip("+-") != "help"]
    if not signed and not ignored:
        return []
    from incc.driver.llvm_mca.names import features

    existing = features(isa)
    lines = [f"unknown feature {name!r} is ignored" for name in signed if name[1:] not in existing]
    disabled = ",".join(name for name in signed if name[0] == "-" and name[1:] in existing)
    if disabled:
        lines.append(f"-mattr={disabled} has no effect: incc analyses every instruction")
    return lines + [f"{name} has no effect" for name in ignored]
