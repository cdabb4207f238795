"""Hints: advice against a kernel's limit that follows from the data with certainty.

A rule is a function from the facts, and from how the code was compiled, to a hint or None. A hint names the rule, gives
its advice in a sentence, and carries its evidence (instructions by index, and figures) and its remedy: compiler flags,
exactly as on a command line, and a change to the source. A rule that could be wrong returns None. `advice.py` lists the
effects of flags by compiler; `bench/hints.py` follows the hints and measures the gain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from incc.core.ranges import KernelRange
from incc.report import types as t
from incc.report.hints import arithmetic, chains, completeness, front_end, memory, vectors
from incc.report.hints.advice import CompilerCall

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult

    Rule = Callable[[KernelResult, CompilerCall], t.Hint | None]

RULES: tuple[Rule, ...] = (
    completeness.unknown_instructions,
    completeness.refused_statements,
    completeness.not_optimised,
    chains.sum_chain,
    chains.extremum_chain,
    chains.memory_chain,
    chains.stored_accumulator,
    chains.recurrence,
    memory.store_addresses,
    memory.strided,
    memory.gather,
    front_end.code_placement,
    front_end.loop_overhead,
    arithmetic.invariant_divisor,
    arithmetic.integer_division,
    arithmetic.conversions,
    arithmetic.math_errno,
    arithmetic.math_call,
    vectors.scalar_arithmetic,
    vectors.instruction_set,
    vectors.vector_width,
)
"""In the order in which a report has their hints."""


def hints(facts: KernelResult, build: CompilerCall, spread: KernelRange | None = None) -> list[t.Hint]:
    """Return the hints of all applicable rules in a fixed order; those that follow from the range come last."""
    rules = RULES if build.optimises else completeness.RULES
    hints_of_rules = [hint for rule in rules if (hint := rule(facts, build)) is not None]
    # A more specific hint already explains the missing vectorisation.
    if any(hint.rule in _KEEP_SCALAR for hint in hints_of_rules):
        hints_of_rules = [hint for hint in hints_of_rules if hint.rule != "scalar-arithmetic"]
    if build.optimises and (repeated := memory.repeated_place(facts, spread)) is not None:
        hints_of_rules.append(repeated)
    return hints_of_rules


_KEEP_SCALAR = frozenset(
    ("sum-chain", "extremum-chain", "recurrence", "math-errno", "math-call", "stored-accumulator", "memory-chain")
)
