"""The comparison of two outputs of llvm-mca, or of a tool in its place, with every result masked.

`masked` turns an output into `Facts`: the part that does not depend on how good the analysis is. `differences` compares
two of them.

What is masked
--------------
Numbers: a result (cycles, µops, latencies, throughputs, pressures, percentages, entries, averages) becomes `#` and
keeps the width of its column, so that a number in the wrong column is a difference. An empty cell (` -     `) is a
number. Not masked are `Iterations:` and `Instructions:`, indices of instructions, encodings and their sizes, the flags
`*` and `U`, names of resources, register files and schedulers, and digits in the text of an instruction.

Shapes: a grammar describes what has as many lines or characters as the results require.
- Histograms (`[# dispatched], [# cycles]`): one or more rows count as one.
- Timelines: the two lines of cycles are digits and blanks; each row is `[iteration,index]`, `D=*e*E?-*R?` among blanks
  and dots, three blanks, the instruction; rows follow each other without a gap, and all instructions begin in the same
  column. Of a timeline that `Truncated display due to cycle limit` cuts off, the rows that it has are compared.
- Schedulers: `No scheduler resources used.` equals a table of schedulers.
- The bottleneck analysis may have any findings; each line must be one that such an analysis can have.
- `(12.3%)` after a number of stalled cycles is optional.
- JSON: the same keys with the same types of values; lists of the same length, except for lists of results
  (`ResourcePressureInfo`, `TimelineInfo`, `DependenceEdge` …), whose elements must have the same form. Strings are
  compared, integers and fractions are both numbers. `Incc` is ignored.

Diagnostics on standard error: the place and the kind of each (`a.s:3:9: error`), not its text. A diagnostic without
line and column, such as a mistake on the command line, shows in the exit status alone.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable

import msgspec

TEXT = "¦"
"""The separator between a row and the instruction at its end."""
ASPECTS = ("sections", "rows", "text", "diagnostics", "status")


class Section(msgspec.Struct, frozen=True):
    """A view of one region."""

    title: str
    lines: list[str]
    """Each line masked, with TEXT before its instruction."""


class Facts(msgspec.Struct, frozen=True):
    """An output without its results."""

    status: int
    stderr: list[str]
    """The lines on standard error, of which `differences` compares the `diagnostics`."""
    sections: list[Section]
    """The sections of a text; of JSON one for each key, with a line for each value."""


_NUMBER = r"\d+(?:\.\d+)?"
_SHARE = r"\(\s*(?:\d+\.\d+|inf|-?nan)%\s?\)"
_BLANK = re.compile(r"\s*")


def _numbers(line: str) -> str:
    """Return a line with each number as `#`, as wide as number and blanks are, except at the end of the line."""

    def mask(match: re.Match[str]) -> str:
        return "#" if match.end() == len(line) and not match[2] else "#".ljust(len(match[0]))

    return re.sub(rf"(?<![\w#.%])({_NUMBER})( *)", mask, line)


def _summary(lines: list[str]) -> list[str]:
    return [line if re.match(r"(Iterations|Instructions):", line) else _last_number(line) for line in lines]


def _last_number(line: str) -> str:
    return re.sub(rf"( *)(?:{_NUMBER}|-)(?: *{_SHARE})?$", r"\1#", line)


def _stalls(lines: list[str]) -> list[str]:
    return [re.sub(rf"\d+(?:  {_SHARE})?$", "#", line) for line in lines]


_HISTOGRAM_ROW = re.compile(rf" (\d+),\s+(\d+) +{_SHARE}$")


def _histogram(lines: list[str]) -> list[str]:
    """Merge rows such as ` 3,         98  (32.0%)`. In rows with one digit the second column must be aligned."""
    made: list[str] = []
    columns: set[int] = set()
    for line in lines:
        if row := _HISTOGRAM_ROW.match(line):
            columns |= {row.start(2)} if len(row[1]) == 1 else set()
            if "<histogram>" not in made:
                made.append("<histogram>")
        elif "ROB Entries" in line:
            made.append(re.sub(rf"\d+(?:  {_SHARE})?$", lambda m: "#  (#)" if "(" in m[0] else "#", line))
        else:
            made.append(line)
    return [f"<histogram, cycles in {sorted(columns)}>" if line == "<histogram>" and columns else line for line in made]


def _queues(lines: list[str]) -> list[str]:
    """Mask rows such as `SKLPortAny       40         60         60`."""
    made = []
    for line in lines:
        row = re.fullmatch(r"(\S+)( +)(\d.*)", line)
        if row and not line.startswith("["):
            name, rest = row[1], re.sub(r"(\d+)( *)", lambda m: "#".ljust(len(m[0])) if m[2] else "#", row[3])
            made.append(f"{name}{' ' * len(row[2])}{rest}")
        else:
            made.append(line)
    return made


def _register_files(lines: list[str]) -> list[str]:
    return [_last_number(line) if ":" in line else line for line in lines]


def _wide_cells(line: str, cells: int) -> str | None:
    """Return what follows the cells of a row in which a number has more than six digits, None for any other row.

    Such a number moves what follows it, until there are blanks enough to make up for it.
    """
    made = ""
    words = line.split(maxsplit=cells)[:cells]
    if len(words) < cells or max(map(len, words)) < 7:
        return None
    for n, word in enumerate(words, 1):
        if word != "-" and not re.fullmatch(_NUMBER, word):
            return None
        made += " - " if word == "-" else word
        made += " " * max(7 * n - len(made), 1)
    return line[len(made) :] if line.startswith(made) else None


def _pressure(lines: list[str]) -> list[str]:
    """Mask the cells, seven columns wide and as many as the header has, before the instruction."""
    made: list[str] = []
    cells = 0
    for line in lines:
        if re.match(r"(\[[\d.]+\] +)+(Instructions:)?$", line):
            cells = len(re.findall(r"\[[\d.]+\]", line))
            made.append(line)
            continue
        row = [line[n * 7 : n * 7 + 7] for n in range(cells)]
        if cells and row[-1] and all(re.fullmatch(r"(?: -  |\d+\.\d\d) *", cell) and len(cell) == 7 for cell in row):
            text = line[cells * 7 :]
            made.append("#" * cells + (f"{TEXT}{text}" if text else ""))
        elif cells and (text := _wide_cells(line, cells)) is not None:
            made.append("#" * cells + (f"{TEXT}{text}" if text else ""))
        else:
            made.append(line)
    return made


def _info_numbers(uops: str, latency: str, throughput: str) -> str:
    """Return the three numbers of a row in llvm-mca's layout: columns of three digits before the point."""
    before_point = len(throughput.partition(".")[0])
    last = " -     " if throughput == "-" else throughput + " " * (1 + max(3 - before_point, 0))
    return f" {uops}{' ' * (4 + max(3 - len(uops), 0))}{latency}{' ' * (3 + max(3 - len(latency), 0))}{last}"


def _info(lines: list[str]) -> list[str]:
    """Mask three numbers before the flags, the encoding with its size if it is shown, and the instruction."""
    made = []
    columns: list[int] = []
    encoded = False
    for line in lines:
        if re.match(r"\[1\] +\[2\]", line):
            columns = [match.start() for match in re.finditer(r"\[\d+\]", line)]
            encoded = "Encodings:" in line
            made.append(line)
            continue
        row = re.match(r" (\d+) +(\d+) +(\d+\.\d\d|-) ", line) if columns else None
        head = _info_numbers(row[1], row[2], row[3]) if row else ""
        if not head or not line.startswith(head):
            made.append(line)
            continue
        # Wider numbers move what follows.
        line = " " * columns[3] + line[len(head) :]
        flags = "".join(line[column : column + 7] for column in columns[3:])
        if encoded:
            flags = "".join(line[column : column + 7] for column in columns[3:-1])
            rest = re.match(r" ?(\d+) +((?:[0-9a-f]{2}(?: |$))+) *(.*)", line[columns[-1] :])
            bytes_ = f" {rest[1]} {rest[2].rstrip()} @{rest.start(2)}" if rest else "?"
            text = rest[3] if rest else line[columns[-1] :]
        else:
            bytes_, text = "", line[columns[-1] + 7 :]
        made.append(f"###{flags}{bytes_}{TEXT}{text}")
    return made


_TIMELINE_ROW = re.compile(r"\[(\d+),(\d+)\] +[ .]*D=*e*E?-*R?[ .]*?[ .]{3}([^ .].*)")
_TRUNCATED = "Truncated display due to cycle limit"


def _timeline(lines: list[str]) -> list[str]:
    """Keep the instructions of the first iteration and the number of rows, and note whether the timeline is cut off."""
    made: list[str] = []
    columns = set()
    rows: list[tuple[int, int, str]] = []
    ends = ""
    for line in lines:
        row = _TIMELINE_ROW.fullmatch(line)
        if row:
            columns.add(row.start(3))
            rows.append((int(row[1]), int(row[2]), row[3]))
        elif re.fullmatch(r"(Index)?[ 0-9]+", line) and not rows:
            if "<cycles>" not in made:  # there are two lines of cycles if there are more than ten cycles
                made.append("<cycles>")
        elif line == _TRUNCATED:
            ends = _TRUNCATED
        elif line or (not rows and not ends):
            made.append(line)
    width = max((index for _, index, _ in rows), default=-1) + 1
    for n, (iteration, index, text) in enumerate(rows):
        if (iteration, index) != divmod(n, width):
            made.append(f"a gap before [{iteration},{index}]")
            break
        if iteration and text != rows[index][2]:
            made.append(f"[{iteration},{index}] has another text: {text}")
    if len(columns) > 1:
        made.append(f"instructions in columns {sorted(columns)}")
    made += [f"[0,N]{TEXT}{text}" for _, _, text in rows[:width]]
    made.append(f"<{len(rows)} rows{', truncated' if ends else ''}>")
    return made + _blank_end(lines)


def _blank_end(lines: list[str]) -> list[str]:
    """Return the blank lines at the end, which belong to the next section."""
    return list(itertools.takewhile(lambda line: not line, reversed(lines)))


def _waits(lines: list[str]) -> list[str]:
    """Replace the cells of a row by the places where they begin. Rows are numbered, except for `<total>`."""
    made: list[str] = []
    count = 0
    for line in lines:
        row = re.match(r"(\d+\.|  ) +(\d+ +)((?:-?\d+\.\d|-) +)((?:-?\d+\.\d|-) +)((?:-?\d+\.\d|-) +)(\S.*)", line)
        if row:
            number = "N." if row[1] == f"{count}." else row[1]
            count += 1
            made.append(f"{number} {','.join(str(row.start(n)) for n in range(2, 7))}{TEXT}{row[6]}")
        else:
            made.append(line)
    return made


_BOTTLENECK = [
    re.compile(pattern)
    for pattern in (
        r"No resource or data dependency bottlenecks discovered\.",
        r"Cycles with backend pressure increase \[ \d+\.\d\d% \]",
        r"Throughput Bottlenecks: ",
        r"  Resource Pressure       \[ \d+\.\d\d% \]",
        r"  - \S+(?: \S+)*  \[ \d+\.\d\d% \]",
        r"  Data Dependencies:      \[ \d+\.\d\d% \]",
        r"  - (Register|Memory) Dependencies +\[ \d+\.\d\d% \]",
        r"Critical sequence based on the simulation:",
        r"              Instruction +Dependency Information",
        r" \+----< \d+\. +\S.*",
        r" \|    < loop carried > ",
        r" \|",
        r" (\||\+---->|      ) +\d+\. +\S.*?( +## (REGISTER|MEMORY|RESOURCE) (dependency|interference):  \S.*)?",
        r" +\d+\. +\S.*?",
        r"\s+(< loop carried > )?",
        r"",
    )
]


def _bottlenecks(lines: list[str]) -> list[str]:
    unexpected = [line for line in lines if not any(each.fullmatch(line) for each in _BOTTLENECK)]
    return [*unexpected, *_blank_end(lines)]


def _as_is(lines: list[str]) -> list[str]:
    return lines


_SECTIONS: list[tuple[re.Pattern[str], str, Callable[[list[str]], list[str]]]] = [
    (re.compile(pattern), title, mask)
    for pattern, title, mask in (
        (r"\[\d+\] Code Region( - .*)?$", "", _as_is),
        (r"Iterations: +\d", "Summary", _summary),
        (r"Instruction Info:$", "", _info),
        (r"Dynamic Dispatch Stall Cycles:$", "", _stalls),
        (r"Dispatch Logic - ", "", _histogram),
        (r"Schedulers - number", "", _histogram),
        (r"Scheduler's queue usage:$", "", _queues),
        (r"Retire Control Unit - ", "", _histogram),
        (r"Register File statistics:$", "", _register_files),
        (r"Resources:$", "", _as_is),
        (r"Resource pressure per iteration:$", "", _pressure),
        (r"Resource pressure by instruction:$", "", _pressure),
        (r"Timeline view:$", "", _timeline),
        (r"Average Wait times", "", _waits),
        (r"No resource or data dependency|Cycles with backend pressure", "Bottlenecks", _bottlenecks),
    )
]
"""The pattern of a section's heading, its title if it is not the heading, and the function that masks its lines."""


def text_sections(output: str) -> list[Section]:
    """Return the sections of llvm-mca's text, masked."""
    sections: list[tuple[str, Callable[[list[str]], list[str]], list[str]]] = [("", _as_is, [])]
    for line in output.split("\n"):
        for pattern, title, mask in _SECTIONS:
            if pattern.match(line):
                sections.append((title or line, mask, [line] if title else []))
                break
        else:
            sections[-1][2].append(line)
    return [Section(title, mask(lines)) for title, mask, lines in sections if title or lines]


_OPEN_LISTS = ("ResourcePressureInfo", "TimelineInfo", "DependenceEdge", "BottleneckAnalysis", "Usage")
"""The lists whose length is a result."""
_PRESSURE_ELEMENT = "ResourcePressureInfo[]: {InstructionIndex #, ResourceIndex #, ResourceUsage #}"


def _json_lines(value: object, path: str) -> Iterable[str]:
    key = path.rpartition(".")[2]
    if isinstance(value, dict):
        members = {name: value[name] for name in sorted(value) if name != "Incc"}
        plain = [name for name, each in members.items() if not isinstance(each, dict | list | str)]
        flags = ", ".join(f"{name} {_json_value(name, members[name])}" for name in plain)
        yield f"{path}: {{{flags}}}"
        for name, each in members.items():
            if name not in plain:
                yield from _json_lines(each, f"{path}.{name}")
    elif isinstance(value, list):
        if key.startswith(_OPEN_LISTS):
            yield f"{path}: list"
            # The instruction that an element is about is a result as well.
            lines = {
                re.sub(r"\bInstruction \d+", "Instruction #", x) for e in value for x in _json_lines(e, f"{path}[]")
            }
            # An instruction without µops has no element, so that the list may be empty.
            yield from sorted(line for line in lines if not line.endswith(_PRESSURE_ELEMENT))
        else:
            yield f"{path}: {len(value)} elements"
            for n, each in enumerate(value):
                yield from _json_lines(each, f"{path}[{n}]" if isinstance(each, dict | list) else f"{path}[]")
    elif isinstance(value, str):
        text = value.replace("\n", "\\n")
        yield f"{path}: {TEXT}{text}" if path.endswith(".Instructions[]") else f"{path}: {text}"
    else:
        yield f"{path}: {_json_value(key, value)}"


def _json_value(key: str, value: object) -> str:
    """Mask numbers, but neither flags of instructions nor the numbers that count instructions."""
    if isinstance(value, bool) or value is None or key in ("Instruction", "Iterations", "Instructions"):
        return json.dumps(value)
    return "#"


def json_sections(value: object) -> list[Section]:
    """Return the masked sections of a JSON document: one for each key, with a line for each value."""
    if not isinstance(value, dict):
        return [Section("JSON", list(_json_lines(value, "")))]
    return [Section(f"JSON {key}", list(_json_lines(value[key], key))) for key in sorted(value) if key != "Incc"]


def sections(output: str) -> list[Section]:
    """Return the sections of an output of either form."""
    if output.lstrip().startswith("{"):
        try:
            return json_sections(json.loads(output))
        except ValueError:
            pass
    return text_sections(output)


_DIAGNOSTIC = re.compile(r"(\S.*?:\d+:\d+): (error|warning|note): (.*)")


def diagnostics(stderr: list[str]) -> list[str]:
    """Return the place and the kind of each diagnostic (`a.s:3:9: error`) with line and column, once each.

    llvm-mca reads a text twice, and may repeat its diagnostics. It places a mistake in a macro or a repetition in a
    text of its own, `<instantiation>`; it counts at the statement in the file, which a note names.
    """
    found: dict[str, None] = {}
    instantiated = ""
    for line in stderr:
        if match := _DIAGNOSTIC.match(line):
            place, kind, text = match.groups()
            if place.startswith("<instantiation>"):
                instantiated = instantiated or kind
            elif instantiated and text == "while in macro instantiation":
                found[f"{place}: {instantiated}"] = None
                instantiated = ""
            else:
                found[f"{place}: {kind}"] = None
    return list(found)


def masked(status: int, stdout: str, stderr: str, files: Iterable[tuple[str, str]] = (), folder: str = "") -> Facts:
    """Return the facts of a run.

    Args:
        status: the exit status.
        stdout: the text on standard output.
        stderr: the text on standard error.
        files: the names and texts of the files that the run wrote.
        folder: the folder of the run, which is masked in file names.
    """
    found = sections(stdout) if stdout else []
    for name, text in files:
        found.append(Section(f"file {name}", []))
        found += sections(text)
    lines = (stderr.replace(folder, "%t") if folder else stderr).rstrip("\n")
    return Facts(status, lines.split("\n") if lines else [], found)


class _Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a masked timeline."""

    texts: list[str]
    rest: list[str]
    rows: int
    cut: bool


def _parts(lines: list[str]) -> _Timeline:
    end = next((n for n, line in enumerate(lines) if re.fullmatch(r"<\d+ rows(, truncated)?>", line)), None)
    others = lines if end is None else lines[:end] + lines[end + 1 :]
    return _Timeline(
        texts=[line for line in others if TEXT in line],
        rest=[line for line in others if TEXT not in line],
        rows=0 if end is None else int(lines[end][1:].split()[0]),
        cut=end is not None and "truncated" in lines[end],
    )


def _same_timelines(one: list[str], other: list[str]) -> bool:
    """Return True if two timelines are the same, as far as the shorter one goes if it is cut off."""
    first, second = sorted((_parts(one), _parts(other)), key=lambda part: part.rows)
    if first.rows != second.rows and not first.cut:
        return False
    shorter, longer = sorted((first.texts, second.texts), key=len)
    cut = first.cut if shorter is first.texts else second.cut
    if longer[: len(shorter)] != shorter or (len(shorter) != len(longer) and not cut):
        return False
    rest = list(second.rest)
    if not first.rows and second.rows and "<cycles>" in rest[:-1]:  # a blank line precedes the rows
        del rest[rest.index("<cycles>") + 1]
    return first.rest == rest


_TIMELINE_ELEMENT = "{CycleDispatched #, CycleExecuted #, CycleIssued #, CycleReady #, CycleRetired #}"


def _rows(section: Section) -> list[str]:
    lines = [line.partition(TEXT)[0] for line in section.lines]
    # There are no events if the first instruction takes longer than the timeline.
    return [line for line in lines if not line.endswith(f"TimelineInfo[]: {_TIMELINE_ELEMENT}")]


_NO_QUEUE = "No scheduler resources used."


def _same_queues(one: list[str], other: list[str]) -> bool:
    """Return True if in either no entry of a scheduler was ever used, which is a result."""
    return _blank_end(one) == _blank_end(other) and _NO_QUEUE in (*one, *other)


def _texts(facts: Facts) -> list[str]:
    """Return the instructions of all sections except for timelines, which may have fewer."""
    return [
        line.partition(TEXT)[2]
        for section in facts.sections
        if section.title != "Timeline view:"
        for line in section.lines
        if TEXT in line
    ]


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A difference between two outputs."""

    aspect: str
    section: str
    """The title of the section, "" for an aspect of the whole output."""
    expected: list[str]
    """The lines that only the expected output has."""
    got: list[str]
    """The lines that only the other output has."""


def _unlike(expected: list[str], got: list[str]) -> tuple[list[str], list[str]]:
    """Return the lines between the common start and the common end."""
    start = _equal_start(expected, got)
    expected, got = expected[start:], got[start:]
    end = _equal_start(expected[::-1], got[::-1])
    return expected[: len(expected) - end], got[: len(got) - end]


def _equal_start(one: list[str], other: list[str]) -> int:
    """Return the number of lines at the start in which both agree."""
    return len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))


def _difference(aspect: str, section: str, expected: list[str], got: list[str]) -> Difference:
    only_expected, only_got = _unlike(expected, got)
    return Difference(aspect=aspect, section=section, expected=only_expected, got=only_got)


def differences(expected: Facts, got: Facts) -> list[Difference]:
    """Return all differences, one for each aspect and section; sections that only one output has count once."""
    titles, other_titles = [s.title for s in expected.sections], [s.title for s in got.sections]
    found: list[Difference] = []
    if titles != other_titles:
        found.append(_difference("sections", "", titles, other_titles))
    found += _row_differences(expected.sections, got.sections)
    texts, other_texts = _texts(expected), _texts(got)
    if texts != other_texts:
        # A text is shown once, though it is in several views.
        found.append(_difference("text", "", list(dict.fromkeys(texts)), list(dict.fromkeys(other_texts))))
    places, other_places = diagnostics(expected.stderr), diagnostics(got.stderr)
    if places != other_places:
        found.append(_difference("diagnostics", "", places, other_places))
    if expected.status != got.status:
        found.append(Difference(aspect="status", section="", expected=[str(expected.status)], got=[str(got.status)]))
    return found


def _row_differences(expected: list[Section], got: list[Section]) -> Iterable[Difference]:
    """Yield the differences in the rows of sections that both outputs have."""
    left = list(got)
    for section in expected:
        at = next((n for n, each in enumerate(left) if each.title == section.title), None)
        if at is None:
            continue
        other = left[at]
        del left[: at + 1]
        if section.title == "Timeline view:":
            if not _same_timelines(section.lines, other.lines):
                yield _difference("rows", section.title, section.lines, other.lines)
        elif _rows(section) != _rows(other) and not (
            section.title == "Scheduler's queue usage:" and _same_queues(section.lines, other.lines)
        ):
            yield _difference("rows", section.title, _rows(section), _rows(other))
