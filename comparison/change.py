"""The change of a kernel: cycles on a common basis, and the causes of the difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from incc.comparison import types as c
from incc.comparison.causes import (
    ComparedKernel,
    DirectedCause,
    alignment,
    amount_text,
    cycles_text,
    explain,
    other_core,
    vector_bits,
)
from incc.comparison.level import UNKNOWN, for_transfers, same_transfers, transfers
from incc.comparison.match import Match
from incc.comparison.side import SideKernel
from incc.report import types as t
from incc.report.hints.work import NOTHING, calls, elements_of, expected_cycles, work_ratio
from incc.report.where import NAMES
from incc.report.wording import relative

Basis = Literal["element", "work", "iteration", ""]
Outcome = Literal["same", "moved", "equal", "faster", "slower", "unknown"]


def figures(entry: SideKernel) -> c.KernelFigures:
    """Return the figures of a kernel, which conditions know by the same names."""
    unit, kernel = entry.unit, entry.kernel
    values: dict[str, Any] = {name: NAMES[name].of(unit, kernel) for name in c.KernelFigures.__struct_fields__}
    ends = kernel.range
    values |= {"cycles_most": ends.most if ends else kernel.cycles, "vector_bits": vector_bits(kernel)}
    return c.KernelFigures(**values)


class _Basis(msgspec.Struct, frozen=True, kw_only=True):
    """The basis on which cycles are compared."""

    name: Basis = ""
    scale_a: float = 1.0
    """The factor for cycles of an iteration of a."""
    scale_b: float = 1.0
    """The factor for cycles of an iteration of b."""
    work: float | None = None
    """The work of an iteration of b as a multiple of one of a; None if unknown."""
    why: str = ""
    """The reason if there is no basis."""


def change(
    a: SideKernel, b: SideKernel, match: Match, parts_a: Sequence[SideKernel] = (), parts_b: Sequence[SideKernel] = ()
) -> c.KernelChange:
    """Return the change from `a` to `b`, without alignment.

    `change(b, a, …)` is the opposite: figures swapped, ratios inverted, cycles of causes with the other sign.
    """
    same_core = _model(a) == _model(b)
    same_code = _same_code(a, b) and not parts_a and not parts_b
    basis = _basis(a, b, same_code, parts_a, parts_b)
    result: c.KernelChange = c.KernelChange(
        matched_by=match.by,
        confidence=round(match.confidence, 6),
        outcome="unknown",
        basis=basis.name,
        work=basis.work,
        scale_a=basis.scale_a if basis.name else None,
        scale_b=basis.scale_b if basis.name else None,
        cycles_a=None,
        cycles_b=None,
        ratio=None,
        text="",
        causes=[],
        alignment=None,
    )
    if basis.name:
        _compare(result, basis, a, b, same_core, same_code, parts_a, parts_b)
    elif same_core:
        # There is no number of cycles, but differences that do not depend on the work can be reported.
        compared = (
            ComparedKernel(kernel=entry.kernel, instructions=entry.instructions(), scale=1.0) for entry in (a, b)
        )
        kinds = ("calls", "vectorised", "vector-width")
        result.causes = [cause for cause in other_core(*compared) if cause.kind in kinds]
    result.text = _text(result, basis, a, b, same_core)
    return result


def _compare(
    result: c.KernelChange,
    basis: _Basis,
    a: SideKernel,
    b: SideKernel,
    same_core: bool,
    same_code: bool,
    parts_a: Sequence[SideKernel],
    parts_b: Sequence[SideKernel],
) -> None:
    """Fill in cycles, outcome and causes of two kernels whose amounts of work are known."""
    shares = [_of_parts(parts) for parts in (parts_a, parts_b)]
    cycles_a = expected_cycles(a.kernel) * basis.scale_a + shares[0]
    cycles_b = expected_cycles(b.kernel) * basis.scale_b + shares[1]
    result.cycles_a, result.cycles_b = round(cycles_a, 6), round(cycles_b, 6)
    if cycles_a:
        result.ratio = round(cycles_b / cycles_a, 9)
    elif not cycles_b:
        result.ratio = 1.0
    difference = cycles_b - shares[1] - (cycles_a - shares[0])
    moved = transfers(a, b, basis.scale_a, basis.scale_b, difference) if same_core else None
    same_conditions = moved is None or same_transfers(a, b)
    if same_code and same_core and same_conditions and _not_counted(a.kernel) == _not_counted(b.kernel):
        result.outcome = _same_or_moved(a, b)
        if abs(cycles_b - cycles_a) > NOTHING * max(cycles_a, cycles_b):
            result.causes = alignment(
                *(ComparedKernel(kernel=e.kernel, instructions=(), scale=basis.scale_a) for e in (a, b))
            )
        return
    result.outcome = _outcome(cycles_a, cycles_b, a, b)
    if same_code and result.outcome == "equal" and _model(a)[0] == _model(b)[0]:
        # The version of the model differs, but its figures are the same.
        result.outcome = _same_or_moved(a, b)
        return
    causes: list[c.Cause] = []
    if not same_core:
        causes.append(_core(a, b, cycles_b - cycles_a if same_code else None))
    if parts_a or parts_b:
        causes.append(_split(len(parts_a), len(parts_b), shares[1] - shares[0]))
    if moved:
        # What the cores do meanwhile does not account for the difference.
        causes.append(moved)
    elif not same_code:
        # The other loops do what one of several loops does less of, so only cycles add up.
        in_all = not parts_a and not parts_b
        causes += [cause for cause in _in_code(a, b, basis, same_core) if in_all or cause.cycles is not None]
    result.causes = causes


def _in_code(a: SideKernel, b: SideKernel, basis: _Basis, same_core: bool) -> list[c.Cause]:
    """Return the causes that follow from the code of two kernels."""
    compared = [
        ComparedKernel(kernel=entry.kernel, instructions=entry.instructions(), scale=scale)
        for entry, scale in ((a, basis.scale_a), (b, basis.scale_b))
    ]
    return for_transfers(explain(*compared) if same_core else other_core(*compared), a, b)


def _model(entry: SideKernel) -> tuple[str, str]:
    model = entry.unit.model
    return model.name, model.version


def _same_code(a: SideKernel, b: SideKernel) -> bool:
    """Return True if both have the same instructions and the same statements that could not be decoded."""
    texts = [[refused.text for refused in entry.kernel.refused] for entry in (a, b)]
    return a.kernel.content_hash == b.kernel.content_hash and texts[0] == texts[1]


def _same_or_moved(a: SideKernel, b: SideKernel) -> Outcome:
    return "same" if _place(a) == _place(b) else "moved"


def _place(entry: SideKernel) -> tuple[str, str, str, int]:
    """Return the place of a kernel: files without their folders, because two builds may be in two folders."""
    kernel = entry.kernel
    source = kernel.source
    file, line = (source.file, source.line) if source else ("", kernel.first_line)
    return kernel.function, kernel.kernel_id, file.replace("\\", "/").rpartition("/")[2], line


# --- the basis --------------------------------------------------------------------------------------------------------


def _basis(
    a: SideKernel, b: SideKernel, same_code: bool, parts_a: Sequence[SideKernel], parts_b: Sequence[SideKernel]
) -> _Basis:
    """Return the basis on which cycles of both kernels can be compared."""
    first, second = a.kernel.elements, b.kernel.elements
    if same_code and not (first and second and first.per_iteration == second.per_iteration):
        return _Basis(name="iteration", work=1.0)
    parts = [part.kernel.elements for part in (*parts_a, *parts_b)]
    if parts and first and second and all(parts):
        numbers = first.per_iteration, second.per_iteration
        if all(numbers) and all(part and part.per_iteration for part in parts):
            return _Basis(name="element", scale_a=1 / numbers[0], scale_b=1 / numbers[1], work=numbers[1] / numbers[0])
    if parts:
        return _Basis(why="how much of the work each of the loops does is not known")
    work = work_ratio(a.kernel, b.kernel)
    if work is None:
        return _Basis(why="how much of the source's loop an iteration does is not known")
    if elements := elements_of(first.per_iteration if first else None, second.per_iteration if second else None, work):
        return _Basis(name="element", scale_a=1 / elements[0], scale_b=1 / elements[1], work=work)
    if work == 1:
        return _Basis(name="iteration", work=1.0)
    # The unit is an iteration of the kernel that does more, so that the opposite change has the same figures.
    return _Basis(name="work", scale_a=max(work, 1.0), scale_b=max(1 / work, 1.0), work=work)


def _of_parts(parts: Sequence[SideKernel]) -> float:
    """Return the cycles per element of further loops that do a part of the work."""
    cycles = 0.0
    for part in parts:
        elements = part.kernel.elements
        assert elements is not None  # otherwise there is no such basis
        cycles += expected_cycles(part.kernel) / elements.per_iteration
    return cycles


# --- the outcome ------------------------------------------------------------------------------------------------------


def _outcome(cycles_a: float, cycles_b: float, a: SideKernel, b: SideKernel) -> Outcome:
    """Return faster or slower, unless the difference may be due to uncounted work."""
    missing = [_not_counted(entry.kernel) for entry in (a, b)]
    if missing[0] != missing[1]:
        # A kernel that is slower although less of it is counted really is slower.
        if missing[1] and not missing[0] and cycles_b > cycles_a * (1 + NOTHING):
            return "slower"
        if missing[0] and not missing[1] and cycles_a > cycles_b * (1 + NOTHING):
            return "faster"
        return "unknown"
    if max(cycles_a, cycles_b) <= min(cycles_a, cycles_b) * (1 + NOTHING):
        return "equal"
    return "slower" if cycles_b > cycles_a else "faster"


def _not_counted(kernel: t.KernelReport) -> list[str]:
    """Return the instructions and statements that a prediction does not include."""
    if not kernel.at_least:
        return []
    return sorted(
        {
            *calls(kernel),
            *(unknown.form for unknown in kernel.unknown_instructions),
            *(refused.text for refused in kernel.refused),
            *(note for note in kernel.notes if note == UNKNOWN),
        }
    )


# --- causes of the whole ----------------------------------------------------------------------------------------------


def _core(a: SideKernel, b: SideKernel, cycles: float | None) -> c.Cause:
    first, second = a.unit.model, b.unit.model
    if first.name == second.name:
        text = f"another model of {second.name}: version {first.version} → {second.version}"
    else:
        text = f"another core: {first.name} → {second.name}"
    one, other = ({"name": model.name, "version": model.version} for model in (first, second))
    return DirectedCause(kind="core", cycles=cycles, more=text, fewer="", of_fast=one, of_slow=other).cause()


def _split(parts_a: int, parts_b: int, cycles: float) -> c.Cause:
    loops = parts_a + 1, parts_b + 1
    text = f"{loops[0]} {'loops' if parts_a else 'loop'} → {loops[1]} {'loops' if parts_b else 'loop'}"
    cycles = round(cycles, 6)
    text += f": {cycles_text(cycles)} in the other loops"
    evidence = {"a": {"loops": loops[0]}, "b": {"loops": loops[1]}}
    return c.Cause(kind="work", text=text, cycles=cycles, a=[], b=[], evidence=evidence)


# --- in words ---------------------------------------------------------------------------------------------------------

_OF = {"element": "per element", "work": "for equal work", "iteration": "per iteration", "": ""}


def _text(change: c.KernelChange, basis: _Basis, a: SideKernel, b: SideKernel, same_core: bool) -> str:
    """Return the change in one sentence."""
    first, second = change.cycles_a, change.cycles_b
    if first is None or second is None:
        return basis.why
    of = _OF[basis.name]
    outcome = change.outcome
    numbers = f"{amount_text(first)} → {amount_text(second)} cycles {of}"
    if outcome in ("same", "moved"):
        words = "nothing changed" if outcome == "same" else f"the same code {_moved(a, b)}"
        each = f"{amount_text(second)} {'cycle' if amount_text(second) == '1' else 'cycles'} {of}"
        return f"{words}, {numbers if change.causes else each}"
    if change.ratio is not None:
        times = relative(change.ratio).replace("\xa0", " ")
        numbers += f" ({times})" if times[0] != "0" else ""
    numbers += ", excluding called functions" * bool(calls(a.kernel) or calls(b.kernel))
    if outcome == "unknown":
        return f"{numbers}; it is unknown which is faster, since the uncounted work differs"
    if outcome == "equal":
        return f"{numbers}: {'other code' if same_core else 'another core'}, equally fast"
    cause = next((cause.text for cause in change.causes if cause.cycles is not None), "")
    if not same_core:
        cause = change.causes[0].text
    return f"{numbers}: {outcome}{', ' if cause else ''}{cause}"


def _moved(a: SideKernel, b: SideKernel) -> str:
    if a.kernel.function != b.kernel.function:
        return f"in another function ({a.kernel.overview.function} → {b.kernel.overview.function})"
    return "at another address"
