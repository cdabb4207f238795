"""The kernels of each side of a comparison, without the data that a comparison does not read."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from incc.comparison import types as c
from incc.report import types as t


class SideKernel(msgspec.Struct, frozen=True, eq=False):
    """A kernel of a side; entries are equal only to themselves, whatever is in them."""

    unit: t.UnitReport
    """Its translation unit, without kernels, ways and graphs."""
    kernel: t.KernelReport
    """The kernel without what comparisons do not read."""
    packed: bytes
    """Its instructions, compressed."""

    def instructions(self) -> list[t.InstructionReport]:
        """Unpack the instructions, in the order of execution."""
        instructions: list[t.InstructionReport] = pickle.loads(zlib.decompress(self.packed))
        return instructions


def entries_of(unit: t.UnitReport) -> list[SideKernel]:
    """Return the entries of a unit's kernels."""
    without_kernels = replace(unit, kernels=[], ways=None, control_flow=None, trials=None)
    return [
        SideKernel(
            without_kernels,
            without_details(kernel),
            zlib.compress(pickle.dumps(kernel.instructions, pickle.HIGHEST_PROTOCOL), 1),
        )
        for kernel in unit.kernels
    ]


def without_details(kernel: t.KernelReport) -> t.KernelReport:
    """Return a kernel without its largest parts, to keep thousands of them in memory.

    Of the chains, causes are found from the longest and from those of one instruction, such as counters.
    """
    return replace(
        kernel,
        chains=[chain for n, chain in enumerate(kernel.chains) if n == 0 or len(chain.instructions) == 1],
        mispredictions=None,
        cold=None,
        alignments=[],
        llvm_resources=None,
        instructions=[],
        dependencies=[],
        waits=None,
        timeline=None,
    )


class ComparedBuild(msgspec.Struct, frozen=True):
    """One of the builds to compare."""

    info: c.Side
    """Its compilers, models and notes."""
    entries: Sequence[SideKernel]
    """Its kernels, in the order of units and of their text."""


def in_memory(report: t.AnalysisReport, label: str, named: str = "") -> ComparedBuild:
    """Return the side of a report that is already in memory."""
    entries = [entry for unit in report.units for entry in entries_of(unit)]
    return ComparedBuild(side_info(entries, label, named or label), entries)


def side_info(entries: Sequence[SideKernel], label: str, named: str, notes: Sequence[str] = ()) -> c.Side:
    """Return the description of a side with these kernels."""
    compilers: dict[str, None] = {}
    models: dict[tuple[str, str], c.ComparedModel] = {}
    for entry in entries:
        unit = entry.unit
        if unit.compiler:
            compilers[f"{unit.compiler} {unit.compiler_version}".strip()] = None
        model = unit.model
        models[model.name, model.version] = c.ComparedModel(name=model.name, title=model.title, version=model.version)
    notes = [*notes, *_not_counted(entries)]
    return c.Side(
        label=label,
        input=named,
        compilers=list(compilers),
        models=list(models.values()),
        kernels=len(entries),
        variant=None,
        problem="",
        notes=notes,
    )


NOT_COUNTED = "Not counted: "
"""The beginning of a note on uncounted work."""


def _not_counted(entries: Sequence[SideKernel]) -> list[str]:
    """Return notes on what the figures of the kernels do not include, each with the place of the first case.

    These are statements that could not be decoded, and instructions that the model lacks.
    """
    refused = [(entry, each) for entry in entries for each in entry.kernel.refused]
    unknown = [(entry, each) for entry in entries for each in entry.kernel.unknown_instructions]
    notes = []
    if refused:
        entry, first = refused[0]
        what = f"{len(refused)} statements" if len(refused) > 1 else "a statement"
        notes.append(f"{NOT_COUNTED}{what} that could not be decoded, {_place(entry, first.line)}{first.message}.")
    if unknown:
        entry, instruction = unknown[0]
        what = f"{len(unknown)} instructions" if len(unknown) > 1 else "an instruction"
        text = " ".join(instruction.text.split())
        notes.append(f"{NOT_COUNTED}{what} that the model lacks, {_place(entry, instruction.line)}{text}.")
    return notes


def _place(entry: SideKernel, line: int) -> str:
    return f"{entry.unit.assembly_file}:{line}: " if line else ""
