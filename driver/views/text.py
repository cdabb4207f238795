"""The report as text: a verdict for people, then llvm-mca's views in llvm-mca's layout, then dependencies as OSACA has.

Lays out what is in the report; the only thing decided here is how wide a column is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from incc.driver.report.places import Place

Dict = dict[str, Any]

VIEWS = ("summary", "info", "pressure", "waits", "timeline", "dependencies")

# Where a line has to be cut, at least so much of an instruction stays (with narrow columns, if need be).
MIN_TEXT = 28

# Chains listed; the report has all of them.
MAX_CHAINS = 10

BOLD, RED, YELLOW, CYAN = "1", "31", "33", "36"


class Layout:
    """The room for a line (`width` columns, 0 for as much as it takes) and whether there is colour."""

    __slots__ = ("colour", "width")

    def __init__(self, width: int, colour: bool) -> None:
        self.width = width
        self.colour = colour

    def paint(self, text: str, style: str) -> str:
        """The text in a style (ANSI parameters), as it is without colour; blanks are not worth a colour."""
        return f"\033[{style}m{text}\033[0m" if self.colour and style and text.strip() else text

    def cut(self, text: str, used: int) -> str:
        """The text, with tabs as blanks, cut with … to what the line has left beside `used` columns."""
        text = text.replace("\t", " ")
        room = self.width - used
        if not self.width or len(text) <= room:
            return text
        return text[: max(room - 1, 0)] + "…"

    def wrap(self, text: str, first: str = "", indent: str = "") -> Iterator[str]:
        """The text in lines, broken at blanks but not at no-break spaces; `first` leads the first line, `indent` the
        others."""
        line = first
        empty = True
        for word in text.split(" "):
            if not empty and self.width and len(line) + 1 + len(word) > self.width:
                yield line.replace("\xa0", " ")
                line, empty = indent, True
            line = f"{line}{'' if empty else ' '}{word}"
            empty = False
        yield line.replace("\xa0", " ")


def terminal(stream: TextIO) -> tuple[int, bool]:
    """The width for a stream and whether to use colour: on a terminal its width and colour, elsewhere $COLUMNS or 120
    and none. $NO_COLOR (no-color.org) and TERM=dumb switch colour off."""
    import os

    environment = os.environ
    columns = environment.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() else 0
    try:
        is_terminal = stream.isatty()
        width = width or (os.get_terminal_size(stream.fileno()).columns if is_terminal else 0)
    except (OSError, ValueError):  # closed, or a stream without a file behind it
        is_terminal = False
    colour = is_terminal and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
    return width or 120, colour


def render(
    report: Dict,
    width: int = 80,
    colour: bool = False,
    views: Sequence[str] = VIEWS,
    details: Sequence[Place] = (),
) -> str:
    """The report as text of lines no wider than `width` columns (0: as wide as they get).

    Header and verdict of each kernel are always there; `views` are those of VIEWS that follow. `details`: lines whose
    instructions are shown with all that they wait for. Raises ValueError for a view that does not exist.
    """
    for view in views:
        if view not in VIEWS:
            raise ValueError(f"no view {view!r}; there are {', '.join(VIEWS)}")
    layout = Layout(width, colour)
    lines: list[str] = []
    for unit in report["units"]:
        lines += _unit_header(report, unit, layout)
        for kernel in unit["kernels"]:
            lines.append("")
            lines += _kernel(unit, kernel, layout, views)
            if details:
                lines += _details(unit, kernel, layout, details)
        lines += _left_out(unit, layout)
        if unit["ways"] is not None:
            from incc.driver.views.ways import render as render_ways

            lines += render_ways(unit, layout)
    return "".join(line.rstrip() + "\n" for line in lines)


# --- units ------------------------------------------------------------------------------------------------------------


def _unit_header(report: Dict, unit: Dict, layout: Layout) -> Iterator[str]:
    model, tool = unit["model"], report["tool"]
    name = unit["source"] or unit["assembly_file"]
    compiler = unit["compiler"] and f", {unit['compiler']} {unit['compiler_version']}".rstrip()
    yield from layout.wrap(f"{name}{compiler}: {tool['name']} {tool['version']} for {model['title']}")
    yield from layout.wrap(f"Model {model['name']} {model['version']}, chosen by {model['chosen_by']}")


def _left_out(unit: Dict, layout: Layout) -> Iterator[str]:
    if not unit["kernels"]:
        yield ""
        yield "No loop to analyse." if not unit["left_out"] else "No loop that can be analysed."
    if unit["left_out"]:
        yield ""
        yield "Not analysed:"
        for item in unit["left_out"]:
            where = unit["assembly_file"]
            if item["first_line"]:  # else it is the file as a whole
                where += f":{item['first_line']}"
            function = item["function"] and f" in {item['function']}"
            yield from layout.wrap(f"{where}{function}: {item['reason']}", "  ", "    ")


# --- kernels ----------------------------------------------------------------------------------------------------------


def _kernel(unit: Dict, kernel: Dict, layout: Layout, views: Sequence[str]) -> Iterator[str]:
    yield from _header(unit, kernel, layout)
    yield ""
    yield from _verdict(kernel, layout)
    sections: dict[str, Callable[[], Iterable[str]]] = {
        "summary": lambda: [*_summary(kernel), "", *_bounds(kernel, layout)],
        "asked": lambda: _only_asked(kernel, layout),
        "info": lambda: _instruction_info(kernel, layout),
        "pressure": lambda: _pressure(kernel, layout),
        "waits": lambda: _waits(kernel, layout),
        "timeline": lambda: _timeline(kernel, layout),
        "dependencies": lambda: _dependencies(kernel, layout),
    }
    if "summary" not in views:
        views = ["asked", *views]
    for view in ("asked", *VIEWS):
        if view in views and (kernel["instructions"] or view == "summary"):
            first = True
            for line in sections[view]():
                if first:
                    yield ""
                    first = False
                yield line


def _header(unit: Dict, kernel: Dict, layout: Layout) -> Iterator[str]:
    source = kernel["source"]
    title = f"{source['file']}:{source['line']}" if source else kernel["name"]
    if kernel["function"] and (source or kernel["function"] not in title):
        title += f" in {kernel['function_name']}"
    lines = list(layout.wrap(title))
    for line in lines:
        yield layout.paint(line, BOLD)
    yield "-" * max(len(line) for line in lines)
    what = "loop" if kernel["is_loop"] else "straight code"
    if kernel["label"]:
        what += f" at {kernel['label']}"
    if kernel["depth"] > 1:
        what += f", nested {kernel['depth']} deep"
    if kernel["first_line"]:
        what += f", {unit['assembly_file']}:{kernel['first_line']}-{kernel['last_line']}"
    if kernel["near"]:
        what += f", near {kernel['near']['file']}:{kernel['near']['line']}"
    if not kernel["is_loop"]:
        what += ", analysed as if repeated"
    size, memory, arithmetic = kernel["size"], kernel["memory"], kernel["arithmetic"]
    yield from layout.wrap(what[0].upper() + what[1:])
    counts = _count(size["instructions"], "instruction")
    if kernel["unknown_instructions"]:
        counts += f" ({len(kernel['unknown_instructions'])} not in the model)"
    counts += f", {_count(size['bytes'], 'byte')}, {_count(size['issue_slots'], 'µop')}"
    yield from layout.wrap(f"{counts}; {arithmetic['text']}")
    moved = f"{_count(memory['bytes_loaded'], 'byte')} loaded, {memory['bytes_stored']} stored"
    if memory["unsized_accesses"]:
        moved += f", and {memory['unsized_accesses']} accesses of unknown size"
    if arithmetic["flop"] and arithmetic["flop_per_byte"] is not None:
        moved += f"; {arithmetic['flop_per_byte']:.2f} flop/byte"
    yield from layout.wrap(f"Per iteration {moved}")
    for note in kernel["notes"]:
        yield from layout.wrap(note, "Note: ", "      ")


def _verdict(kernel: Dict, layout: Layout) -> Iterator[str]:
    text = kernel["verdict"]
    for line in layout.wrap(text[:1].upper() + text[1:] + "."):
        yield layout.paint(line, BOLD)
    for hint in kernel["hints"]:
        yield from layout.wrap(hint["text"][:1].upper() + hint["text"][1:], "- ", "  ")


def _summary(kernel: Dict) -> Iterator[str]:
    summary = kernel["summary"]
    yield f"Iterations:        {summary['iterations']}"
    yield f"Instructions:      {summary['instructions']}"
    yield f"Total Cycles:      {summary['cycles']}"
    yield f"Total uOps:        {summary['uops']}"
    yield ""
    yield f"Dispatch Width:    {summary['dispatch_width']}"
    yield f"uOps Per Cycle:    {summary['uops_per_cycle']:.2f}"
    yield f"IPC:               {summary['ipc']:.2f}"
    # llvm-mca's one decimal would show 2.25 as 2.2
    yield f"Block RThroughput: {summary['block_rthroughput']:.2f}"


_BOUNDS = {
    "port": "Ports",
    "divider": "Divider",
    "front_end": "Front end",
    "retire": "Retirement",
    "loop_carried": "Loop-carried",
}


def _bounds(kernel: Dict, layout: Layout) -> Iterator[str]:
    bounds = kernel["bounds"]
    prediction = bounds["prediction"]
    yield "Bounds in cycles per iteration:"
    for name, title in _BOUNDS.items():
        bound = bounds[name]
        row = f"  {title:<13} {_cycles(bound['cycles']):>8}  "
        limits = name in prediction["limited_by"]
        lines = list(layout.wrap(bound["by"], row, " " * len(row)))
        yield from (layout.paint(line, BOLD if limits else "") for line in lines)
    by = "simulated" if prediction["by"] == "simulation" else "the largest of these"
    yield f"  {'Prediction':<13} {_cycles(prediction['cycles']):>8}  {by}"
    path = kernel["critical_path"]
    yield f"  {'Critical path':<13} {_cycles(path['cycles']):>8}  from start to end of one iteration on its own"
    if kernel["simulated"]:
        yield ""
        yield from _changes(kernel, layout)
        yield ""
        yield from _counters(kernel, layout)
        yield from _asked(kernel, True)


_SOURCES = {
    "loop_stream_detector": "the loop stream detector",
    "uop_cache": "the µop cache",
    "decoders": "the decoders",
    "microcode": "the microcode sequencer",
}
_LOST = {
    "no_uops": "no µop was there",
    "scheduler": "the scheduler was full",
    "reorder_buffer": "the reorder buffer was full",
    "load_buffer": "the load buffer was full",
    "store_buffer": "the store buffer was full",
    "group": "what is issued together did not fit",
}


def _changes(kernel: Dict, layout: Layout) -> Iterator[str]:
    """What changed cores would make of the kernel: those that gain something and those that were asked for."""
    before = kernel["simulated"]["cycles"]
    yield "Simulated with a changed core, in cycles per iteration:"
    shown = [w for w in kernel["what_ifs"] if w["asked"] or w["gained"] >= 0.01 * before]
    for change in shown:
        row = f"  {_cycles(before):>8} → {_cycles(change['cycles']):>5}  "
        yield from layout.wrap(change["text"], row, " " * len(row))
    rest = [w["text"].replace(" ", "\xa0") for w in kernel["what_ifs"] if w not in shown]
    if rest:
        yield from layout.wrap(", ".join(rest), "  Nothing gained ", "    ")


def _counters(kernel: Dict, layout: Layout) -> Iterator[str]:
    """Where µops came from, and what happened to the issue slots."""
    simulated = kernel["simulated"]
    uops = [f"{_percent(s)} from {title}" for name, title in _SOURCES.items() if (s := simulated["uops"][name])]
    yield from layout.wrap(f"µops: {', '.join(uops)}", indent="  ")
    lost = [(share, title) for name, title in _LOST.items() if (share := simulated["lost_slots"][name]) >= 0.005]
    causes = [f"{_percent(share)} empty since {title}" for share, title in sorted(lost, reverse=True)]
    used = _percent(1 - sum(simulated["lost_slots"].values()))
    yield from layout.wrap(f"Issue slots: {', '.join([f'{used} used', *causes])}", indent="  ")
    if simulated["moves"]["executed"]:
        yield f"Moves that the renamer can eliminate: {_percent(simulated['moves']['executed'])} executed all the same"


def _asked(kernel: Dict, before: bool) -> Iterator[str]:
    """Simulations of single passes and other places, which are only there when asked for; `before`: behind others."""
    if kernel["cold"]:
        cold = kernel["cold"]
        yield f"{_count(cold['iterations'], 'iteration')} from a cold start: {_count(cold['cycles'], 'cycle')}"
    if kernel["alignments"]:
        if kernel["cold"] or before:
            yield ""
        yield "Simulated cycles per iteration by the place of the first byte within 64:"
        yield "       " + "".join(f"{f'+{n}':>6}" for n in range(8))
        for first in range(0, 64, 8):
            cells = kernel["alignments"][first : first + 8]
            yield f"  {first:>4} " + "".join(f"{_cycles(cell['cycles']):>6}" for cell in cells)


def _only_asked(kernel: Dict, layout: Layout) -> Iterator[str]:
    """What was asked for by name, where the view that it belongs to is switched off."""
    changes = any(change["asked"] for change in kernel["what_ifs"])
    if changes:
        yield from _changes(kernel, layout)
    yield from _asked(kernel, changes)


def _percent(share: float) -> str:
    return f"{100 * share:.0f}\xa0%"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _instruction_info(kernel: Dict, layout: Layout) -> Iterator[str]:
    yield "Instruction Info:"
    yield "[1]: #uOps"
    yield "[2]: Latency in cycles"
    yield "[3]: RThroughput in cycles"
    yield "[4]: MayLoad"
    yield "[5]: MayStore"
    yield from layout.wrap(f"[6]: Remarks{_legend(kernel)}", indent="     ")
    yield ""
    yield "[1]    [2]    [3]    [4]    [5]    [6]    Instructions:"
    for instruction in kernel["instructions"]:
        numbers = (
            f"{instruction['issue_slots']}",
            f"{instruction['latency']}",
            f"{instruction['rthroughput']['cycles']:.2f}",
        )
        if instruction["unknown"]:
            numbers = ("X", "X", "X")
        loads, stores = ("*" if instruction[name] else "" for name in ("loads", "stores"))
        row = f" {numbers[0]:<6} {numbers[1]:<5} {numbers[2]:<7} {loads:<6} {stores:<6} {instruction['remarks']:<6}"
        yield row + layout.cut(instruction["text"], len(row))


_REMARKS = {
    "X": "not in the model, excluded from all totals",
    "F": "macro-fused into the one before",
    "E": "move eliminated",
    "Z": "zero idiom",
    "D": "figures derived from another form",
}


def _legend(kernel: Dict) -> str:
    """The meaning of the remarks that occur."""
    used = "".join(instruction["remarks"] for instruction in kernel["instructions"])
    words = [f"{letter} {meaning}" for letter, meaning in _REMARKS.items() if letter in used]
    return f" ({'; '.join(words)})" if words else ""


# --- pressure ---------------------------------------------------------------------------------------------------------


def _pressure(kernel: Dict, layout: Layout) -> Iterator[str]:
    resources = kernel["resources"]
    yield "Resources:"
    for number, resource in enumerate(resources):
        mark = f"[{number}]"
        yield layout.paint(f"{mark:<5} - {resource['title']}", YELLOW if resource["busiest"] else "")
    yield ""
    yield ""
    heads = [f"[{number}]" for number in range(len(resources))]
    styles = [YELLOW if resource["busiest"] else "" for resource in resources]
    # llvm-mca's columns are seven wide; narrower ones, with fewer decimals of large numbers, where instructions would
    # be cut to less than is worth reading.
    narrow = bool(layout.width) and layout.width - 7 * len(resources) < MIN_TEXT
    total = [_load(resource["load"], narrow) for resource in resources]
    rows = [
        ["X"] * len(resources)
        if instruction["unknown"]
        else [_load(cycles, narrow) for cycles in instruction["pressure"]]
        for instruction in kernel["instructions"]
    ]
    column = max(5 if narrow else 7, *(len(cell) + 1 for cells in (heads, total) for cell in cells))

    def row(cells: Sequence[str]) -> str:
        return "".join(layout.paint(f"{c:<{column}}", s) for c, s in zip(cells, styles, strict=True))

    shares = "shared equally between" if kernel["port_assignment"] == "equal" else "balanced over"
    yield "Resource pressure per iteration:"
    yield row(heads)
    yield row(total)
    yield ""
    if kernel["simulated"] is not None:
        yield "Simulated, µops per cycle:"
        yield row(heads)
        yield row([_load(count, narrow) for count in kernel["simulated"]["port_uops"]])
        yield ""
    yield "Resource pressure by instruction:"
    yield row(heads) + layout.cut("Instructions:", column * len(resources))
    for instruction, cells in zip(kernel["instructions"], rows, strict=True):
        yield row(cells) + layout.cut(instruction["text"], column * len(resources))
    yield from layout.wrap(f"(cycles, µops {shares} the ports that they may use; -:\xa0none{_unknown_legend(kernel)})")


def _load(cycles: float, narrow: bool) -> str:
    text = f"{cycles:.2f}"
    if text == "0.00":
        return " -"
    return text if not narrow or len(text) <= 4 else f"{cycles:.1f}" if len(text) == 5 else f"{cycles:.0f}"


def _unknown_legend(kernel: Dict) -> str:
    return "; X:\xa0not in the model, excluded from all totals" if kernel["unknown_instructions"] else ""


# --- who waits for whom -----------------------------------------------------------------------------------------------


def _waits(kernel: Dict, layout: Layout) -> Iterator[str]:
    if kernel["waits"] is None:
        return
    yield "Who waits for whom, in cycles per iteration:"
    yield "[1]: Had to wait"
    yield "[2]:   for inputs"
    yield "[3]:   for a port or unit"
    yield "[4]: Caused others to wait"
    yield ""
    yield "[1]      [2]      [3]      [4]      Instructions:"
    names = ("had_to_wait", "for_inputs", "for_ports", "caused_to_wait")
    for instruction, wait in zip(kernel["instructions"], kernel["waits"]["instructions"], strict=True):
        cells = ["X"] * 4 if instruction["unknown"] else [_wait_cycles(wait[name]) for name in names]
        row = "".join(f"{cell:<9}" for cell in cells)
        yield row + layout.cut(instruction["text"], len(row))


def _details(unit: Dict, kernel: Dict, layout: Layout, places: Sequence[Place]) -> Iterator[str]:
    """All that the instructions at some places wait for, and who waits for them."""
    from incc.driver.report.places import is_at

    waits = kernel["waits"]
    if waits is None:
        return
    for chosen in kernel["instructions"]:
        if not any(is_at(chosen, unit, place) for place in places):
            continue
        own = waits["instructions"][chosen["index"]]
        source = chosen["source"]
        where = f" ({source['file']}:{source['line']})" if source else ""
        yield ""
        yield layout.cut(f"Line {chosen['line']}{where}: {chosen['text']}", 0)
        yield f"  had to wait {own['had_to_wait']:.2f}, caused others to wait " + (
            f"{own['caused_to_wait']:.2f} cycles an iteration"
        )
        yield from _partners(kernel, layout, chosen["index"])
        waited = {w["resource"]: w["cycles"] for w in waits["ports"] if w["instruction"] == chosen["index"]}
        caused = {w["resource"]: w["cycles"] for w in waits["blocked"] if w["instruction"] == chosen["index"]}
        names = [r["name"] for r in kernel["resources"] if r["name"] in waited or r["name"] in caused]
        if names:
            yield "  Port    waited  caused"
            for name in names:
                yield f"  {name:<4}  {waited.get(name, 0):>8.2f}  {caused.get(name, 0):>6.2f}"


def _partners(kernel: Dict, layout: Layout, index: int) -> Iterator[str]:
    """An instruction's partners in dependencies: latencies in both directions, and who waited for whom."""
    sources = {d["from"]: d["latency"] for d in reversed(kernel["dependencies"]) if d["to"] == index}
    targets = {d["to"]: d["latency"] for d in reversed(kernel["dependencies"]) if d["from"] == index}
    inputs = kernel["waits"]["inputs"]
    waited = {w["producer"]: w["cycles"] for w in inputs if w["instruction"] == index}
    caused = {w["instruction"]: w["cycles"] for w in inputs if w["producer"] == index}
    partners = sorted({*sources, *targets, *waited, *caused})
    if not partners:
        yield "  no dependencies"
        return
    yield "  Line  latency from    to    waited    caused   Instructions:"
    for partner in partners:
        instruction = kernel["instructions"][partner]
        from_there, to_there = (str(table.get(partner, "-")) for table in (sources, targets))
        row = f"  {instruction['line']:>4}  {from_there:>12}  {to_there:>4}"
        row += f"  {_wait_cycles(waited.get(partner, 0)):>8}  {_wait_cycles(caused.get(partner, 0)):>8}   "
        yield row + layout.cut(instruction["text"], len(row))


def _wait_cycles(cycles: float) -> str:
    return f"{cycles:.2f}" if cycles else "-"


# --- timeline ---------------------------------------------------------------------------------------------------------


def _timeline(kernel: Dict, layout: Layout) -> Iterator[str]:
    timeline = kernel["timeline"]
    if timeline is None or not timeline["events"]:
        return
    instructions = kernel["instructions"]
    margin = max(10, *(len(_index(event)) + 1 for event in timeline["events"]))
    cycles = timeline["cycles"]
    if layout.width:
        cycles = min(cycles, max(10, layout.width - margin - 3 - MIN_TEXT))
    yield "Timeline view:"
    if cycles < timeline["cycles"]:
        yield f"(the first {cycles} of {timeline['cycles']} cycles)"
    ruler = ["0123456789"[cycle % 10] for cycle in range(cycles)]
    odd, even = (
        "".join(mark if cycle // 10 % 2 == parity else " " for cycle, mark in enumerate(ruler)) for parity in (1, 0)
    )
    if cycles > 10:
        yield " " * margin + odd
    yield f"{'Index':<{margin}}{even}"
    yield ""
    for event in timeline["events"]:
        if event["dispatched"] >= cycles:
            continue
        row = f"{_index(event):<{margin}}{_life(event, cycles)}   "
        instruction = instructions[event["instruction"]]
        mark = "X " if instruction["unknown"] else ""
        yield row + layout.cut(mark + instruction["text"], len(row))
    yield ""
    yield from layout.wrap(
        "(a column is a cycle; D:\xa0dispatched, =:\xa0on the way to a port or waiting for it or for inputs, "
        "e:\xa0executing, E:\xa0executed, "
        f"-:\xa0waiting to retire, R:\xa0retired{_unknown_legend(kernel)})"
    )
    yield ""
    yield ""
    yield "Average Wait times (based on the timeline view):"
    yield "[0]: Executions"
    yield "[1]: Average time spent waiting in a scheduler's queue, in cycles"
    yield "[2]: Average time spent waiting in a scheduler's queue while ready, in cycles"
    yield "[3]: Average time elapsed from WB until retire stage, in cycles"
    yield ""
    yield "      [0]    [1]    [2]    [3]"
    for number, (instruction, wait) in enumerate(zip(instructions, timeline["waits"], strict=True)):
        row = f"{f'{number}.':<7}{_wait(wait)}"
        mark = "X " if instruction["unknown"] else ""
        yield row + layout.cut(mark + instruction["text"], len(row))
    yield f"{'':<7}{_wait(timeline['total_wait'])}<total>"


def _index(event: Dict) -> str:
    return f"[{event['iteration']},{event['instruction']}]"


def _life(event: Dict, cycles: int) -> str:
    """One line of the timeline in llvm-mca's letters, a dot in every fifth column outside the instruction's life."""
    dispatched, started, executed = event["dispatched"], event["started"], event["executed"]
    retired = event["retired"]
    marks = []
    for cycle in range(cycles):
        if cycle < dispatched or cycle > retired:
            mark = "." if cycle % 5 == 0 or (cycle == cycles - 1 and cycle > retired) else " "
        elif cycle == dispatched:
            mark = "D"
        elif cycle == retired:
            mark = "R"
        elif cycle == executed:
            mark = "E"
        elif cycle < started:
            mark = "="
        else:
            mark = "e" if cycle < executed else "-"
        marks.append(mark)
    return "".join(marks)


def _wait(wait: Dict) -> str:
    """llvm-mca's four columns."""
    averages = (wait["in_scheduler"], wait["in_scheduler_while_ready"], wait["until_retire"])
    return f"{wait['executions']:<6}" + "".join(f"{f'{average:.1f}':<7}" for average in averages) + "   "


# --- dependencies -----------------------------------------------------------------------------------------------------


def _dependencies(kernel: Dict, layout: Layout) -> Iterator[str]:
    instructions = kernel["instructions"]
    chains = kernel["chains"]
    yield from layout.wrap("Critical path (CP) and longest loop-carried dependency (LCD), in cycles:")
    # machine code that comes without lines is numbered as in the other views
    by_line = any(instruction["line"] for instruction in instructions)
    numbers = [str(instruction["line"] if by_line else instruction["index"]) for instruction in instructions]
    width = max(4, *(len(number) for number in numbers))
    sources = _sources(kernel)
    column = max((len(source) for source in sources), default=-2) + 2
    heading = f"{'Source':{column}}" if sources else ""
    yield f"{'Line' if by_line else 'No.':>{width}}      CP     LCD   {heading}Instructions:"
    for number, instruction in zip(numbers, instructions, strict=True):
        path, chain = (_latency(instruction[name]) for name in ("critical_path_cycles", "chain_cycles"))
        if instruction["unknown"]:
            path = chain = "X"
        row = f"{number:>{width}}  {layout.paint(f'{path:>6}', BOLD)}  {layout.paint(f'{chain:>6}', RED)}   "
        row += f"{sources[instruction['index']]:{column}}" if sources else ""
        yield row + layout.cut(instruction["text"], width + 19 + column)
    longest = f"{chains[0]['latency']}" if chains else "-"
    yield f"{'':{width}}  {kernel['critical_path']['cycles']:>6}  {longest:>6}   in all"
    if kernel["unknown_instructions"]:
        yield from layout.wrap("(X: not in the model, excluded from all totals)")
    yield ""
    if not chains:
        yield "No loop-carried dependencies."
        return
    yield "Loop-carried dependencies, longest first:"
    lines = "lines" if by_line else "instructions"
    yield f"  Cycles/it.  Latency  Iterations  Through ({lines})"
    for rank, chain in enumerate(chains[:MAX_CHAINS]):
        ratio = _cycles(chain["cycles_per_iteration"]["cycles"])
        row = f"  {ratio:>10}  {chain['latency']:>7}  {chain['iterations']:>10}  "
        where = ", ".join(numbers[i] for i in chain["instructions"])
        text = f"{', '.join(chain['through'])} ({where})"
        for line in layout.wrap(text, row, " " * len(row)):
            yield layout.paint(line, RED if rank == 0 else "")
    if len(chains) > MAX_CHAINS:
        yield f"  and {len(chains) - MAX_CHAINS} more that are not longer"
    if not kernel["chains_complete"]:
        yield from layout.wrap("There are more than were searched for; the longest is among those found.", "  ", "  ")


def _sources(kernel: Dict) -> list[str]:
    """Where in the source each instruction comes from, without the name of the kernel's own file; empty where all come
    from the same line, which the header names."""
    places = [instruction["source"] for instruction in kernel["instructions"]]
    known = {(place["file"], place["line"]) for place in places if place}
    if len(known) < 2:
        return []
    own = kernel["source"]["file"] if kernel["source"] else ""
    texts = []
    for place in places:
        file = "" if not place or place["file"] == own else place["file"].rsplit("/", 1)[-1] + ":"
        texts.append(f"{file}{place['line']}" if place else "")
    # A heading fits above.
    return [f"{text:6}" for text in texts]


def _cycles(cycles: float) -> str:
    return f"{cycles:.2f}" if cycles else "-"


def _latency(cycles: int | None) -> str:
    """Cycles of an instruction on a path; nothing for one that is not on it."""
    return "" if cycles is None else str(cycles)
