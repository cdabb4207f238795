"""Port sets of forms on a machine, compared with those of its nearest relative.

`ports.study` requests throughputs. Besides the requested forms it needs the relative's forms that may be blockers, one
or two for each set of ports and one that takes no port, and machine code to time; this module provides both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from incc.measuring.forms.target import MeasuredCore
from incc.measuring.harness import Machine, MachineLoop, Measurement
from incc.measuring.ports import loops as port_loops
from incc.measuring.ports.experiments import Copies
from incc.measuring.ports.study import Findings, FormPorts, Relative, Uops, study
from incc.models.forms.shapes import by_key, features
from incc.models.model import Form, MachineModel
from incc.models.notation import split_key

_BLOCKERS = 2
"""Forms for each set of ports of the relative."""
_STEADY = 0.02
"""A figure with a larger spread is measured again."""
_TRIES = 3
_NO_PORT = ("NOP_RM64/r", "NOP_RM32/r", "NOPD", "NOP_RM16/r")
_CONTENT = 0x3FF0000000000000
_ADDRESS = 0x100000


def why_not(key: str, there: frozenset[str], relative: MachineModel) -> str:
    """Return why time cannot tell the port set of a form, or "" if it may. `there` has the processor's features."""
    form, conditions = split_key(key)
    if conditions:
        return f"{key}: forms with conditions have no independent copies"
    try:
        shape, _ = port_loops.checked(form)
        port_loops.loop_of({form: 1}, counted=True)
    except port_loops.NotIndependent as e:
        return str(e)
    if not features(shape) <= there:
        return f"{key}: this processor does not have it"
    if shape.encoding == "LEGACY" and "XMM" in shape.operands:
        return f"{key}: legacy SSE keeps upper halves, which blockers use; the form with VEX tells more"
    if "ZMM" in shape.operands and relative.parameters["wide_vectors"]:
        return f"{key}: vectors of 512 bits close ports to others while they are in flight"
    inherited = relative.lookup(form, frozenset())
    if inherited is not None and (inherited.divider > 30 or inherited.attributes.get("uops_ms")):
        return f"{key}: too slow for ports to be what it waits for"
    return ""


def blockers(core: MeasuredCore, relative: MachineModel) -> list[str]:
    """Return forms for each set of ports that the relative has, and one without a port."""
    keys = [key for key in _NO_PORT if key in by_key() and not why_not(key, core.features, relative)][:1]
    for some in core.blockers:
        good = [b.shape.key for b in some if not why_not(b.shape.key, core.features, relative)]
        keys += good[:_BLOCKERS]
    # No form has only one of a store's two µops.
    stores = (k for k in ("VEX_VMOVUPS_XMMM128_XMM/m", "MOV_RM64_R64/m") if relative.lookup(k, frozenset()))
    keys += [k for k in stores if not why_not(k, core.features, relative)][:1]
    # Forms that wait for nothing make better blockers.
    return sorted(dict.fromkeys(keys), key=port_loops.waits)


def oracle(machine: Machine, goes_on: Callable[[], bool] = lambda: True) -> Callable[[Copies], float | None]:
    """Return a function that times mixtures on a machine.

    `goes_on` is called with each, and ends the study by returning False.
    """

    def measure(copies: Copies) -> float | None:
        if not goes_on():
            raise Ended
        try:
            code, times = port_loops.loop_of(copies, counted=True)
        except port_loops.NotIndependent:
            return None
        loop = MachineLoop(code=code, counter=port_loops.COUNTER, registers=(_ADDRESS,) * 16, content=_CONTENT)
        best = None
        for _ in range(_TRIES):
            result = machine.measure(loop)
            if not isinstance(result, Measurement):
                break
            best = result.cycles if best is None else min(best, result.cycles)
            if result.spread <= _STEADY * result.cycles:
                break
        return None if best is None else best / times

    return measure


class Ended(Exception):
    """The time is over; measurements so far are kept."""


def port_cycles_of_a_slot(relative: MachineModel, related: Relative) -> int:
    """Return the most port cycles that one issue slot may account for in a model.

    Two for a load or store and its companion, more if µops keep their port for two cycles.
    """
    most = 2
    for key, usage in related.usages.items():
        form = relative.lookup(key, frozenset())
        if form is not None and form.retire_slots:
            most = max(most, -(-sum(n for _, n in usage) // form.retire_slots))
    return min(4, most)


def find(
    forms: Iterable[str],
    core: MeasuredCore,
    relative: MachineModel,
    ask: Callable[[Copies], float | None],
    path: str,
    ports: int = 0,
    issue_width: int = 0,
) -> Findings:
    """Study the port sets of forms, with blockers from the relative, whose own sets are studied as well.

    `ports` and `issue_width` are the core's, 0 for the relative's. Raises ValueError, OSError and Ended.
    """
    wanted = list(dict.fromkeys([*blockers(core, relative), *forms]))
    related = Relative.of(relative, wanted)
    return study(
        wanted,
        ask,
        related,
        ports=ports or len(relative.ports),
        issue_width=issue_width or int(relative.parameters["issue_width"]),
        fused=port_cycles_of_a_slot(relative, related),
        path=path,
    )


def of_relative(form: Form) -> Uops:
    """Return a form's µops as `FormPorts` has them."""
    return tuple(sorted((ports, n * form.attributes.get("hold", 1)) for ports, n in form.uops))


def uops_text(uops: Uops) -> str:
    """Return µops as models write them: "2*p0,p1 + p5"."""
    return " + ".join(f"{n}*{ports}" if n > 1 else ports for ports, n in uops) or "none"


def surely_different(inferred: FormPorts, form: Form | None, ports: Sequence[str]) -> bool:
    """Return True if a model should have other µops than its relative.

    That is so if no other explanation of the figures has as few µops, and all ports have names in the relative.
    """
    if inferred.how != "measured" or not inferred.uops:
        return False
    if any(p not in ports for names, _ in inferred.uops for p in names.split(",")):
        return False
    if form is None:
        return True
    # One that keeps its port for two cycles looks like two µops.
    return not form.attributes.get("hold") and sorted(inferred.uops) != sorted(of_relative(form))
