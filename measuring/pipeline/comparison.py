"""The probes of a core's pipeline, and the comparison of their findings with a model's parameters.

Each probe has a file of its kind (`window.py`, `front_end.py`, `memory.py`). Its findings are compared with a model of
the core, or of its nearest relative. If they agree, the model's value stays, since it may be exact where measuring is
not. If they differ, in a second pass as well, they replace it. If nothing could be measured, the model's
value stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from incc.measuring.pipeline import front_end as probe_front
from incc.measuring.pipeline import memory as probe_memory
from incc.measuring.pipeline import window as probe_window
from incc.measuring.pipeline.probing import Finding, ProbeBench, ProbeFailure, unknown
from incc.models.model import MachineModel

Probe = Callable[[ProbeBench], list[Finding]]

PROBES: tuple[Probe, ...] = (*probe_front.PROBES, *probe_memory.PROBES, *probe_window.PROBES)

_SPREAD = 0.08
"""Relative spread of the figures that a finding rests on from which on it does not repeat."""


def probe(bench: ProbeBench, probes: tuple[Probe, ...] = PROBES) -> Iterator[tuple[str, list[Finding]]]:
    """Yield each probe's name and its findings, one after the other."""
    tries = bench.tries
    for one in probes:
        bench.tries, bench.worst = tries, 0.0
        try:
            findings = one(bench)
        except ProbeFailure as e:
            findings = [unknown(f"note:{one.__name__.replace('_', ' ')}", str(e))]
        if bench.worst > _SPREAD:
            findings = [replace(f, repeats=False) for f in findings]
        yield one.__name__, findings


Verdict = Literal["agrees", "differs", "unsure", "against", "unknown", "note"]


class ComparedFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A finding and the model's value."""

    finding: Finding
    known: Any
    """The model's value; None if it does not have the parameter."""
    verdict: Verdict
    """The outcome of the comparison; see `compare`."""
    probe: str = ""
    """The probe that made the finding."""


def compare(findings: list[Finding], model: MachineModel, name: str = "") -> list[ComparedFinding]:
    """Compare a probe's findings with a model.

    "unsure": it differs, but the figures do not repeat; "note": no parameter is about it. ("against" is set later, on
    differences that measured loops contradict.)
    """
    compared = []
    for finding in findings:
        expected = known_of(finding.name, model)
        if finding.value is None:
            verdict: Verdict = "unknown"
        elif expected is None:
            verdict = "note"
        elif finding.agrees(expected):
            verdict = "agrees"
        else:
            verdict = "differs" if finding.repeats else "unsure"
        compared.append(ComparedFinding(finding=finding, known=expected, verdict=verdict, probe=name))
    return compared


def confirmed(
    bench: ProbeBench, compared: list[ComparedFinding], model: MachineModel, probes: tuple[Probe, ...] = PROBES
) -> list[ComparedFinding]:
    """Repeat probes whose findings differ, and keep only differences that repeat.

    `bench` must have no figures of the first pass. A probe without differences is not run again.
    """
    names = {c.finding.name for c in compared if c.verdict == "differs"}
    if not names:
        return compared
    again: dict[str, ComparedFinding] = {}
    for one in probes:
        if one.__name__ in {c.probe for c in compared if c.finding.name in names}:
            for _, findings in probe(bench, (one,)):
                again |= {c.finding.name: c for c in compare(findings, model, one.__name__)}
    return [
        replace(c, verdict="unsure") if c.finding.name in names and not _is_same(c, again.get(c.finding.name)) else c
        for c in compared
    ]


def _is_same(first: ComparedFinding, second: ComparedFinding | None) -> bool:
    if second is None or second.verdict != "differs" or second.finding.value is None:
        return False
    return first.finding.agrees(second.finding.value) or second.finding.agrees(first.finding.value)


# --- values in models -------------------------------------------------------------------------------------------------

_FUSING = {
    name: f"{name.upper()}_RM64{'' if name in ('inc', 'dec') else '_R64'}/r"
    for name in ["add", "sub", "cmp", "and", "test", "or", "xor", "inc", "dec"]
}


def known_of(name: str, model: MachineModel) -> Any:
    """Return the model's value of a finding's name; None if it is no parameter of the model."""
    parameter, _, key = name.partition(".")
    if parameter == "macro_fusion":
        operation, _, jump = key.partition(".")
        return jump in jumps_of(operation, model) if jump else None
    value = model.parameters.get(parameter)
    if parameter == "rs" and model.parameters.get("schedulers"):
        return None  # the measured one is one of several
    if value is None or not key:
        # A table confirms a parameter by its contents.
        return bool(value) if hasattr(value, "items") else value
    return value.get(key) if hasattr(value, "get") else None


def fusion_class(operation: str, model: MachineModel) -> str:
    """Return the macro-fusion class of an instruction without memory operand, "" without one."""
    form = model.lookup(_FUSING[operation], frozenset())
    return "" if form is None else form.fusion


def jumps_of(operation: str, model: MachineModel) -> tuple[str, ...]:
    name = fusion_class(operation, model)
    return model.macro_fusion.get(name, ()) if name else ()


def changed_parameters(compared: list[ComparedFinding], model: MachineModel) -> dict[str, Any]:
    """Return the parameters, as whole tables, that make a model agree with the findings; without macro-fusion."""
    changes: dict[str, Any] = {}
    for one in compared:
        parameter, _, key = one.finding.name.partition(".")
        if one.verdict != "differs" or parameter == "macro_fusion":
            continue
        now = changes.get(parameter, model.parameters[parameter])
        if key:
            changes[parameter] = {**now, key: one.finding.value}
        elif not hasattr(now, "items"):
            changes[parameter] = one.finding.value
        elif one.known:
            changes[parameter] = {}
        else:
            # The parts are findings of their own, with comparisons of their own.
            changes[parameter] = {
                c.finding.name.partition(".")[2]: c.finding.value
                for c in compared
                if c.finding.name.startswith(f"{parameter}.") and c.finding.value is not None
            }
    return changes


def changed_fusion(
    compared: list[ComparedFinding], model: MachineModel
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return macro-fusion classes with other jumps than the model's, and messages on findings that fit none."""
    # The jumps that are wrong, by class and instruction.
    wrong: dict[str, dict[str, set[str]]] = {}
    strange = []
    for c in compared:
        if not c.finding.name.startswith("macro_fusion."):
            continue
        _, operation, jump = c.finding.name.split(".")
        name = fusion_class(operation, model)
        if name:
            jumps = wrong.setdefault(name, {}).setdefault(operation, set())
            jumps.update([jump] if c.verdict == "differs" else [])
        elif c.verdict == "differs":
            strange.append(f"{operation} fuses with {jump}")
    changes = {}
    for name, by_operation in wrong.items():
        different = [w for w in by_operation.values() if w]
        if different and all(w == different[0] for w in by_operation.values()):
            changes[name] = tuple(sorted(set(model.macro_fusion[name]) ^ different[0]))
        else:
            # A class is one set of jumps, so it cannot describe a property of only some of its instructions.
            strange += [f"{o} differs from {name} with {' '.join(sorted(w))}" for o, w in by_operation.items() if w]
    return changes, strange
