"""Rules on incomplete analyses, and on code that is not worth analysing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.report import types as t
from incc.report import wording
from incc.report.hints.advice import advise
from incc.report.hints.common import hint

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult
    from incc.report.hints.advice import Build


def unknown_instructions(facts: KernelResult, build: Build) -> t.Hint | None:
    """Warn that instructions that the model lacks make every figure a lower bound."""
    unknown = list(facts.unknown)
    if not unknown:
        return None
    verb = "is" if len(unknown) == 1 else "are"
    where = wording.places(facts.kernel, unknown)
    return t.Hint(
        rule="unknown-instructions",
        text=f"{wording.counted(len(unknown), 'instruction')} {verb} not in the model ({where}); totals exclude "
        f"{'it' if len(unknown) == 1 else 'them'}.",
        evidence={"instructions": unknown},
        flags=[],
        source_change="",
    )


def refused_statements(facts: KernelResult, build: Build) -> t.Hint | None:
    """Warn that the analysis lacks statements that could not be decoded."""
    refused = facts.kernel.refused
    if not refused:
        return None
    lines = ", ".join(str(statement.line) for statement in refused)
    noun, them = ("line", "it") if len(refused) == 1 else ("lines", "them")
    return t.Hint(
        rule="refused-statements",
        text=f"{wording.counted(len(refused), 'statement')} could not be decoded "
        f"({noun} {lines}); totals exclude {them}.",
        evidence={"lines": [statement.line for statement in refused]},
        flags=[],
        source_change="",
    )


def not_optimised(facts: KernelResult, build: Build) -> t.Hint | None:
    """Advise to optimise; for a loop compiled without optimisation this is the only advice."""
    advice = advise("optimise", build)
    if build.optimises or advice is None or not facts.kernel.is_loop:
        return None
    return hint(
        "not-optimised",
        f"the compiler did not optimise: with {advice.text} this is another loop.",
        {"level": build.state["level"]},
        advice,
    )


RULES = (unknown_instructions, refused_statements, not_optimised)
"""The rules that apply regardless of the compiler's options."""
