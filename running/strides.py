"""The strides that a loop had in a program: values of registers that samples noted at its entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from msgspec.structs import replace

from incc.core.analysis import KernelResult, analyze_kernel
from incc.core.dataflow import moving_addresses
from incc.core.elements import Elements
from incc.report.parts.accesses import access_notes, access_patterns
from incc.running.profile import LoopSample


def with_strides(result: KernelResult, samples: Sequence[LoopSample]) -> tuple[KernelResult, str]:
    """Return the analysis of a loop with the most frequent steps of its accesses, and a sentence if others occurred.

    Steps that the code alone tells stay as they are, and so do those in registers that no sample noted.
    """
    steps = [each.step for each in moving_addresses(result.kernel) if each.step]
    roots = sorted({unknown.name for step in steps for unknown in step.terms})
    seen = Counter(
        tuple((root, _signed(sample.values[root])) for root in roots if root in sample.values) for sample in samples
    )
    if not seen:
        return result, ""
    ((values, count),) = seen.most_common(1)
    if not values:
        return result, ""
    settings = replace(result.settings, let=values, what_ifs=False, waits=False, timeline_iterations=0)
    others = f"{count} of {len(samples)} samples have these strides." if count < len(samples) else ""
    return analyze_kernel(result.kernel, result.model, settings), others


def seen_accesses(result: KernelResult, elements: float | None) -> list[str]:
    """Return sentences on the accesses of a loop by which it does not use all bytes that it passes.

    Args:
        result: its analysis with the strides of samples.
        elements: the elements per iteration.
    """
    patterns = access_patterns(result, None if elements is None else Elements(Fraction(elements), ""))
    return [f"{note}." for note in access_notes(result.kernel, patterns)]


def _signed(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
