"""The data of a kernel for the page's scripts: `kernel.js`, `assembly.js`, `graph.js` and `timeline.js` read it.

Rows are lists, and texts that come often are numbers, which makes pages small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from incc.report import types as t
from incc.views.layout import Layout
from incc.views.table import TableSection, select
from incc.views.text import decremental, dependencies, header, memory, quality
from incc.views.text.overview import row_of
from incc.views.text.unit import call_heading

BOUNDS: dict[t.BoundName, str] = {
    "port": "Ports",
    "divider": "Divider",
    "front_end": "Front end",
    "retire": "Retirement",
    "loop_carried": "Loop-carried dependencies",
}


def kernel_data(
    unit: t.UnitReport, kernel: t.KernelReport, layout: Layout, sources: Mapping[str, Mapping[int, str]]
) -> dict[str, Any]:
    """Return the data of a kernel."""
    source = kernel.source
    name = kernel.name if kernel.kind == "marker" else kernel.overview.function
    file, first, last = unit.assembly_file, kernel.first_line, kernel.last_line
    place = layout.place(source) if source else f"{layout.file(file)}:{first}-{last}" if first else layout.file(file)
    path, chains = kernel.critical_path, kernel.chains
    files, of_instruction = _sources(kernel, layout, sources)
    numbered, lines = dependencies.line_numbers(kernel.instructions, dependencies.is_compiled(unit, kernel))
    limited = kernel.bounds.prediction.limited_by
    return {
        "title": f"{name}, {place}" if name else place,
        "model": f"{unit.model.title}, model {unit.model.name} {unit.model.version}",
        "facts": [f"{lead}{text}" for text, lead, _ in header.facts(unit, kernel, layout)],
        "verdict": _sentence(kernel.verdict),
        "more": [_sentence(text) for text in _more(unit, kernel)],
        "notes": kernel.notes,
        "hints": [[hint.rule.replace("-", " "), _sentence(hint.text, ""), hint.flags] for hint in kernel.hints],
        "figures": list(_figures(unit, kernel, layout)),
        "cycles": kernel.cycles,
        "atLeast": kernel.at_least,
        "by": kernel.bounds.prediction.by,
        "measured": kernel.measured.cycles if kernel.measured else None,
        # [name, cycles, cause, whether it limits]
        "bounds": [
            [title, bound.cycles, bound.by, which in limited]
            for which, title in BOUNDS.items()
            if (bound := kernel.bounds.of(which)).cycles or which != "divider"
        ],
        # [change, cycles, cycles gained]
        "whatIfs": [[what.text, what.cycles, what.gained] for what in kernel.what_ifs],
        # [name, title, cycles, whether it is among the busiest]. These are not the simulation's counters, which are
        # those of the whole run, in which independent µops have run ahead of a chain as far as the buffers allow.
        "resources": [[r.name, r.title, r.load, r.busiest] for r in kernel.resources],
        "balanced": kernel.port_assignment == "balanced",
        "numbered": numbered,
        # [line or number, text, ports, remarks, latency, cycles on the critical path, on the longest chain,
        #  [resource, cycles, …], source or -1]
        "instructions": [
            [
                *instruction_row(line, i),
                [part for n, cycles in enumerate(i.pressure) if cycles for part in (n, cycles)],
                of_instruction[i.index],
            ]
            for line, i in zip(lines, kernel.instructions, strict=True)
        ],
        # [file:line, the line's text or null]
        "sources": files,
        # [from, to, what carries it, latency, iterations, on the critical path, chains]
        "edges": [
            [e.producer, e.to, e.via or e.kind, e.latency, e.distance, int(e.critical_path), e.chains]
            for e in kernel.dependencies
        ],
        # [cycles an iteration, latency, iterations, what carries it on, instructions]
        "chains": [[c.cycles_per_iteration.cycles, c.latency, c.iterations, c.through, c.instructions] for c in chains],
        "path": [path.cycles, path.instructions],
        "timeline": _timeline(kernel.timeline) if kernel.timeline else None,
        # [title, line above the tables, tables, …]
        "tables": list(_tables(kernel)),
    }


def _tables(kernel: t.KernelReport) -> Iterator[list[Any]]:
    """Yield the sections of a kernel that consist of tables."""
    if data := kernel.data:
        line = [] if data.unknown else [header.beyond_l1(data), *(each.text for each in data.passes)]
        parts = reversed(list(memory.parts(kernel, data)))
        yield ["Data beyond L1", ". ".join(line).replace("\xa0", " "), [_table(part) for part in parts]]
    if kernel.quality:
        yield ["Code quality", "", [_table(part) for part in quality.parts(kernel, kernel.quality)]]
    if kernel.decrements is not None:
        yield ["Without some of the work", "", [_table(decremental.part(kernel, kernel.decrements))]]


def _table(part: TableSection) -> list[Any]:
    """Return a table: caption, title and meaning of columns and whether they have numbers, rows, sentences below."""
    table = select(part.table)
    columns = [[column.title, column.meaning, column.right] for column in table.columns]
    return [
        f"{part.caption}.",
        columns,
        [[cell.text for cell in row.cells] for row in table.rows],
        list(part.sentences),
    ]


def _more(unit: t.UnitReport, kernel: t.KernelReport) -> Iterator[str]:
    """Yield what stands below the verdict: range, mispredictions, measurement, and the calls that run the loop."""
    for part in (header.range_worth_saying(kernel), kernel.mispredictions, kernel.measured):
        if part:
            yield part.text
    for call in unit.calls or ():
        if any(loop.kernel_id == kernel.kernel_id for loop in call.loops):
            yield " ".join([call_heading(call), *call.text])


def instruction_row(line: int, i: t.InstructionReport) -> list[Any]:
    """Return the first columns of an instruction on pages: up to its cycles on the longest chain."""
    return [line, i.text, i.ports, i.remarks, i.latency, i.critical_path_cycles, i.chain_cycles]


def _figures(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[list[str]]:
    """Yield the large figures: name, value, unit."""
    _, _, role, cycles, measured, each, limit, vector, _ = row_of(unit, kernel, {}, layout)
    yield ["Prediction", cycles, "cycles / iteration"]
    for name, text, measure in (
        ("Measured", measured if measured != "-" else "", "cycles / iteration"),
        ("Per element", each, "cycles"),
        *_from_levels(kernel),
        ("Bound by", limit, ""),
        ("Vectors", vector, ""),
        ("Role", role, ""),
    ):
        if text:
            yield [name, text, measure]
    yield ["Critical path", str(kernel.critical_path.cycles), "cycles"]
    if kernel.chains:
        yield ["Longest chain", f"{kernel.chains[0].cycles_per_iteration.cycles:.2f}", "cycles / iteration"]


def _from_levels(kernel: t.KernelReport) -> Iterator[tuple[str, str, str]]:
    """Yield the predictions for the requested levels beyond L1: name, value, unit."""
    for level in kernel.data.beyond_l1 if kernel.data else ():
        yield f"From {level.name}", memory.level_cycles(level), "cycles / iteration"


def _sentence(text: str, end: str = ".") -> str:
    return f"{text[:1].upper()}{text[1:]}{end}"


def _sources(
    kernel: t.KernelReport, layout: Layout, sources: Mapping[str, Mapping[int, str]]
) -> tuple[list[list[str | None]], list[int]]:
    """Return the source lines of a kernel with their texts, and the index of each instruction's line."""
    numbers: dict[tuple[str, int], int] = {}
    of_instruction = []
    for instruction in kernel.instructions:
        place = instruction.source
        key = (place.file, place.line) if place else None
        of_instruction.append(numbers.setdefault(key, len(numbers)) if key else -1)
    texts = [sources.get(file, {}).get(line) for file, line in numbers]
    # Without the common indentation.
    lines = [text.expandtabs().rstrip() for text in texts if text and not text.isspace()]
    margin = min((len(text) - len(text.lstrip()) for text in lines), default=0)
    lines_of: list[list[str | None]] = [
        [f"{layout.file(file)}:{line}", None if text is None else text.expandtabs().rstrip()[margin:]]
        for (file, line), text in zip(numbers, texts, strict=True)
    ]
    return lines_of, of_instruction


_TIMES = ("dispatched", "earliest", "ready", "started", "executed", "retired")


def _timeline(timeline: t.Timeline) -> dict[str, Any]:
    """Return the events of a timeline. Times are relative to the previous one, producers to their consumer."""
    numbers: dict[str, int] = {}

    def names(text: str) -> int:
        return numbers.setdefault(text, len(numbers))

    places = {(e.iteration, e.instruction): number for number, e in enumerate(timeline.events)}
    events = [
        [e.iteration, e.instruction, *_steps((e.dispatched, e.started, e.executed, e.retired))] for e in timeline.events
    ]
    uops = [
        [
            places[u.iteration, u.instruction],
            names(u.kind),
            names(f"{u.port}+{u.unit}" if u.unit else u.port),
            *_steps(getattr(u, time) for time in _TIMES),
            -1 if u.last_input is None else u.last_input,
            *(
                value
                for i in u.inputs
                for value in (number - i.producer, names(i.kind), names(i.via), i.arrived - u.dispatched, i.latency)
            ),
        ]
        for number, u in enumerate(timeline.uops)
    ]
    # events: [iteration, instruction, dispatched, started, executed, retired]; uops: [event, kind, port, the six times,
    # which input came last, and for each input producer, kind, what carries it, when it arrived, latency]
    return {"cycles": timeline.cycles, "names": list(numbers), "events": events, "uops": uops}


def _steps(times: Iterable[int]) -> Sequence[int]:
    """Return the first of the times, and the difference of each from the previous one."""
    result = []
    before = 0
    for time in times:
        result.append(time - before)
        before = time
    return result
