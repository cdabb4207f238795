"""Comparisons of kernels whose data come from a level beyond L1: their predictions for it in place of those for L1."""

from __future__ import annotations

from msgspec.structs import replace

from incc.comparison import types as c
from incc.comparison.causes import DirectedCause, cycles_text
from incc.comparison.side import ComparedBuild, SideKernel
from incc.models.memory import level_of
from incc.report import types as t

UNKNOWN = "transfers beyond L1 are not known and not counted"
"""The note on a kernel without a prediction for the level."""


def with_data(side: ComparedBuild, data: str | int) -> ComparedBuild:
    """Return a side whose kernels have the predictions for data in a level, or of a size in bytes.

    Kernels without one keep that for L1 as a lower bound.
    """
    entries = [
        SideKernel(entry.unit, _at_level(entry.kernel, data), entry.packed) if entry.kernel.is_loop else entry
        for entry in side.entries
    ]
    unknown = sum(UNKNOWN in entry.kernel.notes for entry in entries)
    where = f"of {data:,} bytes" if isinstance(data, int) else f"in {data}"
    note = f"Predictions for data {where}"
    if unknown:
        note += f", which {unknown} of {len(entries)} kernels lack"
    info = replace(side.info, notes=[f"{note}.", *side.info.notes])
    return ComparedBuild(info, entries)


def _at_level(kernel: t.KernelReport, data: str | int) -> t.KernelReport:
    """Return a kernel with the prediction for data in a level in place of that for L1."""
    levels = kernel.data.levels if kernel.data else []
    if kernel.data is None or len(levels) < 2:
        return replace(kernel, at_least=True, notes=[*kernel.notes, UNKNOWN])
    name = level_of([(level.name, level.size) for level in levels], data)
    level = next(level for level in levels if level.name == name)
    chosen = replace(kernel.data, levels=[level])
    if level.cycles <= kernel.cycles:
        return replace(kernel, data=chosen)
    elements = kernel.elements
    text = f"transfers from {level.name} take {level.cycles:g} cycles"
    return replace(
        kernel,
        cycles=level.cycles,
        elements=elements and replace(elements, cycles=level.cycles / elements.per_iteration),
        range=None,
        # Transfers limit the loop, so the address of its code does not matter.
        hints=[hint for hint in kernel.hints if hint.rule != "code-placement"],
        overview=replace(kernel.overview, limit=f"transfers from {level.name}"),
        verdict=text,
        data=chosen,
    )


def transfers(a: SideKernel, b: SideKernel, scale_a: float, scale_b: float, cycles: float) -> c.Cause | None:
    """Return the cause of a difference if transfers limit the slower kernel; None if its core does.

    Args:
        a: The first kernel.
        b: The second kernel.
        scale_a: The factor by which figures per iteration of the first kernel are multiplied.
        scale_b: The factor for figures of the second.
        cycles: The difference in cycles, scaled; positive if the second kernel is slower.
    """
    level = _limiting_level((b if cycles > 0 else a).kernel)
    if level is None or any(each.kernel.data is None or len(each.kernel.data.levels) != 1 for each in (a, b)):
        return None
    lines = []
    for entry, scale in ((a, scale_a), (b, scale_b)):
        assert entry.kernel.data is not None
        lines.append(round(scale * entry.kernel.data.levels[0].lines.total, 6))
    text = f"cache lines to and from {level.name} {lines[0]:.3g} → {lines[1]:.3g}"
    cores = [entry.kernel.data.cores if entry.kernel.data else 1 for entry in (a, b)]
    if cores[0] != cores[1]:
        text = f"{cores[0]} → {cores[1]} cores at once" + f", {text}" * (lines[0] != lines[1])
    elif lines[0] == lines[1]:
        text = f"loads, which do not overlap with transfers from {level.name}"
    figures = [{"lines": each, "level": level.name, "cores": number} for each, number in zip(lines, cores, strict=True)]
    return DirectedCause(
        kind="transfers", cycles=cycles, more=text, fewer="", of_fast=figures[0], of_slow=figures[1]
    ).cause()


def same_transfers(a: SideKernel, b: SideKernel) -> bool:
    """Return True if two kernels at a level take as long for their transfers, with as many cores at once."""
    one, other = (
        entry.kernel.data and (entry.kernel.data.cores, [level.transfer for level in entry.kernel.data.levels])
        for entry in (a, b)
    )
    return one == other


def for_transfers(causes: list[c.Cause], a: SideKernel, b: SideKernel) -> list[c.Cause]:
    """Return causes that name the transfers which limit the faster kernel in place of its pipeline."""
    level = _limiting_level(a.kernel) or _limiting_level(b.kernel)
    if level is None:
        return causes
    text = f"transfers from {level.name} in the faster one"
    return [
        replace(cause, kind="transfers", text=f"{text}: {cycles_text(cause.cycles)}")
        if cause.kind == "pipeline" and cause.cycles is not None
        else cause
        for cause in causes
    ]


def _limiting_level(kernel: t.KernelReport) -> t.DataLevel | None:
    """Return the level whose transfers limit a kernel at which it is compared; None if the core limits it."""
    if kernel.data is None or len(kernel.data.levels) != 1 or kernel.cycles <= kernel.bounds.prediction.cycles:
        return None
    return kernel.data.levels[0]
