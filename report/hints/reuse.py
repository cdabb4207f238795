"""The rule on values that a loop loads again each time it is entered."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from incc.core.dataflow import Access, dataflow
from incc.frontends.kernel import KernelCode
from incc.models.binding.bound import UOP_LOAD
from incc.models.throughput import port_bound
from incc.report import types as t
from incc.report import wording
from incc.report.hints.chains import sum_chain
from incc.report.hints.common import calls, hint, inner_branches
from incc.report.hints.context import HintContext
from incc.report.hints.estimates import access_step

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult

BLOCK = 4
"""The iterations of the loop around that are advised to be done at once."""


def register_blocking(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise several iterations of the loop around at once, if each loads or stores the same elements.

    A value that is loaded once then serves several results, whose sums do not wait for each other, and a result is
    stored once after several additions.
    """
    kernel, limits = facts.kernel, facts.limits
    if calls(kernel) or inner_branches(kernel) or not kernel.restarts:
        return None
    adds = "loop_carried" in limits and sum_chain(facts, context) is not None
    if limits and not adds and not {"port", "front_end"} & set(limits):
        return None
    flow = dataflow(kernel)
    moving = [access for access in (*flow.loads, *flow.stores) if access_step(access, kernel)]
    again = [access for access in moving if _repeats(kernel, access)]
    loads = sorted({access.instruction for access in again if access in flow.loads})
    stores = sorted({access.instruction for access in again if access in flow.stores})
    # Elements that only are copied, or that no other elements meet, gain nothing.
    if not loads or len(again) == len(moving) or (flow.stores and not stores):
        return None
    now, after = _bound(facts, 1, ()), _bound(facts, BLOCK, (*loads, *stores)) / BLOCK
    if adds:
        now, after = facts.cycles, max(after, facts.bounds.loop_carried / BLOCK)
    where = wording.places(kernel, [*loads, *stores])
    if stores:
        text = f"the loop loads and stores the same elements in each iteration of the loop around ({where})"
        change = (
            f"do {BLOCK} iterations of the loop around at once, so that each element is loaded and stored once for them"
        )
    else:
        text = f"the loop loads the same values in each iteration of the loop around ({where})"
        overlaps = "their additions overlap and " if adds else ""
        change = f"compute {BLOCK} results at once, so that {overlaps}each loaded value serves all of them"
    return hint("register-blocking", text, {"loads": loads, "stores": stores}, None, change, gain=now / after)


def _repeats(kernel: KernelCode, access: Access) -> bool:
    """Return True if an access begins at the same address each time the loop around enters the loop."""
    return all(symbol.name.startswith("@") or symbol.name in kernel.restarts for symbol in access.address.terms)


def _bound(facts: KernelResult, copies: int, once: Sequence[int]) -> Fraction:
    """Return the bound of ports and issue slots of several iterations that share what some instructions move."""
    bound = facts.bound
    uops: list[tuple[int, int]] = []
    slots = 0
    for i, instruction in enumerate(facts.kernel.instructions):
        only_moves = i in once and instruction.arithmetic is None
        slots += bound.issue_slots[i] * (1 if only_moves else copies)
        for u in range(bound.uop_start[i], bound.uop_start[i + 1]):
            moves = only_moves or (i in once and bound.uop_kind[u] == UOP_LOAD)
            uops += [(bound.uop_ports[u], bound.uop_cycles[u])] * (1 if moves else copies)
    return max(Fraction(*port_bound(uops, bound.n_ports)), Fraction(slots, bound.issue_width))
