"""The quality of a kernel's code: its use of vectors, registers and the stack, and its rates relative to the core's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incc.report import types as t
from incc.support.text import counted, line_list
from incc.views.layout import Layout, cycles, percent
from incc.views.table import Table, TableSection, number_column, part_lines, row, text_column

_VECTORS = (
    text_column("Work", "Kind of work", 16, 8),
    number_column("Instr.", "Instructions per iteration that do it"),
    number_column("Vector", "Share of the instructions that work on vectors of several elements"),
    number_column("Bits", "Share of the bits of the core's widest vectors that the instructions use"),
)

_REGISTERS = (
    text_column("Class", "Class of registers", 16, 8),
    number_column("Used", "Registers that the loop uses"),
    number_column("Live", "Most registers at one place whose values are needed later"),
)

_RATES = (
    text_column("Rate", "What is counted", 16, 8),
    number_column("/cycle", "Predicted rate per cycle"),
    number_column("Peak", "The core's peak per cycle"),
    number_column("Share", "Rate relative to the peak"),
)

_PROJECTIONS = (
    text_column("Changed code", "Change to the code", 32, 12),
    number_column("Cycles", "Simulated cycles for the work of an iteration as it is"),
    number_column("Gain", "Cycles as it is, relative to those after the change"),
    text_column("Condition", "Condition of the change", 40, 9, priority=-1),
)


def lines(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield the tables of a kernel's quality."""
    if kernel.quality is None:
        yield "The quality of this code was not analysed."
        return
    yield from part_lines(parts(kernel, kernel.quality), layout)


def parts(kernel: t.KernelReport, quality: t.QualityReport) -> Iterator[TableSection]:
    """Yield the tables of vectors, registers and rates."""
    yield TableSection(
        f"Use of the core's {quality.vector_bits}-bit vectors, without address arithmetic and loop overhead",
        Table(
            _VECTORS,
            [
                row(use.kind, str(use.instructions), _share(use.vector / use.instructions), _share(use.bits))
                for use in quality.vectors
            ],
        ),
        [],
    )
    yield TableSection(
        "Registers",
        Table(_REGISTERS, [row(use.kind, str(use.used), str(use.live)) for use in quality.registers]),
        list(_stack(kernel, quality.stack)),
    )
    yield TableSection(
        "Rates relative to the core's peak",
        Table(
            _RATES,
            [row(r.kind, f"{r.per_cycle:.2f}", f"{r.peak:.4g}", _share(r.share)) for r in quality.rates],
        ),
        [],
    )
    yield _projections(kernel, quality.projections)


CHANGES = {
    "vectorised": "fully vectorised",
    "arithmetic-vectorised": "only its arithmetic vectorised",
    "without-overhead": "without addresses and counters",
    "without-spills": "without spills",
    "aligned": "all accesses aligned",
    "fma": "with FMA",
}
"""The names of changes in words."""


def _projections(kernel: t.KernelReport, projections: Sequence[t.ProjectionReport]) -> TableSection:
    """Return a table of the changes that can be made, with sentences on those that cannot."""
    rows, sentences = [], []
    for each in projections:
        name = CHANGES[each.change]
        if each.cycles is not None:
            gain = f"{kernel.cycles / each.cycles:.1f} x" if each.cycles else ""
            rows.append(
                row(
                    f"{name}, {each.vector_bits} bits" if each.vector_bits else name,
                    cycles(each.cycles),
                    gain,
                    each.text,
                )
            )
        elif each.applies:
            sentences.append(f"{name[:1].upper()}{name[1:]}: unknown, because {each.text}.")
    return TableSection(
        f"Simulated with changed code, in cycles per iteration ({cycles(kernel.cycles)} unchanged)",
        Table(_PROJECTIONS, rows),
        sentences,
    )


def _share(share: float) -> str:
    return percent(share).replace("\xa0", " ")


def _stack(kernel: t.KernelReport, stack: t.StackUse) -> Iterator[str]:
    """Yield sentences on spills and reloads."""
    unchanged = " of values that the loop does not change"
    for numbers, what, why in (
        (stack.spills, "spill", ""),
        (stack.reloads, "reload", ""),
        (stack.invariant_reloads, "reload", unchanged),
    ):
        if numbers:
            places = line_list(kernel.instructions[n].line for n in numbers) if kernel.instructions else ""
            yield f"{counted(len(numbers), what)} per iteration{why}{f' ({places})' if places else ''}."
    if not (stack.spills or stack.reloads or stack.invariant_reloads):
        yield "No spills or reloads."
