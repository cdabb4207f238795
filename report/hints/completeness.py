"""Rules on incomplete analyses, and on code that is not worth analysing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.report import types as t
from incc.report import wording
from incc.report.hints.advice import advise
from incc.report.hints.common import hint
from incc.report.hints.context import HintContext

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult


def unknown_instructions(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Warn that every figure is a lower bound, because the model lacks instructions."""
    unknown = list(facts.unknown)
    if not unknown:
        return None
    number, where = wording.counted(len(unknown), "instruction"), wording.places(facts.kernel, unknown)
    return hint(
        "unknown-instructions",
        f"the {facts.model.name} model lacks {number} ({where}), so the totals are lower bounds",
        {"instructions": unknown},
    )


def refused_statements(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Warn that the analysis lacks statements that could not be decoded."""
    refused = facts.kernel.refused
    if not refused:
        return None
    lines = [statement.line for statement in refused]
    return hint(
        "refused-statements",
        f"{wording.counted(len(refused), 'statement')} could not be decoded ({wording.lines_of(facts.kernel, lines)}), "
        "so the totals are lower bounds",
        {"lines": lines},
    )


def not_optimised(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise to optimise; for a loop compiled without optimisation this is the only advice."""
    advice = advise("optimise", context.build)
    if context.build.optimises or advice is None or not facts.kernel.is_loop:
        return None
    return hint(
        "not-optimised",
        "the compiler did not optimise this loop",
        {"level": context.build.state["level"]},
        advice,
    )


MISSING = (unknown_instructions, refused_statements)
"""The rules on missing figures, which apply to loops of any role."""

RULES = (*MISSING, not_optimised)
"""The rules that apply regardless of the compiler's options."""
