"""What -mtriple, -march and -mattr name, as LLVM reads them: the target, and features that there are not."""

from __future__ import annotations

from incc.frontends import regex as re
from incc.frontends.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.driver.machine_code import Code

DEFAULT = "x86_64-pc-linux-gnu"

_TARGETS = {"x86": "i386", "x86-64": "x86_64"}
"""LLVM's targets that there is a reader for, and how their architectures are called in a triple."""

_ARCHITECTURES = r"i[3-9]86|x86_64h?|amd64"
_OTHERS = (
    r"aarch64|amdgcn|arm|avr|bpf|csky|hexagon|lanai|loongarch|m68k|mips|msp430|nvptx|powerpc|ppc|r600|riscv|s390x|"
    r"systemz|sparc|thumb|ve\b|wasm|xcore|xtensa"
)


class TargetError(Exception):
    """There is no such target, or for code of a `foreign` one no reader; the message is to be printed as it is.

    `why`: the same in words of incc's own.
    """

    def __init__(self, message: str, why: str, foreign: bool = False) -> None:
        super().__init__(message)
        self.why = why
        self.foreign = foreign


class Target(NamedTuple):
    """The triple as it was given or is the default, and the architecture in it. `narrow`: one of 32 bits."""

    triple: str
    march: str
    narrow: bool

    @property
    def normal(self) -> str:
        """The triple as messages have it."""
        return "-".join(part or "unknown" for part in self.triple.split("-"))


def target(march: str, mtriple: str, program: str) -> Target:
    """The target that is named. Raises TargetError."""
    triple = mtriple or DEFAULT
    if march:
        if march not in _TARGETS:
            raise _no_target(march, f"{program}: invalid target '{march}'.\n", f"there is no target {march!r}")
        _, *rest = triple.split("-", 3)
        triple = "-".join([_TARGETS[march], *rest, *[""] * (2 - len(rest))])
    architecture = triple.partition("-")[0]
    if architecture != "x86_64" and not re.fullmatch(_ARCHITECTURES, architecture):
        unknown = f"{program}: unable to get target for '{triple}', see --version and --triple."
        raise _no_target(architecture, unknown, f"there is no target {triple!r}, as x86_64-linux-gnu is one")
    return Target(triple, architecture, architecture[0] == "i")


def narrow(code: Code) -> Code:
    """Bytes as code of 32-bit mode; objects say themselves what they are for."""
    from incc.frontends.x86.iced import Narrow

    return code if code.blocks is None else code._replace(blocks=[(name, Narrow(each)) for name, each in code.blocks])


def _no_target(name: str, message: str, why: str) -> TargetError:
    """What is wrong with the name of an architecture: of one that LLVM has, that there is no reader for it."""
    if re.match(_OTHERS, name):
        why = f"there is no reader for code of LLVM's target '{name}' here, only for those of x86"
        return TargetError(f"error: {why}\n", why, foreign=True)
    return TargetError(message, why)


def written_out(text: str, narrow: bool, intel: bool) -> str:
    """The text with what macros and repetitions make, "" where LLVM does not say. `narrow`: it is for 32-bit mode;
    `intel`: it begins in Intel's syntax. Raises DecodeError where LLVM was stopped."""
    from incc.frontends.x86.written_out import written_out as written

    return written(text, "i686-unknown-linux-gnu" if narrow else "", intel)


def features(named: Sequence[str]) -> tuple[list[str], list[str]]:
    """Of the features that -mattr names those that LLVM does not know, with their signs, and those that are switched
    off, which changes nothing: what cannot be run is analysed as well."""
    from incc.driver.llvm_mca.names import FEATURES

    known = {line.partition("\t")[0] for line in FEATURES.strip().split("\n")}
    signed = [name if name[0] in "+-" else f"+{name}" for name in (n.strip().lower() for n in named) if name]
    asked = [name for name in signed if name[1:] != "help"]
    return [n for n in asked if n[1:] not in known], [n for n in asked if n[0] == "-" and n[1:] in known]
