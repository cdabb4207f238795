"""What models must know of AArch64's forms (models.instruction_sets.FormRules): the shapes of their operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incc.frontends import regex as re
from incc.frontends.aarch64.forms import split_operands
from incc.models.model import parse_latency

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "AArch64"
# The sources count some µops of stores and of address write-back under other names than the ports that compute.
RESULTS_ARE_COMPUTED = False

_SHAPE = re.compile(
    r"[xwbhsdq]|v\.\d*[bhsdq](\[\])?|z(\.[bhsdq](\[\])?)?|pn?(\.[bhsdq]|/[zm])?(\[\])?|#|label|cond|pattern|prfop|option|sysreg"
    r"|\{[vzp][^{}]*\*\d\}(\[\])?|(lsl|lsr|asr|ror|msl|mul|[us]xt[bhwx])#?|za.*"
)


def findings(form: str, entries: Mapping[tuple[str, ...], Mapping[str, Any]]) -> list[str]:
    """What reading an AArch64 instruction never gives, and latencies that name operands that are not there."""
    mnemonic, _, text = form.partition("/")
    if not re.fullmatch(r"[a-z][a-z0-9]*(\.cond)?", mnemonic):
        return ["is no form that the decoder knows"]
    address = text.find("[x") if "[x" in text else text.find("[z.")
    memory = address >= 0
    shapes = split_operands(text[:address].rstrip(",") if memory else text)
    found = [f"{shape!r} is no shape of an operand" for shape in shapes if not _SHAPE.fullmatch(shape)]
    literal = shapes[-1:] == ["label"] and mnemonic.startswith("ld")
    for fields in entries.values():
        try:
            pairs = parse_latency(fields.get("latency", ""))
        except ValueError:
            continue
        for name in sorted({n for t, s, _ in pairs for n in (t, s)}):
            good = name in ("C", "SPAZO") or (name in ("m", "M", "a") and (memory or literal))
            if not (int(name) < len(shapes) if name.isdigit() else good):
                found.append(f"latency names {name!r}, which is no operand")
    return found


def needs_latency(form: str) -> bool:
    """Never surely: what a form reads and writes is only known from its text."""
    return False


def is_called(form: str, mnemonic: str) -> bool:
    """Whether the mnemonic is the form's."""
    return form.partition("/")[0] == mnemonic.strip().lower()


def mnemonics() -> set[str]:
    """None: only the models know which there are."""
    return set()


def dependences(form: str) -> list[tuple[str, str]]:
    """From all operands but the first to the first."""
    return [("0", str(n)) for n in range(1, len(form.partition("/")[2].split(",")))]
