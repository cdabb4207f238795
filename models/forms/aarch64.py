"""Rules of AArch64's forms (models.forms.rules.FormRules): the shapes of their operands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from incc.frontends.isa import split_operands
from incc.models.notation import form_key, parse_latency

TITLE = "AArch64"
# The sources name other ports than those that compute for some µops of stores and of address write-back.
HAS_SHAPES = False
RESULTS_ARE_COMPUTED = False

_SHAPE = re.compile(
    r"[xwbhsdq]|v\.\d*[bhsdq](\[\])?|z(\.[bhsdq](\[\])?)?|pn?(\.[bhsdq]|/[zm])?(\[\])?|#|label|cond|pattern|prfop|option|sysreg"
    r"|\{[vzp][^{}]*\*\d\}(\[\])?|(lsl|lsr|asr|ror|msl|mul|[us]xt[bhwx])#?|za.*"
)

_FIRST_FAULT = re.compile(r"ld(ff|nf)1\w*|rdffrs?|wrffr|setffr")
"""Instructions with an operand that is not written: the first-fault register, ffr."""


def findings(form: str, entries: Mapping[tuple[str, ...], Mapping[str, Any]]) -> list[str]:
    """Return shapes that the decoder never produces, and latencies that name operands which do not exist."""
    mnemonic, _, text = form.partition("/")
    if not re.fullmatch(r"[a-z][a-z0-9]*(\.cond)?", mnemonic):
        return ["is not a form that the decoder knows"]
    address = text.find("[x") if "[x" in text else text.find("[z.")
    memory = address >= 0
    shapes = split_operands(text[:address].rstrip(",") if memory else text)
    problems = [f"{shape!r} is no shape of an operand" for shape in shapes if not _SHAPE.fullmatch(shape)]
    literal = shapes[-1:] == ["label"] and mnemonic.startswith("ld")
    for fields in entries.values():
        try:
            pairs = parse_latency(fields.get("latency", ""))
        except ValueError:
            continue
        for name in sorted({n for t, s, _ in pairs for n in (t, s)}):
            good = name in ("C", "SPAZO") or (name in ("m", "M", "a") and (memory or literal))
            good |= name == "ffr" and _FIRST_FAULT.fullmatch(mnemonic) is not None
            if not (int(name) < len(shapes) if name.isdigit() else good):
                problems.append(f"latency names {name!r}, which is no operand")
    return problems


def needs_latency(form: str) -> bool:
    """Return False: only an instruction's text determines the registers that it reads and writes."""
    return False


def is_called(form: str, mnemonic: str) -> bool:
    """Return True for the form's mnemonic."""
    return form.partition("/")[0] == mnemonic.strip().lower()


def spelled(form: str, conditions: Sequence[str] = ()) -> str:
    """Return the form with a blank after the mnemonic and the commas."""
    mnemonic, _, operands = form.partition("/")
    return form_key(f"{mnemonic} {', '.join(split_operands(operands))}".rstrip(), conditions)


def encoding(form: str) -> str:
    """Return "": operands determine the encoding."""
    return ""


def mnemonics() -> set[str]:
    """Return no names: only the models know which mnemonics exist."""
    return set()


def dependences(form: str) -> list[tuple[str, str]]:
    """Return the pairs from all operands but the first to the first."""
    return [("0", str(n)) for n in range(1, len(form.partition("/")[2].split(",")))]
