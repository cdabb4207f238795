"""Hints: advice against a kernel's limit that follows from the data with certainty.

A rule is a function from the facts, and from how the code was compiled, to a hint or None. A hint names the rule, gives
its advice in a sentence, and carries its evidence (instructions by index, and figures) and its remedy: compiler flags,
exactly as on a command line, and a change to the source. A rule that could be wrong returns None. `advice.py` lists the
effects of flags by compiler; `bench/hints.py` follows the hints and measures the gain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from incc.frontends.isa import isa
from incc.report import types as t
from incc.report import wording
from incc.report.hints import (
    aliasing,
    arithmetic,
    chains,
    completeness,
    front_end,
    levels,
    memory,
    merging,
    reuse,
    vectors,
)
from incc.report.hints.common import WORTH
from incc.report.hints.context import HintContext

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult

    Rule = Callable[[KernelResult, HintContext], t.Hint | None]

RULES: tuple[Rule, ...] = (
    completeness.unknown_instructions,
    completeness.refused_statements,
    completeness.not_optimised,
    chains.sum_chain,
    chains.extremum_chain,
    chains.memory_chain,
    chains.stored_accumulator,
    chains.recurrence,
    merging.old_destination,
    aliasing.failing_check,
    aliasing.invariant_access,
    aliasing.many_arrays,
    memory.store_addresses,
    memory.strided,
    memory.gather,
    memory.distance_of_arrays,
    front_end.code_placement,
    front_end.loop_overhead,
    arithmetic.invariant_divisor,
    arithmetic.integer_division,
    arithmetic.conversions,
    arithmetic.math_errno,
    arithmetic.math_call,
    arithmetic.extremum_call,
    arithmetic.complex_range,
    vectors.scalar_arithmetic,
    vectors.instruction_set,
    vectors.vector_width,
    vectors.short_trips,
    memory.repeated_place,
    reuse.register_blocking,
    levels.non_temporal_stores,
    levels.blocks,
    levels.partly_used_lines,
    levels.prefetch,
)
"""All rules; of hints with the same gain, that of the earlier rule comes first."""


def hints(facts: KernelResult, context: HintContext) -> list[t.Hint]:
    """Return the hints of all rules that apply: first those on missing figures, then by gain, unknown gains last."""
    rules = RULES if context.build.optimises else completeness.RULES
    if context.added:
        rules = completeness.MISSING
    applying = [hint for rule in rules if (hint := rule(facts, context)) is not None]
    # A more specific hint already explains the missing vectorisation.
    if any(hint.rule in _KEEP_SCALAR for hint in applying):
        applying = [hint for hint in applying if hint.rule != "scalar-arithmetic"]
    worth = [hint for hint in applying if hint.gain is None or hint.gain >= _LEAST_GAIN]
    ranked = sorted(worth, key=lambda hint: (hint.rule not in _FIRST, -(hint.gain or 0)))
    measured = isa(facts.kernel.isa).advice_measured
    return [_with_gain(hint, context.trips, measured) for hint in ranked]


def _with_gain(hint: t.Hint, trips: int, measured: bool) -> t.Hint:
    """Return a hint whose text ends with its gain, for the iterations of the loop if they are known."""
    unmeasured = "" if measured or not (hint.gain or hint.flags or hint.source_change) else " (gain not measured)"
    if hint.gain is None:
        return replace(hint, text=f"{hint.text.removesuffix('.')}{unmeasured}.") if unmeasured else hint
    given = f" with {wording.counted(trips, 'iteration')}" if trips and hint.rule in _BY_TRIPS else ""
    flags = hint.flags or "compile with" in hint.source_change
    most = "up to " if flags and hint.source_change else ""
    times = f"{hint.gain:.0f}" if hint.gain >= 10 else wording.number(round(hint.gain, 1))
    basis = unmeasured or (" (predicted only)" if hint.rule in _PREDICTED_ONLY else "")
    return replace(hint, text=f"{hint.text.removesuffix('.')}: {most}{times} times as fast{given}{basis}.")


_BY_TRIPS = frozenset(
    ("sum-chain", "extremum-chain", "stored-accumulator", "scalar-arithmetic", "math-errno", "short-trips")
)
"""Hints whose gain depends on the iterations of the loop."""

_PREDICTED_ONLY = frozenset(("code-placement", "loop-overhead", "indexed-store-address", "distance-of-arrays"))
"""Hints that apply only to Intel's cores, on which `bench/hints.py` could not measure their gain yet."""

_LEAST_GAIN = float(1 / WORTH)
"""The least predicted gain of a hint that is given."""

_FIRST = frozenset(("unknown-instructions", "refused-statements", "not-optimised"))
"""Hints without which figures and other hints mean little."""

_KEEP_SCALAR = frozenset(
    (
        "sum-chain",
        "extremum-chain",
        "complex-range",
        "invariant-access",
        "many-arrays",
        "recurrence",
        "math-errno",
        "math-call",
        "extremum-call",
        "stored-accumulator",
        "memory-chain",
    )
)
