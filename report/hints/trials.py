"""Trials of the hints' flags: a unit's loops before and after, matched by function and line of the source.

Hints on the code that some flags result in lead to further trials, with the flags of both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from incc.report import types as t
from incc.report.hints.work import NOTHING, calls, expected_cycles, places, work_ratio
from incc.report.wording import number

Key = tuple[str, str, int]


def flag_sets(units: Iterable[t.UnitReport]) -> list[tuple[str, ...]]:
    """Return the flags of each hint, in the order of the report and without repetition.

    If there are several sets of flags, all of them together come last.
    """
    sets = _suggested(units)
    together = tuple(dict.fromkeys(flag for flags in sets for flag in flags))
    # Sets that give one option different values cannot be combined without a contradiction.
    if len(sets) > 1 and together not in sets:
        sets.append(together)
    return sets


def follow_ups(
    flags: tuple[str, ...], after: Iterable[t.UnitReport], suggested: Collection[str]
) -> list[tuple[str, ...]]:
    """Return these flags, and those that hints on the code compiled with them suggest, unless `suggested` before.

    The flags of all first hints are tried together anyway.
    """
    return [tuple(dict.fromkeys((*flags, *more))) for more in _suggested(after) if set(more) - {*flags, *suggested}]


def _suggested(units: Iterable[t.UnitReport]) -> list[tuple[str, ...]]:
    hints = [hint for unit in units for kernel in unit.kernels for hint in kernel.hints]
    return list(dict.fromkeys(tuple(hint.flags) for hint in hints if hint.flags))


def trial(flags: Sequence[str], before: t.UnitReport, after: t.UnitReport | None, problem: str = "") -> t.Trial:
    """Return the comparison of a unit's loops with more flags; `after` is None if `problem` prevented a result."""
    rules = [
        hint.rule for kernel in before.kernels for hint in kernel.hints if hint.flags and set(hint.flags) <= set(flags)
    ]
    loops: list[t.TriedLoop] = []
    if after is not None:
        old = _main_loops(before.kernels)
        new = _become(old, after.kernels)
        loops = [_loop(kernel, new.get(key), flags) for key, kernel in old.items()]
    return t.Trial(flags=list(flags), rules=list(dict.fromkeys(rules)), problem=problem, loops=loops)


def _main_loops(kernels: Sequence[t.KernelReport]) -> dict[Key, t.KernelReport]:
    """Return for each function and line of the source the loop that does most work per iteration.

    The other loops run its remaining iterations. Loops without lines cannot be distinguished, so one per function
    represents them.
    """
    main: dict[Key, t.KernelReport] = {}
    for kernel in kernels:
        if kernel.is_loop:
            key = _key(kernel)
            if key not in main or _work(kernel) > _work(main[key]):
                main[key] = kernel
    return main


def _key(kernel: t.KernelReport) -> Key:
    source = kernel.source
    return kernel.function, source.file if source else "", source.line if source else 0


NEAR = 3
"""Lines by which a loop may move: compilers report the line of its head or of something in it."""


def _become(old: Mapping[Key, t.KernelReport], kernels: Sequence[t.KernelReport]) -> dict[Key, t.KernelReport]:
    """Return for each loop its successor: of the loops nearest to its line the one that does most work per iteration.

    Candidates are in the same function and file, or anywhere if the loop is the only one of its function.
    """
    successors: dict[Key, t.KernelReport] = {}
    for kernel in kernels:
        function, file, line = _key(kernel)
        own = [key for key in old if key[0] == function]
        near = own if len(own) == 1 else [key for key in own if key[1] == file and abs(key[2] - line) <= NEAR]
        if kernel.is_loop and near:
            key = min(near, key=lambda k: abs(k[2] - line))
            if key not in successors or _work(kernel) > _work(successors[key]):
                successors[key] = kernel
    return successors


def _work(kernel: t.KernelReport) -> float:
    """Return the work of an iteration in elements if they are known, otherwise in bytes."""
    elements = kernel.elements
    return elements.per_iteration if elements else float(kernel.memory.step)


def _loop(before: t.KernelReport, after: t.KernelReport | None, flags: Sequence[str]) -> t.TriedLoop:
    ratio = gain = measured = None
    first, second = _measured(before), _measured(after)
    hinted = any(hint.flags and set(hint.flags) <= set(flags) for hint in before.hints)
    if after is not None:
        ratio = work_ratio(before, after)
        if ratio and after.cycles and not calls(before) and not calls(after):
            gain = round(expected_cycles(before) * ratio / expected_cycles(after) - 1, 6)
            # The difference may come from the loop's address instead of the flags.
            least, most = min(places(before)), max(places(before))
            if not hinted and ratio == 1 and least < most and any(least <= n <= most for n in places(after)):
                gain = 0.0
        if ratio and first and second:
            measured = round(first * ratio / second - 1, 6)
    return t.TriedLoop(
        kernel_id=before.kernel_id,
        function_name=before.overview.function,
        source=before.source,
        hinted=hinted,
        before=expected_cycles(before),
        after=expected_cycles(after) if after else None,
        element_before=_of_element(before),
        element_after=_of_element(after) if after else None,
        work=round(ratio, 6) if ratio else None,
        gain=gain,
        measured_before=first,
        measured_after=second,
        measured_gain=measured,
        text=_text(before, after, ratio, gain) + (f"; measured: {_effect(measured)}" if measured is not None else ""),
    )


def _measured(kernel: t.KernelReport | None) -> float | None:
    """Return the measured cycles per iteration of a loop."""
    return kernel.measured.cycles if kernel is not None and kernel.measured is not None else None


def _of_element(kernel: t.KernelReport) -> float | None:
    """Return the expected cycles per element."""
    elements = kernel.elements
    return round(expected_cycles(kernel) / elements.per_iteration, 6) if elements else None


def _text(before: t.KernelReport, after: t.KernelReport | None, ratio: float | None, gain: float | None) -> str:
    if after is None:
        return "the loop no longer exists: it became a call or part of another loop"
    text = f"{number(expected_cycles(before))} → {number(expected_cycles(after))} cycles per iteration"
    if calls(before) or calls(after):
        text += ", excluding called functions"
    elif ratio is None:
        text += "; the work per iteration cannot be compared"
    if ratio is not None and ratio != 1:
        text += f", for {number(ratio)} times the work"
    if gain is None:
        return text
    old, new = _of_element(before), _of_element(after)
    if old is not None and new is not None:
        text += f"; {number(old)} → {number(new)} per element"
    return f"{text}: {_effect(gain)}"


def _effect(gain: float) -> str:
    if gain >= NOTHING:
        return f"{number(1 + gain)} times as fast"
    return "no gain" if gain > -NOTHING else "slower"
