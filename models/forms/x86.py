"""Rules of x86's forms (models.forms.rules.FormRules), from iced-x86's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from incc.frontends.x86.names import names_of
from incc.models.forms.shapes import by_key, dataflow, example, title
from incc.models.notation import form_key, parse_latency

TITLE = "x86"
HAS_SHAPES = True
RESULTS_ARE_COMPUTED = True


def findings(form: str, entries: Mapping[tuple[str, ...], Mapping[str, Any]]) -> list[str]:
    """Return the errors of a form that the decoder never produces: unknown code, impossible operands, bad latencies."""
    shape = by_key().get(form)
    if shape is None:
        code, _, kind = form.rpartition("/")
        other = f"{code}/{'r' if kind == 'm' else 'm'}"
        return [f"has no /{kind} form, only {other}" if other in by_key() else "is not a form that the decoder knows"]
    problems = []
    flow = dataflow(shape)
    masked = dataflow(shape, mask=True) if shape.info.can_use_op_mask_register else flow
    for conditions, fields in entries.items():
        try:
            pairs = parse_latency(fields.get("latency", ""))
        except ValueError:
            continue
        now = masked if "mask" in conditions else flow
        for name in sorted({n for t, s, _ in pairs for n in (t, s)}):
            if name.isdigit():
                good = int(name) < len(shape.operands)
            elif name in ("m", "M", "a", "k"):
                good = {
                    "m": now.loads or bool({"M", "VSIB"} & set(shape.operands)) or shape.has_memory,
                    "M": now.stores,
                    "a": shape.has_memory,
                    "k": "k" in masked.sources,
                }[name]
            else:
                good = name in ("C", "SPAZO") or name in now.sources or name in now.targets
            if not good:
                problems.append(
                    f"{form_key('', conditions).strip()} latency names {name!r}, which is no operand".strip()
                )
    return problems


def needs_latency(form: str) -> bool:
    """Return True if a form has a source, and a result in a register or flag."""
    shape = by_key().get(form)
    if shape is None:
        return False
    flow = dataflow(shape)
    return bool(flow.sources) and any(t != "M" for t in flow.targets)


def is_called(form: str, mnemonic: str) -> bool:
    """Return True for the form's mnemonic in either syntax, and for the name of iced-x86's code."""
    wanted = mnemonic.strip().lower()
    return wanted in _names().get(form, ()) or form.lower().startswith(wanted + "/")


def spelled(form: str, conditions: Sequence[str] = ()) -> str:
    """Return the form with kinds of operands in Intel's order."""
    shape = by_key().get(form)
    return title(shape, conditions) if shape else form_key(form, conditions)


def encoding(form: str) -> str:
    """Return EVEX for EVEX forms, most of which have a twin with VEX."""
    shape = by_key().get(form)
    return shape.encoding if shape and shape.encoding == "EVEX" else ""


def mnemonics() -> set[str]:
    """Return the mnemonics of Intel's and AT&T's syntax, in lower case."""
    return {name for names in _names().values() for name in names}


@cache
def _names() -> dict[str, frozenset[str]]:
    return {key: names_of(example(shape), shape.operands) | {shape.mnemonic.lower()} for key, shape in by_key().items()}


def dependences(form: str) -> list[tuple[str, str]]:
    """Return the pairs from all sources to all targets."""
    flow = dataflow(by_key()[form])
    return [(t, s) for t in flow.targets for s in flow.sources]
