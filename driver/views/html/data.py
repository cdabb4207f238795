"""What the page's scripts need of a kernel, in short: rows are lists, and what comes often is a number.

`kernel.js`, `assembly.js`, `graph.js` and `timeline.js` read this; each list says here what stands in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from incc.driver.views.text import header
from incc.driver.views.text.overview import row_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from incc.driver.report import types as t
    from incc.driver.views.layout import Layout

_BOUNDS: tuple[tuple[t.BoundName, str], ...] = (
    ("port", "Ports"),
    ("divider", "Divider"),
    ("front_end", "Front end"),
    ("retire", "Retirement"),
    ("loop_carried", "Loop-carried dependencies"),
)


def kernel_data(
    unit: t.Unit, kernel: t.Kernel, layout: Layout, sources: Mapping[str, Mapping[int, str]]
) -> dict[str, Any]:
    """All that is shown of a kernel."""
    source = kernel["source"]
    name = kernel["name"] if kernel["kind"] == "marker" else kernel["overview"]["function"]
    file, first, last = unit["assembly_file"], kernel["first_line"], kernel["last_line"]
    place = layout.place(source) if source else f"{layout.file(file)}:{first}-{last}" if first else layout.file(file)
    spread = header.range_worth_saying(kernel)
    path, chains = kernel["critical_path"], kernel["chains"]
    more = [spread["text"]] if spread else []
    more += [part["text"] for part in (kernel["mispredictions"], kernel["measured"]) if part]
    files, of_instruction = _sources(kernel, layout, sources)
    by_line = any(instruction["line"] for instruction in kernel["instructions"])
    limited = kernel["bounds"]["prediction"]["limited_by"]
    return {
        "title": f"{name}, {place}" if name else place,
        "model": f"{unit['model']['title']}, model {unit['model']['name']} {unit['model']['version']}",
        "facts": [f"{lead}{text}" for text, lead, _ in header.facts(unit, kernel, layout)],
        "verdict": _sentence(kernel["verdict"]),
        "more": [_sentence(text) for text in more],
        "notes": kernel["notes"],
        "hints": [
            [hint["rule"].replace("-", " "), _sentence(hint["text"], ""), hint["flags"]] for hint in kernel["hints"]
        ],
        "figures": list(_figures(unit, kernel, layout)),
        "cycles": kernel["cycles"],
        "atLeast": kernel["at_least"],
        "by": kernel["bounds"]["prediction"]["by"],
        "measured": kernel["measured"]["cycles"] if kernel["measured"] else None,
        # [name, cycles, what makes it, whether it limits]
        "bounds": [
            [title, bound["cycles"], bound["by"], which in limited]
            for which, title in _BOUNDS
            if (bound := kernel["bounds"][which])["cycles"] or which != "divider"
        ],
        # [change, cycles, cycles gained]
        "whatIfs": [[what["text"], what["cycles"], what["gained"]] for what in kernel["what_ifs"]],
        # [name, title, cycles, whether it is among the busiest]. Not what the simulation put on each: its counters are
        # those of the whole run, in which what waits for nothing has run ahead of a chain by what the buffers hold.
        "resources": [[r["name"], r["title"], r["load"], r["busiest"]] for r in kernel["resources"]],
        "balanced": kernel["port_assignment"] == "balanced",
        "numbered": "Line" if by_line else "No.",
        # [line or number, text, ports, remarks, latency, cycles on the critical path, on the longest chain,
        #  [resource, cycles, …], source or -1]
        "instructions": [
            [
                i["line"] if by_line else i["index"],
                i["text"],
                i["ports"],
                i["remarks"],
                i["latency"],
                i["critical_path_cycles"],
                i["chain_cycles"],
                [part for n, cycles in enumerate(i["pressure"]) if cycles for part in (n, cycles)],
                of_instruction[i["index"]],
            ]
            for i in kernel["instructions"]
        ],
        # [file:line, the line's text or null]
        "sources": files,
        # [from, to, what carries it, latency, iterations, on the critical path, chains]
        "edges": [
            [e["from"], e["to"], _carrier(e), e["latency"], e["distance"], int(e["critical_path"]), e["chains"]]
            for e in kernel["dependencies"]
        ],
        # [cycles an iteration, latency, iterations, what carries it on, instructions]
        "chains": [
            [c["cycles_per_iteration"]["cycles"], c["latency"], c["iterations"], c["through"], c["instructions"]]
            for c in chains
        ],
        "path": [path["cycles"], path["instructions"]],
        "timeline": _timeline(kernel["timeline"]) if kernel["timeline"] else None,
    }


def _figures(unit: t.Unit, kernel: t.Kernel, layout: Layout) -> Iterator[list[str]]:
    """What stands in large figures: what it is, the figure, its unit."""
    _, _, role, cycles, measured, each, limit, vector, _ = row_of(unit, kernel, {}, layout)
    yield ["Prediction", cycles, "cycles / iteration"]
    for what, text, measure in (
        ("Measured", measured if measured != "-" else "", "cycles / iteration"),
        ("Per element", each, "cycles"),
        ("Bound by", limit, ""),
        ("Vectors", vector, ""),
        ("Role", role, ""),
    ):
        if text:
            yield [what, text, measure]
    yield ["Critical path", str(kernel["critical_path"]["cycles"]), "cycles"]
    if kernel["chains"]:
        yield ["Longest chain", f"{kernel['chains'][0]['cycles_per_iteration']['cycles']:.2f}", "cycles / iteration"]


def _sentence(text: str, end: str = ".") -> str:
    return f"{text[:1].upper()}{text[1:]}{end}"


def _carrier(step: t.Step) -> str:
    return step["via"] or step["kind"]


def _sources(
    kernel: t.Kernel, layout: Layout, sources: Mapping[str, Mapping[int, str]]
) -> tuple[list[list[str | None]], list[int]]:
    """The places that the kernel's instructions come from, each once with its text, and which of them each has."""
    numbers: dict[tuple[str, int], int] = {}
    of_instruction = []
    for instruction in kernel["instructions"]:
        place = instruction["source"]
        key = (place["file"], place["line"]) if place else None
        of_instruction.append(numbers.setdefault(key, len(numbers)) if key else -1)
    texts = [sources.get(file, {}).get(line) for file, line in numbers]
    # Without the indentation that all have.
    lines = [text.expandtabs().rstrip() for text in texts if text and not text.isspace()]
    margin = min((len(text) - len(text.lstrip()) for text in lines), default=0)
    found: list[list[str | None]] = [
        [f"{layout.file(file)}:{line}", None if text is None else text.expandtabs().rstrip()[margin:]]
        for (file, line), text in zip(numbers, texts, strict=True)
    ]
    return found, of_instruction


class _Names:
    """Texts by number, in the order in which they come first."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


_TIMES: tuple[Literal["dispatched", "earliest", "ready", "started", "executed", "retired"], ...] = (
    "dispatched",
    "earliest",
    "ready",
    "started",
    "executed",
    "retired",
)


def _timeline(timeline: t.Timeline) -> dict[str, Any]:
    """Times are counted from the one before, which makes them short; producers back from who waits for them."""
    names = _Names()
    places = {(e["iteration"], e["instruction"]): number for number, e in enumerate(timeline["events"])}
    events = [
        [
            e["iteration"],
            e["instruction"],
            *_steps(e[time] for time in ("dispatched", "started", "executed", "retired")),
        ]
        for e in timeline["events"]
    ]
    uops = [
        [
            places[u["iteration"], u["instruction"]],
            names(u["kind"]),
            names(f"{u['port']}+{u['unit']}" if u["unit"] else u["port"]),
            *_steps(u[time] for time in _TIMES),
            -1 if u["last_input"] is None else u["last_input"],
            *(
                value
                for i in u["inputs"]
                for value in (
                    number - i["producer"],
                    names(i["kind"]),
                    names(i["via"]),
                    i["arrived"] - u["dispatched"],
                    i["latency"],
                )
            ),
        ]
        for number, u in enumerate(timeline["uops"])
    ]
    # events: [iteration, instruction, dispatched, started, executed, retired]; uops: [event, kind, port, the six times,
    # which input came last, and for each input producer, kind, what carries it, when it arrived, latency]
    return {"cycles": timeline["cycles"], "names": list(names.numbers), "events": events, "uops": uops}


def _steps(times: Iterable[int]) -> Sequence[int]:
    """The first of the times, and how much each is after the one before."""
    result = []
    before = 0
    for time in times:
        result.append(time - before)
        before = time
    return result
