"""The part of a kernel that a ranking keeps: reports have twenty kilobytes per kernel."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from incc.comparison.side import without_details
from incc.core.prediction import WORTH_SAYING
from incc.frontends.isa import mnemonic
from incc.ranking import types as r
from incc.report import types as t
from incc.report.gains import gaining, most_tangible
from incc.report.overview import NO_ADVICE
from incc.report.where import NAMES, Value

OUT_OF_REACH = ("remainder", "prologue", "fallback", "outer")
"""Roles of loops that run little compared with their main loop, or have no work of their own."""


class RankedCode(msgspec.Struct, frozen=True, kw_only=True):
    """The code of a kernel."""

    lines: Mapping[str, frozenset[int]]
    """The source lines that its instructions come from, by file."""
    mnemonics: tuple[str, ...]
    """The mnemonics, in the order of the text."""
    spans: tuple[t.CodeSpan, ...]
    """The places of all instructions relative to symbols; none if they are unknown."""
    interior: frozenset[int]
    """The offsets of the bytes after the first one of each analysed instruction, as far as they are known."""
    listing: str
    """A line for each instruction: its line in the assembly, that in the source, and its text, separated by tabs."""

    def instructions(self) -> list[r.RankedInstruction]:
        """Return the instructions of the listing."""
        rows = (line.split("\t", 2) for line in self.listing.split("\n") if line)
        return [r.RankedInstruction(int(line), int(source), text) for line, source, text in rows]


class ReportPlace(msgspec.Struct, frozen=True):
    """The place of a report that was read: a file, and the line in which it starts."""

    path: str
    line: int


class RankedKernel(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel in a report."""

    unit: t.UnitReport
    kernel: t.KernelReport
    report: str
    origin: ReportPlace
    code: RankedCode
    """The code, which only profiles need."""
    headroom: r.Headroom
    spare: float
    """As in `RankingRow.spare`."""
    saving: r.Saving
    values: Mapping[str, Value]
    """The values of the names that conditions use."""

    @property
    def in_reach(self) -> bool:
        return self.kernel.role.name not in OUT_OF_REACH

    def path(self, file: str) -> str:
        """Return the whole path of a file that the report names, as far as it is known."""
        return whole(self.unit.folder, file)


def loops_of(kernels: Sequence[RankedKernel]) -> list[int]:
    """Return for each kernel the number of its source loop on its core.

    The code that a compiler, or several builds, made of one loop has the same number, even if the line is that of the
    loop's head in one and of its body in another.
    """
    groups: dict[tuple[Any, ...], list[int]] = {}
    for n, ranked in enumerate(kernels):
        kernel, model = ranked.kernel, ranked.unit.model.name
        source = kernel.source
        key: tuple[Any, ...] = (model, ranked.path(ranked.unit.source or ranked.unit.assembly_file), kernel.kernel_id)
        if source:
            # The condition of a loop inside is among the lines of the loop around.
            partial = kernel.role.name == "partial"
            key = model, ranked.path(source.file), kernel.source_function or kernel.function_name, partial
        groups.setdefault(key, []).append(n)
    parents = list(range(len(kernels)))

    def first(n: int) -> int:
        while parents[n] != n:
            n = parents[n]
        return n

    for members in groups.values():
        by_line: dict[int, int] = {}
        for n in members:
            source = kernels[n].kernel.source
            other = by_line.setdefault(source.line if source else 0, n)
            parents[first(n)] = first(other)
        # The line of one is among the lines of the other: compilers report a loop's head or its body.
        for n in members:
            source = kernels[n].kernel.source
            for line in kernels[n].code.lines.get(source.file, ()) if source else ():
                if line in by_line:
                    parents[first(n)] = first(by_line[line])
    return [first(n) for n in range(len(kernels))]


def whole(folder: str, file: str) -> str:
    """Return the path of a file named relative to a folder, which is "" if unknown."""
    path = file if file.startswith("/") or not folder else f"{folder}/{file}"
    return os.path.normpath(path) if "/." in path or "//" in path or path.startswith("./") else path


def ranked_kernels(
    unit: t.UnitReport, report: str, origin: ReportPlace, names: Iterable[str], texts: bool
) -> Iterator[RankedKernel]:
    """Yield the kernels of a unit.

    Args:
        unit: The unit's report.
        report: The name of its file for users.
        origin: The place where it was read.
        names: Names of conditions whose values are needed.
        texts: True if the code is needed that locates kernels in disassemblies and objects.
    """
    trials = trials_of(unit)
    kept = replace(unit, kernels=[], ways=None, control_flow=None, trials=None, code="")
    for kernel in unit.kernels:
        yield RankedKernel(
            unit=kept,
            kernel=without_details(kernel),
            report=report,
            origin=origin,
            code=code_of(kernel, texts),
            headroom=headroom_of(kernel, trials),
            spare=spare_of(kernel),
            saving=saving_of(kernel, trials),
            values={name: NAMES[name].of(unit, kernel) for name in names if name in NAMES},
        )


def code_of(kernel: t.KernelReport, texts: bool) -> RankedCode:
    """Return the code of a kernel; its mnemonics only if `texts` is set."""
    lines: dict[str, set[int]] = {}
    for instruction in kernel.instructions:
        place = instruction.source
        if place:
            lines.setdefault(place.file, set()).add(place.line)
    kept = {file: frozenset(numbers) for file, numbers in lines.items()}
    instructions = sorted(kernel.instructions, key=lambda i: i.line)
    return RankedCode(
        lines=kept,
        mnemonics=tuple(mnemonic(instruction.text) for instruction in instructions) if texts else (),
        spans=tuple(kernel.spans) if texts else (),
        interior=frozenset([i.offset + n for i in instructions if i.offset >= 0 for n in range(1, i.bytes)])
        if texts
        else frozenset(),
        listing="\n".join(_listed(instruction) for instruction in kernel.instructions),
    )


def _listed(instruction: t.InstructionReport) -> str:
    source = instruction.source
    return f"{instruction.line}\t{source.line if source else 0}\t{' '.join(instruction.text.split())}"


def headroom_of(kernel: t.KernelReport, trials: dict[str, tuple[float, tuple[str, ...]]]) -> r.Headroom:
    """Return how much faster a kernel might be.

    `trials` has by kernel_id the relative gain from compiling with flags, and these flags.
    """
    cycles = kernel.cycles
    headroom: r.Headroom = r.Headroom(cycles=cycles, gained=0.0, share=0.0, by="", change="", text="")
    if changes := gaining(kernel.what_ifs, cycles):
        best = most_tangible(changes, cycles)
        headroom = _headroom(cycles, best.cycles, "what-if", best.change, best.text)
    if not kernel.what_ifs:
        headroom = _of_bounds(kernel, headroom)
    gain, flags = trials.get(kernel.kernel_id, (0.0, ()))
    if gain > WORTH_SAYING and cycles * (1 - 1 / (1 + gain)) > headroom.gained:
        spelled = " ".join(flags)
        headroom = _headroom(cycles, cycles / (1 + gain), "trial", spelled, f"compiled with {spelled}")
    return headroom


def _of_bounds(kernel: t.KernelReport, nothing: r.Headroom) -> r.Headroom:
    """Return the headroom above the next-largest bound, for reports without changes of the core."""
    cycles, values = kernel.cycles, _bounds_together(kernel)
    largest = max(range(len(values)), key=values.__getitem__)
    rest = max(values[:largest] + values[largest + 1 :])
    # If the simulation is above all bounds, none of them limits the kernel.
    if not kernel.bounds.prediction.limited_by or cycles - rest < WORTH_SAYING * cycles:
        return nothing
    text = ("with more ports", "with a faster front end", "without carried dependencies")[largest]
    return _headroom(cycles, rest, "bounds", _TOGETHER[largest][0], text)


_TOGETHER: tuple[tuple[t.BoundName, ...], ...] = (("port", "divider"), ("front_end", "retire"), ("loop_carried",))


def _bounds_together(kernel: t.KernelReport) -> list[float]:
    """Return the largest bound of each of _TOGETHER."""
    return [max(kernel.bounds.of(name).cycles for name in names) for names in _TOGETHER]


def spare_of(kernel: t.KernelReport) -> float:
    """Return the share of a kernel's cycles that its bounds leave to a change of the core (`RankingRow.spare`)."""
    *_, second, _ = sorted(_bounds_together(kernel))
    return round(1 - min(second / kernel.cycles, 1.0), 6) if kernel.cycles else 0.0


def _headroom(cycles: float, least: float, by: Any, change: str, text: str) -> r.Headroom:
    gained = max(cycles - least, 0.0)
    share = round(min(gained / cycles, 1.0), 6) if cycles else 0.0
    return r.Headroom(cycles=least, gained=round(gained, 6), share=share, by=by, change=change, text=text)


_NO_REMEDY = ("recurrence", *NO_ADVICE)
"""Rules of hints whose only remedy is another algorithm, or that concern missing figures."""


def saving_of(kernel: t.KernelReport, trials: dict[str, tuple[float, tuple[str, ...]]]) -> r.Saving:
    """Return what following a kernel's advice saves. `trials` is as for `headroom_of`."""
    gain, flags = trials.get(kernel.kernel_id, (0.0, ()))
    if gain > 0:
        return r.Saving(share=round(1 - 1 / (1 + gain), 6), by="trial", text=" ".join(flags))
    best = max((hint for hint in kernel.hints if hint.gain), key=lambda hint: hint.gain or 0, default=None)
    if best is not None and best.gain and best.gain > 1:
        return r.Saving(share=round(1 - 1 / best.gain, 6), by="hint", text=" ".join(best.flags) or best.rule)
    for hint in kernel.hints:
        if hint.flags or (hint.source_change and hint.rule not in _NO_REMEDY):
            return r.Saving(share=0.0, by="unknown", text=" ".join(hint.flags) or hint.rule)
    return r.Saving(share=0.0, by="", text="")


def projection_of(kernel: t.KernelReport) -> r.Projected | None:
    """Return the change to a kernel's code that saves most; None if there is none that saves anything."""
    made = [each for each in kernel.quality.projections if each.cycles is not None] if kernel.quality else []
    best = max(made, key=lambda each: each.gained, default=None)
    if best is None or best.cycles is None or best.gained < WORTH_SAYING * kernel.cycles or not kernel.cycles:
        return None
    share = round(min(best.gained / kernel.cycles, 1.0), 6)
    return r.Projected(change=best.change, cycles=best.cycles, share=share, text=best.text)


_ASSUMED = 0.5
"""The share of a loop's time that a remedy of unknown effect is taken to save, for the order of rows only."""


def expected(saving: r.Saving) -> float:
    """Return the share of a loop's time that its advice is expected to save."""
    return _ASSUMED if saving.by == "unknown" else saving.share


def unweighted(role: str, saving: r.Saving, depth: int, spare: float) -> tuple[float, ...]:
    """Return a key that sorts loops without weights by how much they are worth a look.

    A remainder is assumed to run less than its loop, and a loop in another one more than others.
    """
    return (role in OUT_OF_REACH, not saving.by, -expected(saving), -depth, -spare)


def trials_of(unit: t.UnitReport) -> dict[str, tuple[float, tuple[str, ...]]]:
    """Return by kernel_id the largest gain from compiling a unit with flags of hints, and these flags."""
    gains: dict[str, tuple[float, tuple[str, ...]]] = {}
    for trial in unit.trials or ():
        for loop in trial.loops:
            gain = loop.gain
            if gain is not None and gain > gains.get(loop.kernel_id, (0.0, ()))[0]:
                gains[loop.kernel_id] = gain, tuple(trial.flags)
    return gains
