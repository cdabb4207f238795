"""The choice of a measured model's figures: in the last step, each change is tested on measured loops.

A figure can be right and still make predictions worse, because a parameter may cover several effects: a store that
is forwarded in 5 cycles after arithmetic and in 7 otherwise cannot be described by one number. Loops decide only about
changes that concern them: a change that concerns no loop stays, and so does one that makes no difference beyond the
uncertainty of measuring. Nothing is fitted: a change is used as measured, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from incc.core.analysis import KernelSettings, analyze_kernel
from incc.frontends.isa import isa
from incc.measuring.host.model import Case
from incc.models.model import MachineModel

WORSE = 0.01
"""The increase of the mean error of a change's loops from which on the change is left out.

It is more than the uncertainty of measuring them."""
_CONCERNED = 0.001
"""A prediction that differs by less is the same."""


class HostChange(msgspec.Struct, frozen=True):
    """A parameter or a form of the new model; one of the two is empty."""

    parameter: str = ""
    form: str = ""

    @property
    def name(self) -> str:
        return self.parameter or self.form


class RejectedChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change that measured loops contradict."""

    change: HostChange
    loops: int
    """The number of loops that the change concerns."""
    with_it: float
    """Their mean error with the change."""
    without: float
    """Their mean error without it."""


def contradicted(
    cases: Sequence[Case],
    cycles: Sequence[float],
    before: MachineModel,
    after: MachineModel,
    parameters: Iterable[str],
    forms: Iterable[str],
) -> list[RejectedChange]:
    """Return the changes that make the prediction of measured loops worse, the worst first.

    Each is tested without those before it. `cycles` are the measured cycles of the same loops.
    """
    code = isa(before.isa)
    kernels = [code.decode_bytes(case.loop.code, text=False) for case in cases]
    having = [{instruction.form for instruction in kernel.instructions} for kernel in kernels]
    changes = [HostChange(parameter=p) for p in parameters]
    changes += [HostChange(form=f) for f in forms if any(f in some for some in having)]

    def predicted(number: int, model: MachineModel) -> float:
        return float(analyze_kernel(kernels[number], model, KernelSettings(what_ifs=False)).cycles)

    def error(number: int, predicted: float) -> float:
        return abs(predicted - cycles[number]) / cycles[number]

    left_out: list[RejectedChange] = []
    now = {n: predicted(n, after) for n in range(len(cases))}
    while changes:
        worst: tuple[float, RejectedChange, Mapping[int, float]] | None = None
        for change in changes:
            model = _without([*(one.change for one in left_out), change], before, after)
            concerned = [n for n, some in enumerate(having) if not change.form or change.form in some]
            other = {n: predicted(n, model) for n in concerned}
            other = {n: c for n, c in other.items() if abs(c - now[n]) > _CONCERNED * now[n]}
            if not other:
                continue
            with_it = sum(error(n, now[n]) for n in other) / len(other)
            without = sum(error(n, c) for n, c in other.items()) / len(other)
            # Changes that make many loops worse go before those that affect few.
            total = len(other) * (with_it - without)
            if with_it - without > WORSE and (worst is None or total > worst[0]):
                worst = total, RejectedChange(change=change, loops=len(other), with_it=with_it, without=without), other
        if worst is None:
            break
        left_out.append(worst[1])
        now.update(worst[2])
        changes.remove(worst[1].change)
    return left_out


def _without(changes: Iterable[HostChange], before: MachineModel, after: MachineModel) -> MachineModel:
    """Return the new model with some of the old one's figures."""
    changes = list(changes)
    parameters = {c.parameter: before.stated_parameters.get(c.parameter) for c in changes if c.parameter}
    model = after.with_forms_of(before, [c.form for c in changes if c.form])
    inherited = {p: dict(v) if isinstance(v, Mapping) else v for p, v in before.parameters.items()}
    return model.with_parameters({p: inherited[p] if v is None else v for p, v in parameters.items()})
