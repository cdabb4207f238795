"""Readers of what llvm-mca prints, as scripts have them: one of its text and one of its JSON.

They follow LLVM's documentation of the tool (CommandGuide/llvm-mca) and are strict: a line that does not belong to a
section raises ValueError, so what passes has sections, columns and rows as llvm-mca has them. Both give regions as
plain dictionaries.
"""

from __future__ import annotations

import re
from typing import Any

STAGES = ("dispatched", "ready", "issued", "executed", "retired")


def parse_text(text: str) -> list[dict[str, Any]]:
    """The regions of a text."""
    lines = text.split("\n")
    if lines.pop() != "":
        raise ValueError("the last line has no end")
    starts = [n for n, line in enumerate(lines) if re.match(r"\[\d+\] Code Region( - .*)?$", line)]
    if not starts:
        return [_Region(lines, "").read()]
    if starts[0] != 1:
        raise ValueError(f"lines before the first heading: {lines[: starts[0]]}")
    regions = []
    for number, (start, end) in enumerate(zip(starts, [*(s - 1 for s in starts[1:]), len(lines)], strict=True)):
        if lines[start - 1] or lines[start + 1] or not lines[start].startswith(f"[{number}]"):
            raise ValueError(f"not a heading of region {number}: {lines[start - 1 : start + 2]}")
        regions.append(_Region(lines[start + 2 : end], lines[start].partition(" - ")[2]).read())
    return regions


def parse_json(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The regions of a document, as far as JSON has them in the form of text."""
    _keys(document, {"CodeRegions", "SimulationParameters", "TargetInfo"}, {"Incc"})
    _keys(document["TargetInfo"], {"CPUName", "Resources"})
    _keys(document["SimulationParameters"], {"-march", "-mcpu", "-mtriple"}, None)
    columns = [str(name).partition(".")[0] for name in document["TargetInfo"]["Resources"]]
    return [_region_of_json(region, columns) for region in document["CodeRegions"]]


def _region_of_json(region: dict[str, Any], columns: list[str]) -> dict[str, Any]:
    optional = {
        "DispatchStatistics",
        "InstructionInfoView",
        "ResourcePressureView",
        "SummaryView",
        "TimelineView",
    }
    _keys(region, {"Instructions", "Name"}, optional)
    texts = region["Instructions"]
    if not all(isinstance(text, str) and text for text in texts):
        raise ValueError(f"not instructions: {texts}")
    made: dict[str, Any] = {"name": region["Name"]}
    if "SummaryView" in region:
        view = region["SummaryView"]
        whole = {"Iterations", "Instructions", "TotalCycles", "TotaluOps", "DispatchWidth"}
        _keys(view, {*whole, "uOpsPerCycle", "IPC", "BlockRThroughput"})
        if not all(isinstance(view[key], int) for key in whole):
            raise ValueError(f"not whole: {view}")
        names = {"TotalCycles": "Total Cycles", "TotaluOps": "Total uOps", "DispatchWidth": "Dispatch Width"}
        names |= {"uOpsPerCycle": "uOps Per Cycle", "BlockRThroughput": "Block RThroughput"}
        made["summary"] = {names.get(key, key): float(value) for key, value in view.items()}
    if "InstructionInfoView" in region:
        rows = region["InstructionInfoView"]["InstructionList"]
        made["info"] = [_info_of_json(row, n, texts[n]) for n, row in enumerate(rows)]
    if "DispatchStatistics" in region:
        _keys(region["DispatchStatistics"], {"RAT", "RCU", "SCHEDQ", "LQ", "SQ", "GROUP", "USH"})
        made["stalls"] = region["DispatchStatistics"]
    if "ResourcePressureView" in region:
        cells = {}
        for cell in region["ResourcePressureView"]["ResourcePressureInfo"]:
            _keys(cell, {"InstructionIndex", "ResourceIndex", "ResourceUsage"})
            cells[cell["InstructionIndex"], cell["ResourceIndex"]] = cell["ResourceUsage"]
        made["resources"] = columns
        made["pressure"] = [[cells.get((n, c), 0) for c, _ in enumerate(columns)] for n in range(len(texts) + 1)]
    if "TimelineView" in region:
        made["timeline"] = []
        for n, row in enumerate(region["TimelineView"]["TimelineInfo"]):
            _keys(row, {f"Cycle{stage.capitalize()}" for stage in STAGES})
            event = {stage: row[f"Cycle{stage.capitalize()}"] for stage in STAGES}
            made["timeline"].append({"iteration": n // len(texts), "instruction": n % len(texts), **event})
    return made


def _info_of_json(row: dict[str, Any], number: int, text: str) -> dict[str, Any]:
    facts = ("mayLoad", "mayStore", "hasUnmodeledSideEffects")
    _keys(row, {"Instruction", "Latency", "NumMicroOpcodes", "RThroughput", *facts})
    if row["Instruction"] != number or not all(isinstance(row[fact], bool) for fact in facts):
        raise ValueError(f"not the instruction {number}: {row}")
    return {
        "uops": row["NumMicroOpcodes"],
        "latency": row["Latency"],
        "rthroughput": row["RThroughput"],
        "MayLoad": row["mayLoad"],
        "MayStore": row["mayStore"],
        "HasSideEffects (U)": row["hasUnmodeledSideEffects"],
        "text": text,
    }


def _keys(value: dict[str, Any], needed: set[str], optional: set[str] | None = frozenset()) -> None:  # type: ignore[assignment]
    """Raises ValueError if keys are missing, or there are others (none are asked after for `optional=None`)."""
    if not needed <= set(value) or (optional is not None and set(value) - needed - optional):
        raise ValueError(f"keys {sorted(value)}, not {sorted(needed)}")


class _Region:
    """The lines of one region, read from the first to the last."""

    def __init__(self, lines: list[str], name: str) -> None:
        self.lines = lines
        self.at = 0
        self.found: dict[str, Any] = {"name": name}

    def read(self) -> dict[str, Any]:
        if self.next().startswith("Iterations: "):
            self.summary()
        sections = {
            "No resource or data dependency bottlenecks discovered.": self.no_bottleneck,
            "Instruction Info:": self.info,
            "Dynamic Dispatch Stall Cycles:": self.stalls,
            "Dispatch Logic - number of cycles where we saw N micro opcodes dispatched:": self.dispatched,
            "Schedulers - number of cycles where we saw N micro opcodes issued:": self.issued,
            "Retire Control Unit - number of cycles where we saw N instructions retired:": self.retired,
            "Register File statistics:": self.registers,
            "Resources:": self.resources,
            "Timeline view:": self.timeline,
            "Average Wait times (based on the timeline view):": self.waits,
        }
        order = [*sections]
        last = -1
        while self.at < len(self.lines):
            self.take("")
            self.take("")
            line = self.take()
            if line.startswith("Cycles with backend pressure increase "):
                section, place = self.bottleneck, 0
            elif line in sections:
                section, place = sections[line], order.index(line)
            else:
                raise ValueError(f"no section {line!r}")
            if place <= last:
                raise ValueError(f"{line!r} is not in its place")
            last = place
            section()
        return self.found

    def next(self) -> str:
        """The line that is next, an empty one behind the end."""
        return self.lines[self.at] if self.at < len(self.lines) else ""

    def take(self, expected: str | None = None) -> str:
        """The next line, which is the expected one."""
        if self.at == len(self.lines):
            raise ValueError(f"ends before {expected!r}")
        line = self.lines[self.at]
        if expected is not None and line != expected:
            raise ValueError(f"{line!r} in place of {expected!r}")
        self.at += 1
        return line

    def match(self, pattern: str) -> re.Match[str]:
        """The next line, which fits the pattern."""
        line = self.take()
        found = re.fullmatch(pattern, line)
        if found is None:
            raise ValueError(f"{line!r} does not fit {pattern!r}")
        return found

    def summary(self) -> None:
        summary = {}
        for name in ("Iterations", "Instructions", "Total Cycles", "Total uOps"):
            summary[name] = float(self.match(f"{name + ':':<18} (\\d+)")[1])
        self.take("")
        summary["Dispatch Width"] = float(self.match(r"Dispatch Width:    (\d+)")[1])
        for name, digits in (("uOps Per Cycle", 2), ("IPC", 2), ("Block RThroughput", 1)):
            summary[name] = float(self.match(f"{name + ':':<18} (\\d+\\.\\d{{{digits}}})")[1])
        self.found["summary"] = summary

    def no_bottleneck(self) -> None:
        self.found["bottleneck"] = None

    def bottleneck(self) -> None:
        self.at -= 1
        share = r" *\[ (\d+\.\d\d)% \]"
        found: dict[str, Any] = {"increase": float(self.match(f"Cycles with backend pressure increase{share}")[1])}
        self.take("Throughput Bottlenecks: ")
        found["resources"] = float(self.match(f"  Resource Pressure      {share}")[1])
        found["by_resource"] = []
        while self.next().startswith("  - "):
            row = self.match(f"  - (\\S+) {share}")
            found["by_resource"].append((row[1], float(row[2])))
        found["data"] = float(self.match(f"  Data Dependencies:     {share}")[1])
        found["registers"] = float(self.match(f"  - Register Dependencies{share}")[1])
        found["memory"] = float(self.match(f"  - Memory Dependencies  {share}")[1])
        found["sequence"] = []
        found["rows"] = []
        if self.lines[self.at : self.at + 2] == ["", "Critical sequence based on the simulation:"]:
            self.at += 2
            self.take("")
            self.take(f"{'':14}{'Instruction':<44}Dependency Information")
            while self.next() != "":
                self.step(found)
        self.found["bottleneck"] = found

    def step(self, found: dict[str, Any]) -> None:
        """A line of the critical sequence."""
        if self.next() == " |":
            self.take(" |")
            self.take(" |    < loop carried > ")
            self.take(" |")
            found["rows"].append(("carried", -1, ""))
            return
        kind = r"## (MEMORY) dependency\.|## (REGISTER) dependency:  (\S+)"
        kind += r"|## (RESOURCE) interference:  (\S+) \[ probability: (\d+)% \]"
        lead = r"( \+----< | \+----> | \|      |        )"
        row = self.match(f"{lead}(\\d+)\\. +(\\S.*?)(?: +(?:{kind}))?")
        arrow, number, text = row[1].strip(), int(row[2]), row[3]
        if (row[4] or row[5] or row[7] or "") == "" and arrow == "+---->":
            raise ValueError(f"an arrow without dependency: {row[0]!r}")
        found["rows"].append((arrow, number, text))
        if arrow.startswith("+"):
            step: dict[str, Any] = {"instruction": number, "text": text, "kind": "", "via": ""}
            if arrow == "+---->":
                step["kind"] = (row[4] or row[5] or row[7]).lower()
                step["via"] = row[6] or row[8] or ""
                step |= {"probability": int(row[9])} if row[9] else {}
            found["sequence"].append(step)

    def info(self) -> None:
        legend = []
        while self.next() != "":
            found = self.match(r"\[(\d+)\]: (.+)")
            legend.append(found[2])
            if int(found[1]) != len(legend):
                raise ValueError(f"column {found[0]!r} is not number {len(legend)}")
        if legend[:3] != ["#uOps", "Latency", "RThroughput"]:
            raise ValueError(f"columns {legend}")
        self.take("")
        coded = legend[-1] == "Encoding Size"
        heads = "".join(f"[{n}]    " for n, _ in enumerate(legend, 1))
        self.take(heads + ("Encodings:                    " if coded else "") + "Instructions:")
        marks = legend[3 : len(legend) - coded]
        self.found["info"] = rows = []
        while self.next() != "":
            found = self.match(r" (\d+) +(\d+) +(\d+\.\d\d|-) .*")
            line = found[0]
            at = max(found.start(3) - (found[3] == "-") + 7, found.end(3) + 1)
            if found.start(2) != max(8, found.end(1) + 4) or (found[3] != "-" and found.start(3) < 14):
                raise ValueError(f"columns are not in their places: {line!r}")
            row = {"uops": int(found[1]), "latency": int(found[2])}
            row["rthroughput"] = None if found[3] == "-" else float(found[3])  # type: ignore[assignment]
            for mark in marks:
                cell = line[at : at + 7]
                letter = "U" if mark == "HasSideEffects (U)" else "*"
                if cell not in (f" {letter}     ", "       "):
                    raise ValueError(f"{cell!r} in column {mark} of {line!r}")
                row[mark] = cell[1] == letter
                at += 7
            if coded:
                size = int(line[at : at + 7])
                code = line[at + 7 : at + 7 + 3 * size]
                row["encoding"] = bytes.fromhex(code).hex()  # type: ignore[assignment]
                end = at + 7 + max(30, 3 * size + 1)
                if line[at + 7 + 3 * size : end].strip():
                    raise ValueError(f"no blanks behind the encoding of {line!r}")
                at = end
            if not line[at:] or line[at] == " ":
                raise ValueError(f"no instruction at column {at} of {line!r}")
            rows.append({**row, "text": line[at:]})

    def stalls(self) -> None:
        names = {
            "RAT": "Register unavailable:",
            "RCU": "Retire tokens unavailable:",
            "SCHEDQ": "Scheduler full:",
            "LQ": "Load queue full:",
            "SQ": "Store queue full:",
            "GROUP": "Static restrictions on the dispatch group:",
            "USH": "Uncategorised Structural Hazard:",
        }
        found = {}
        for short, name in names.items():
            found[short] = int(self.match(rf"{short:<7} - {name:<42} (0|[1-9]\d*  \(\d+\.\d%\))")[1].split()[0])
        self.found["stalls"] = found

    def histogram(self, head: str, blanks: str) -> list[tuple[int, int]]:
        self.take(f"[# {head}], [# cycles]")
        rows = []
        while self.next().startswith(" "):
            found = self.match(rf" (\d+),{blanks}(\d+)  \(\d+\.\d%\)")
            rows.append((int(found[1]), int(found[2])))
        return rows

    def dispatched(self) -> None:
        self.found["dispatched"] = self.histogram("dispatched", " {14}")

    def issued(self) -> None:
        self.found["issued"] = self.histogram("issued", " {10}")
        self.take("")
        self.take("Scheduler's queue usage:")
        self.found["schedulers"] = rows = []
        if self.next().startswith("No "):
            self.take("No scheduler resources used.")
            return
        self.take("[1] Resource name.")
        self.take("[2] Average number of used buffer entries.")
        self.take("[3] Maximum number of used buffer entries.")
        self.take("[4] Total number of buffer entries.")
        self.take("")
        self.take(" [1]            [2]        [3]        [4]")
        while self.next() != "":
            found = self.match(r"(\S+) +(\d+) +(\d+) +(\d+)")
            if [found.start(n) for n in (2, 3, 4)] != [
                max(column, found.end(n) + 1) for n, column in ((1, 17), (2, 28), (3, 39))
            ]:
                raise ValueError(f"columns are not in their places: {found[0]!r}")
            rows.append({"name": found[1], "average": int(found[2]), "most": int(found[3]), "entries": int(found[4])})

    def retired(self) -> None:
        self.found["retired"] = self.histogram("retired", " {10,11}")
        self.take("")
        entries = int(self.match(r"Total ROB Entries: {16}(\d+)")[1])
        share = r"(\d+)  \( \d+\.\d% \)"
        most = int(self.match(f"Max Used ROB Entries: {{13}}{share}")[1])
        average = int(self.match(f"Average Used ROB Entries per cy: {{2}}{share}")[1])
        self.found["reorder_buffer"] = {"entries": entries, "most": most, "average": average}

    def registers(self) -> None:
        mappings = int(self.match(r"Total number of mappings created: {4}(\d+)")[1])
        most = int(self.match(r"Max number of mappings used: {9}(\d+)")[1])
        self.found["registers"] = files = [{"name": "", "entries": 0, "mappings": mappings, "most": most}]
        while self.lines[self.at : self.at + 2] and self.lines[self.at + 1 : self.at + 2] != [""]:
            self.take("")
            found = self.match(r"\*  Register File #(\d+) -- (\S+):")
            file: dict[str, Any] = {"number": int(found[1]), "name": found[2]}
            for key, name in (
                ("entries", "Number of physical registers:"),
                ("mappings", "Total number of mappings created:"),
                ("most", "Max number of mappings used:"),
            ):
                file[key] = int(self.match(rf"   {name:<33} (\d+)")[1])
            file["moves"] = {"candidates": 0, "eliminated": 0, "zero": 0, "most": 0}
            if self.next().startswith("   "):
                share = r"(\d+)  \(\d+\.\d%\)"
                file["moves"] = {
                    "candidates": int(self.match(r"   Number of optimizable moves:      (\d+)")[1]),
                    "eliminated": int(self.match(f"   Number of moves eliminated:       {share}")[1]),
                    "zero": int(self.match(f"   Number of zero moves:             {share}")[1]),
                    "most": int(self.match(r"   Max moves eliminated per cycle:   (\d+)")[1]),
                }
            files.append(file)

    def resources(self) -> None:
        names, labels = [], []
        while self.next() != "":
            found = self.match(r"(\[(\d+)(?:\.(\d+))?\]) +- (\S+)")
            if found[0].index("- ") != max(6, len(found[1]) + 1):
                raise ValueError(f"name is not in its place: {found[0]!r}")
            labels.append(found[1])
            names.append(found[4])
        self.take("")
        self.take("")
        heads = ""
        for n, label in enumerate(labels, 1):
            heads = (heads + label).ljust(7 * n)
        self.take("Resource pressure per iteration:")
        self.take(heads)
        total, rest = self.cells(self.take(), len(names))
        if rest:
            raise ValueError(f"{rest!r} behind the pressure of an iteration")
        self.take("")
        self.take("Resource pressure by instruction:")
        self.take(f"{heads}Instructions:")
        rows, texts = [], []
        while self.next() != "":
            cells, text = self.cells(self.take(), len(names))
            rows.append(cells)
            texts.append(text)
        self.found |= {"resources": names, "labels": labels, "pressure": [*rows, total], "texts": texts}

    def cells(self, line: str, count: int) -> tuple[list[float], str]:
        """The columns of a row, each seven wide or one wider than its cell, and what is behind them."""
        cells = []
        at = 0
        for n in range(1, count + 1):
            found = re.compile(r"( - |\d+\.\d\d) *").match(line, at)
            if found is None:
                raise ValueError(f"no cell at column {at} of {line!r}")
            cells.append(0.0 if found[1] == " - " else float(found[1]))
            at = max(found.end(1) + 1, 7 * n)
            if line[found.end(1) : at].strip() or len(line) < at:
                raise ValueError(f"no blanks before column {at} of {line!r}")
        return cells, line[at:]

    def timeline(self) -> None:
        tens = "" if self.next().startswith("Index") else self.take()[10:]
        ones = self.match(r"Index {5}([\d ]+)")[1]
        if len(tens) != (len(ones) if len(ones) > 10 else 0):
            raise ValueError(f"headers of different width: {tens!r}, {ones!r}")
        for cycle in range(len(ones)):
            digits = (" ", str(cycle % 10)) if cycle // 10 % 2 else (str(cycle % 10), " ")
            if ones[cycle] != digits[0] or tens[cycle : cycle + 1] not in ((digits[1],) if tens else ("",)):
                raise ValueError(f"cycle {cycle} of the header: {tens!r}, {ones!r}")
        self.found["timeline"] = rows = []
        self.found["last"] = len(ones) - 1
        self.found["truncated"] = False
        if not self.next().startswith("Truncated"):
            self.take("")
        while self.next() != "":
            if self.next().startswith("Truncated"):
                self.take("Truncated display due to cycle limit")
                self.found["truncated"] = True
                break
            found = self.match(r"\[(\d+),(\d+)\] +.*")
            at = max(10, found[0].index("]") + 2)
            chart, text = found[0][at : at + len(ones)], found[0][at + len(ones) :]
            if not re.fullmatch(r"[. ]*D=*e*E?-*R?[. ]*", chart) or not re.match(r"   \S", text):
                raise ValueError(f"no row of the timeline: {found[0]!r}")
            rows.append({"iteration": int(found[1]), "instruction": int(found[2]), **_life(chart), "text": text[3:]})

    def waits(self) -> None:
        self.take("[0]: Executions")
        self.take("[1]: Average time spent waiting in a scheduler's queue")
        self.take("[2]: Average time spent waiting in a scheduler's queue while ready")
        self.take("[3]: Average time elapsed from WB until retire stage")
        self.take("")
        self.take("      [0]    [1]    [2]    [3]")
        self.found["waits"] = rows = []
        while self.next() != "":
            found = self.match(r"(\d+\.|) +(\d+) +(\d+\.\d) +(\d+\.\d) +(\d+\.\d) +(\S.*)")
            ends = [max(found.end(n) + 1, column) for n, column in enumerate((7, 13, 20, 27, 34), 1)]
            ends[-1] += 3
            if [found.start(n) for n in (2, 3, 4, 5, 6)] != ends:
                raise ValueError(f"columns are not in their places: {found[0]!r}")
            numbers = {"queue": float(found[3]), "ready": float(found[4]), "writeback": float(found[5])}
            rows.append({"executions": int(found[2]), **numbers, "text": found[6]})
            if found[1] != ("" if found[6] == "<total>" else f"{len(rows) - 1}."):
                raise ValueError(f"{found[0]!r} is not row {len(rows) - 1}")


def _life(chart: str) -> dict[str, int]:
    """The cycles of a row; a chart does not tell when an instruction was ready."""
    dispatched = chart.index("D")
    executed = chart.find("E")
    retired = chart.find("R")
    if executed < 0:
        executed = issued = dispatched
    else:
        issued = chart.find("e")
        issued = executed if issued < 0 else issued
    return {
        "dispatched": dispatched,
        "issued": issued,
        "executed": executed,
        "retired": executed if retired < 0 else retired,
    }
