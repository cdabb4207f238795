"""Rules on the front end: code placement, and loop overhead."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from incc.core.dataflow import COUNTED, dataflow
from incc.report import types as t
from incc.report import wording
from incc.report.hints.advice import advise
from incc.report.hints.common import WORTH, bound_without, calls, counting, hint, inner_branches, speedup, steps
from incc.report.hints.context import HintContext
from incc.report.verdict import chain_instructions

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult

# The least slowdown relative to the fastest address that is reported.
_PLACE_MATTERS = 1.05


def code_placement(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise to align a loop whose speed depends on its address.

    Fetch, decoders and µop cache work on aligned blocks of code, and a section's address is unknown before linking.
    Each address is simulated, and so is the aligned loop.
    """
    remedy = advise("align-loops", context.build) if facts.kernel.is_loop else None
    if facts.settings.for_advice and remedy is None:
        return None
    at = dict(facts.cycles_at)
    if not at:
        return None
    unit, aligned = facts.kernel.alignment_unit, at[0]
    possible = [cycles for place, cycles in at.items() if place % unit == facts.kernel.alignment]
    least, most = min(possible), max(possible)
    if most < _PLACE_MATTERS * min(least, aligned):
        return None
    taken = f"{wording.cycles(least)} per iteration at this alignment"
    if most > least:
        taken = f"{wording.number(least)} to {wording.cycles(most)} per iteration, depending on the code's alignment"
    advice = remedy if aligned <= WORTH * sum(possible) / len(possible) else None
    if not advice and most < _PLACE_MATTERS * least:
        return None  # the linker has no choice, so there is no remedy
    return hint(
        "code-placement",
        f"{taken}: the front end reads code in aligned blocks",
        {"cycles_at": {str(place): float(cycles) for place, cycles in at.items()}, "known_modulo": unit},
        advice,
        clause=f" for {wording.cycles(aligned)}" if advice else "",
        gain=sum(possible) / len(possible) / aligned if advice else None,
    )


_MOST_UNROLLED, _MOST_COPIES = 80, 8
"""The instructions and the copies up to which gcc unrolls a loop (its parameters max-average-unrolled-insns and
max-unroll-times)."""


def loop_overhead(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise to unroll if the front end limits a small loop with much counting and branching.

    gcc unrolls only loops whose iterations are known at their start.
    """
    kernel, bound, bounds = facts.kernel, facts.bound, facts.bounds
    advice = advise("unroll", context.build)
    if advice is None or not kernel.is_loop or "front_end" not in facts.limits or facts.unknown:
        return None
    copies = min(_MOST_COPIES, _MOST_UNROLLED // len(kernel.instructions))
    copies = 1 << copies.bit_length() - 1 if copies else 0  # gcc takes powers of two
    if copies < 2 or calls(kernel) or inner_branches(kernel):
        return None
    if dataflow(kernel).conditions.get(len(kernel.instructions) - 1) != COUNTED:
        return None
    overhead = counting(kernel)
    saved = sum(bound.issue_slots[i] for i in overhead)
    slots = sum(bound.issue_slots)
    # Each copy computes an index that is scaled; in other addresses its distance is a displacement.
    moved = {root for root, step in steps(kernel).items() if step}
    accesses = [access for instruction in kernel.instructions for access in instruction.memory]
    indices = {access.index.root for access in accesses if access.index is not None and access.scale > 1} & moved
    # Counting is a dependency chain too, which unrolling shortens as well.
    chains = [
        chain.cycles_per_iteration
        for chain in facts.analysis.chains
        if not set(chain_instructions(chain)) <= set(overhead)
    ]
    issued = Fraction(copies * slots - (copies - 1) * (saved - len(indices)), copies * bound.issue_width)
    # The port of the jump gains by the same factor.
    least = max(bound_without(facts, overhead), bounds.divider, issued, *chains)
    if least > WORTH * facts.cycles:
        return None
    return hint(
        "loop-overhead",
        f"{saved} of the {wording.counted(slots, 'µop')} that limit the loop only count and jump "
        f"({wording.places(kernel, overhead)})",
        {"instructions": overhead, "issue_slots": saved, "bound_unrolled": float(least)},
        advice,
        "unroll the loop",
        " to save most of them",
        gain=speedup(facts, least),
    )
