"""One code on several cores: for each kernel a table with a row for each core, before what there is to say of each."""

from __future__ import annotations

from incc.driver.views.layout import BOLD, count, cycles, each
from incc.driver.views.table import Cell, Column, Row, Table, row, text_lines
from incc.driver.views.text import header
from incc.driver.views.text.overview import cycles_of, measured

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.driver.report import types as t
    from incc.driver.views.layout import Layout

BEST = "*"

LIMIT = 20
"""Columns that the words for what limits a kernel have at least."""


def groups(units: Sequence[t.Unit]) -> list[list[t.Unit]]:
    """The units in their order, those together that follow each other and are one code on several cores."""
    found: list[list[t.Unit]] = []
    for unit in units:
        if (
            found
            and _code(found[-1][0]) == _code(unit)
            and unit["model"]["name"] not in [other["model"]["name"] for other in found[-1]]
        ):
            found[-1].append(unit)
        else:
            found.append([unit])
    return found


def _code(unit: t.Unit) -> tuple[object, ...]:
    return unit["source"], unit["assembly_file"], unit["folder"], unit["output"], unit["way"], *unit["command"]


def lines(units: Sequence[t.Unit], layout: Layout) -> Iterator[str]:
    """The tables of a group of several units, one for each kernel that some of them have."""
    first = units[0]
    names = [unit["model"]["name"] for unit in units]
    yield from layout.wrap(f"{first['source'] or first['assembly_file']} on {count(len(names), 'core')}:")
    on: dict[str, list[t.Kernel | None]] = {}
    for n, unit in enumerate(units):
        for kernel in unit["kernels"]:
            on.setdefault(kernel["kernel_id"], [None] * len(units))[n] = kernel
    if not on:
        return
    best = [_best(kernels) for kernels in on.values()]
    head, *rows = _table(names, list(on.values()), best, layout)
    for kernels, of_kernel in zip(on.values(), _split(rows, list(on.values()), layout), strict=True):
        yield ""
        subject = next(kernel for kernel in kernels if kernel is not None)
        where = f", {first['assembly_file']}:{subject['first_line']}-{subject['last_line']}"
        title = header.title(subject, layout) + (where if subject["first_line"] else "")
        yield from (layout.paint(line, BOLD) for line in layout.wrap(title))
        yield head
        yield from of_kernel
    yield ""
    notes = "cycles of each core's own clock, per iteration; Ports to Chain: lower bounds"
    yield from layout.wrap(f"({notes}{f'; {BEST}: fewest cycles' if any(best) else ''})")


def _best(kernels: Sequence[t.Kernel | None]) -> set[int]:
    """Which take the fewest cycles; none where all take as many. What takes at least so many may take more than
    another."""
    known = {n: kernel["cycles"] for n, kernel in enumerate(kernels) if kernel and not kernel["at_least"]}
    least = min(known.values(), default=0.0)
    # As printed: what differs behind the second decimal looks alike.
    found = {n for n, each_cycles in known.items() if f"{each_cycles:.2f}" == f"{least:.2f}"}
    return found if len(found) < len(known) else set()


def _table(
    names: Sequence[str], on: Sequence[Sequence[t.Kernel | None]], best: Sequence[set[int]], layout: Layout
) -> Iterator[str]:
    """Yield the titles, and the rows of all kernels one after the other, in the same columns."""
    # Each core's own views have the columns that a narrow table goes without.
    optional = ("Retire", "µops", "Divider", "Front")
    numbers = ("Cycles", "Measured", "/elem.", "IPC", "µops", "Ports", "Divider", "Front", "Retire", "Chain")
    columns = [
        Column(title=""),
        Column(title="Core"),
        *(
            Column(
                title=title,
                right=True,
                optional=title in optional,
                priority=optional.index(title) if title in optional else 0,
            )
            for title in numbers
        ),
        Column(title="Bound by", comfortable=28, least=LIMIT),
    ]
    rows = []
    for kernels, fastest in zip(on, best, strict=True):
        for n, (name, kernel) in enumerate(zip(names, kernels, strict=True)):
            first, *more = _limits(kernel, layout)
            texts = [*_cells(kernel), first] if kernel else [""] * (len(columns) - 2)
            kind = "good" if n in fastest else ""
            head = [Cell(text=text, kind=kind) for text in (BEST if kind else "", name, texts[0])]
            rows.append(Row([*head, *row(*texts[1:]).cells]))
            rows += [row(*[""] * (len(columns) - 1), limit) for limit in more]
    return text_lines(Table(columns, rows), layout)


NARROW = 100
"""Columns below which what limits a kernel has a line for each part, rather than to be cut."""


def _limits(kernel: t.Kernel | None, layout: Layout) -> list[str]:
    """What limits a kernel, in the lines that it takes."""
    if kernel is None:
        return [""]
    unknown = len(kernel["unknown_instructions"])
    parts = [f"{unknown} not in the model"] if unknown else []
    parts += [kernel["overview"]["limit"]] if kernel["overview"]["limit"] else []
    text = "; ".join(parts)
    return text.split("; ") if 0 < layout.width < NARROW and len(text) > LIMIT else [text]


def _split(rows: Sequence[str], on: Sequence[Sequence[t.Kernel | None]], layout: Layout) -> Iterator[list[str]]:
    """The rows of each kernel."""
    left = list(rows)
    for kernels in on:
        count = sum(len(_limits(kernel, layout)) for kernel in kernels)
        yield left[:count]
        left = left[count:]


def _cells(kernel: t.Kernel) -> list[str]:
    bounds, elements = kernel["bounds"], kernel["elements"]
    own = [bounds[name]["cycles"] for name in ("port", "divider", "front_end", "retire", "loop_carried")]
    ports, divider, front_end, retire, chain = (cycles(value) for value in own)
    unknown = len(kernel["unknown_instructions"])
    least = "≥ " if kernel["at_least"] else ""
    return [
        cycles_of(kernel),
        measured(kernel),
        f"{least}{each(elements['cycles'])}" if elements else "",
        # Of what is known alone it would say nothing.
        "-" if unknown else f"{kernel['summary']['ipc']:.2f}",
        str(kernel["size"]["issue_slots"]),
        ports,
        "" if divider == "-" else divider,
        front_end,
        retire,
        chain,
    ]
