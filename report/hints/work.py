"""The work per iteration of two kernels, and their cycles wherever the linker puts them, as needed to compare them."""

from __future__ import annotations

from incc.frontends.asm.loops import noted_call
from incc.report import types as t

NOTHING = 0.01
"""A smaller part of the cycles gained or lost is nothing: predictions are not that good."""


def work_ratio(before: t.KernelReport, after: t.KernelReport) -> float | None:
    """Return the work of an iteration of `after` relative to `before`; None if unknown.

    It is the ratio of elements if both have them and they are the same; otherwise that of the bytes by which accesses
    advance, or that of their arithmetic if loads and stores confirm it.
    """
    old, new = before.elements, after.elements
    if old and new and old.per_iteration and new.per_iteration:
        elements = new.per_iteration / old.per_iteration
        return _other_elements(before, after, elements) or elements
    # Loops of the same source advance by the same bytes for an element. Loads are less certain, since vectors may load
    # more than they use, or the same several times.
    old_step, new_step = before.memory.step, after.memory.step
    if old_step and new_step:
        return new_step / old_step
    return _by_arithmetic(before, after)


def elements_of(a: float | None, b: float | None, work: float | None) -> tuple[float, float] | None:
    """Return the elements per iteration of two kernels, the second of which does `work` times as much.

    Returns None if both are unknown. The elements of one kernel determine those of the other: in code that moves data
    between lanes they are often not recognised. If one loop was unrolled by hand, they are those of the other one's
    source.
    """
    if not work:
        return (a, b) if a and b else None
    first = max(a or 0.0, b / work if b else 0.0)
    if a and b and abs(first * work / b - 1) < 1e-9 and abs(first / a - 1) < 1e-9:
        return a, b
    return (first, first * work) if first else None


def _other_elements(before: t.KernelReport, after: t.KernelReport, elements: float) -> float | None:
    """Return the ratio of the work if one source loop was unrolled by hand, so that their iterations differ.

    Then steps, operations and bytes agree with each other, but not with the elements. With another layout of the data
    only steps differ, with another type bytes, with another computation operations.
    """
    old_step, new_step = before.memory.step, after.memory.step
    if not old_step or not new_step or new_step / old_step == elements:
        return None
    work = _by_arithmetic(before, after)
    return work if work == new_step / old_step else None


def _by_arithmetic(before: t.KernelReport, after: t.KernelReport) -> float | None:
    """Return the ratio of operations by element if that of bytes is the same; one alone may be chance."""
    if before.memory.unsized_accesses or after.memory.unsized_accesses:
        return None
    old, new = before.arithmetic, after.arithmetic
    moved, moves = before.memory, after.memory
    operations = ((old.flop, new.flop), (old.integer_operations, new.integer_operations))
    transfers = ((moved.bytes_loaded, moves.bytes_loaded), (moved.bytes_stored, moves.bytes_stored))
    done = {second / first for first, second in operations if first and second}
    both = done & {second / first for first, second in transfers if first and second}
    return both.pop() if len(done) == 1 and both else None


def expected_cycles(kernel: t.KernelReport) -> float:
    """Return the prediction, averaged over the addresses that the linker may choose if it depends on them."""
    predictions = places(kernel)
    return round(sum(predictions) / len(predictions), 6) if len(predictions) > 1 else predictions[0]


def places(kernel: t.KernelReport) -> list[float]:
    """Return the prediction for each address that the linker may choose, if it matters."""
    for hint in kernel.hints:
        if hint.rule == "code-placement":
            return list(hint.evidence["cycles_at"].values())
    return [kernel.cycles]


def calls(kernel: t.KernelReport) -> list[str]:
    """Return the calls whose time the prediction excludes, such as "a call to exp"."""
    return [call for note in kernel.notes if (call := noted_call(note))]
