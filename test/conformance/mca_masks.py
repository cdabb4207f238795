"""What is alike in two outputs of llvm-mca, or of a tool in its place: the outputs with every result masked.

`masked` turns an output into a `Facts`: the part that does not depend on how good or bad the analysis is. `differences`
compares two of them. Nothing here knows which of two outputs is whose.

What is masked, and what is not
-------------------------------
Numbers: a result (cycles, µops, latencies, throughputs, pressures, percentages, entries, averages) becomes `#` and
keeps the width of its column, so a number that stands one column off is seen. An empty cell (` -     `) is a number,
for how much a resource is used is a result. Compared as they are: `Iterations:` and `Instructions:`, indices of
instructions, encodings and their sizes, the flags `*` and `U`, names of resources, register files and schedulers, all
digits in the text of an instruction, lines and columns in messages.

Shapes: what has as many lines or characters as the results ask for is held against a grammar instead.
- Histograms (`[# dispatched], [# cycles]`): one row or more of the row's form count as one.
- Timelines: the two lines of cycles are digits and blanks; each row is `[iteration,index]`, `D=*e*E?-*R?` among blanks
  and dots, three blanks, the instruction; rows follow each other without a gap, and all instructions begin in the same
  column. A timeline that `Truncated display due to cycle limit` cuts off earlier is alike if what it has is.
- Schedulers: `No scheduler resources used.` is alike to a table of them.
- The bottleneck analysis is alike whatever it finds, if each line is one that such an analysis can have.
- `(12.3%)` behind a number of stalled cycles, and the four lines about move elimination of a register file, are there
  or not.
- JSON: the same keys with the same types of values everywhere; lists of as many elements, but for those of results
  (`ResourcePressureInfo`, `TimelineInfo`, `DependenceEdge` …), whose elements have to be of the same form. Strings are
  compared, integers and fractions are both numbers. What is under `Incc` is not looked at.

Messages: the name with which a tool calls itself is masked. Lines `note: …` that llvm-mca has not, by which incc-mca
says that an option has no effect, or which core's model it took, are left out; they are no errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

TEXT = "¦"  # between a row and the instruction at its end
ASPECTS = ("sections", "rows", "text", "stderr", "status")


class Section(msgspec.Struct, frozen=True):
    """A view of one region: its heading and its lines, each with TEXT between what is masked and the instruction."""

    title: str
    lines: list[str]


class Facts(msgspec.Struct, frozen=True):
    """An output without its results: `sections` of text or, of JSON, one with a line for each value."""

    status: int
    stderr: list[str]
    sections: list[Section]

    def plain(self) -> dict[str, Any]:
        """As what JSON can hold."""
        return {"status": self.status, "stderr": self.stderr, "sections": [[s.title, s.lines] for s in self.sections]}

    @staticmethod
    def of(plain: dict[str, Any]) -> Facts:
        """The inverse of `plain`."""
        return Facts(plain["status"], plain["stderr"], [Section(t, lines) for t, lines in plain["sections"]])


# Where a section begins: a pattern of its heading, what it is called if not as its heading, and what masks its lines.
_NUMBER = r"\d+(?:\.\d+)?"
_SHARE = r"\(\s*(?:\d+\.\d+|inf|-?nan)%\s?\)"
_BLANK = re.compile(r"\s*")


def _numbers(line: str) -> str:
    """A line with each number as `#`, as wide as number and blanks were; without that width at the end of the line."""

    def mask(found: re.Match[str]) -> str:
        return "#" if found.end() == len(line) and not found[2] else "#".ljust(len(found[0]))

    return re.sub(rf"(?<![\w#.%])({_NUMBER})( *)", mask, line)


def _summary(lines: list[str]) -> list[str]:
    return [line if re.match(r"(Iterations|Instructions):", line) else _last_number(line) for line in lines]


def _last_number(line: str) -> str:
    return re.sub(rf"( *)(?:{_NUMBER}|-)(?: *{_SHARE})?$", r"\1#", line)


def _stalls(lines: list[str]) -> list[str]:
    return [re.sub(rf"\d+(?:  {_SHARE})?$", "#", line) for line in lines]


_HISTOGRAM_ROW = re.compile(rf" (\d+),\s+(\d+) +{_SHARE}$")


def _histogram(lines: list[str]) -> list[str]:
    """Rows of ` 3,         98  (32.0%)` as one; the second column begins at the same place in all with one digit."""
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
    """Rows of `SKLPortAny       40         60         60`, whose first word is a name."""
    made = []
    for line in lines:
        row = re.fullmatch(r"(\S+)( +)(\d.*)", line)
        if row and not line.startswith("["):
            name, rest = row[1], re.sub(r"(\d+)( *)", lambda m: "#".ljust(len(m[0])) if m[2] else "#", row[3])
            # Names are filled up to the same column, unless they are longer.
            made.append(f"{name}{' ' * len(row[2])}{rest}")
        else:
            made.append(line)
    return made


_MOVES = re.compile(r"   (Number of (optimizable moves|moves eliminated|zero moves)|Max moves eliminated per cycle):.*")


def _register_files(lines: list[str]) -> list[str]:
    return [_last_number(line) if ":" in line else line for line in lines if not _MOVES.match(line)]


def _wide_cells(line: str, cells: int) -> str | None:
    """What stands behind the cells of a row in which a number has more than six digits; None where it is no such row.
    What follows such a number is one blank further, until blanks make up for it."""
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
    """Cells of seven columns, as many as the header has, and the instruction."""
    made: list[str] = []
    cells = 0
    for line in lines:
        if re.match(r"(\[[\d.]+\] +)+(Instructions:)?$", line):
            cells = len(re.findall(r"\[[\d.]+\]", line))
            made.append(line)
            continue
        found = [line[n * 7 : n * 7 + 7] for n in range(cells)]
        if cells and found[-1] and all(re.fullmatch(r"(?: -  |\d+\.\d\d) *", f) and len(f) == 7 for f in found):
            text = line[cells * 7 :]
            made.append("#" * cells + (f"{TEXT}{text}" if text else ""))
        elif cells and (text_behind := _wide_cells(line, cells)) is not None:
            made.append("#" * cells + (f"{TEXT}{text_behind}" if text_behind else ""))
        else:
            made.append(line)
    return made


def _info_numbers(uops: str, latency: str, throughput: str) -> str:
    """The three numbers of a row as llvm-mca fills them up: to three digits before the point, more push."""
    before_point = len(throughput.partition(".")[0])
    last = " -     " if throughput == "-" else throughput + " " * (1 + max(3 - before_point, 0))
    return f" {uops}{' ' * (4 + max(3 - len(uops), 0))}{latency}{' ' * (3 + max(3 - len(latency), 0))}{last}"


def _info(lines: list[str]) -> list[str]:
    """Three numbers, flags, perhaps the size of the encoding and the encoding, and the instruction."""
    made = []
    columns: list[int] = []
    encoded = False
    for line in lines:
        if re.match(r"\[1\] +\[2\]", line):
            columns = [found.start() for found in re.finditer(r"\[\d+\]", line)]
            encoded = "Encodings:" in line
            made.append(line)
            continue
        row = re.match(r" (\d+) +(\d+) +(\d+\.\d\d|-) ", line) if columns else None
        head = _info_numbers(row[1], row[2], row[3]) if row else ""
        if not head or not line.startswith(head):
            made.append(line)
            continue
        # Wider numbers push what follows.
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
    """The first iteration's instructions, how many iterations there are, and whether the timeline is cut off."""
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
            if "<cycles>" not in made:  # one line of cycles, or two: tens are there if the timeline is longer than ten
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
    # Blank lines at the end belong to what follows.
    return made + [""] * sum(1 for _ in _trailing(lines))


def _trailing(lines: list[str]) -> Iterable[str]:
    for line in reversed(lines):
        if line:
            return
        yield line


def _waits(lines: list[str]) -> list[str]:
    """Where the columns of a row begin, if it has the number that is due; `<total>` has none."""
    made: list[str] = []
    due = 0
    for line in lines:
        row = re.match(r"(\d+\.|  ) +(\d+ +)((?:-?\d+\.\d|-) +)((?:-?\d+\.\d|-) +)((?:-?\d+\.\d|-) +)(\S.*)", line)
        if row:
            number = "N." if row[1] == f"{due}." else row[1]
            due += 1
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
    odd = [line for line in lines if not any(each.fullmatch(line) for each in _BOTTLENECK)]
    return [*odd, *([""] * sum(1 for _ in _trailing(lines)))]


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


def text_sections(output: str) -> list[Section]:
    """The sections of llvm-mca's text, masked."""
    found: list[tuple[str, Callable[[list[str]], list[str]], list[str]]] = [("", _as_is, [])]
    for line in output.split("\n"):
        for pattern, title, mask in _SECTIONS:
            if pattern.match(line):
                found.append((title or line, mask, [line] if title else []))
                break
        else:
            found[-1][2].append(line)
    return [Section(title, mask(lines)) for title, mask, lines in found if title or lines]


# Lists whose length is a result.
_OPEN_LISTS = ("ResourcePressureInfo", "TimelineInfo", "DependenceEdge", "BottleneckAnalysis", "Usage")

_ELEMENTS = {"ResourcePressureInfo": "{InstructionIndex #, ResourceIndex #, ResourceUsage #}"}


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
            # Which instruction an element is about is its value here, not its place.
            lines = {line for each in value for line in _json_lines(each, f"{path}[]")}
            found = {re.sub(r"\bInstruction \d+", "Instruction #", line) for line in lines}
            # An instruction that takes nothing has no element, and a list may be empty.
            yield from sorted(found - {f"{path}[]: {_ELEMENTS.get(key)}"})
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
    """Flags are facts of instructions, as in the text form; so are the numbers that count them."""
    if isinstance(value, bool) or value is None or key in ("Instruction", "Iterations", "Instructions"):
        return json.dumps(value)
    return "#"


def json_sections(value: object) -> list[Section]:
    """A document of llvm-mca's JSON, masked: a section for each key of the document, a line for each value."""
    if not isinstance(value, dict):
        return [Section("JSON", list(_json_lines(value, "")))]
    return [Section(f"JSON {key}", list(_json_lines(value[key], key))) for key in sorted(value) if key != "Incc"]


def sections(output: str) -> list[Section]:
    """The sections of an output of either form."""
    if output.lstrip().startswith("{"):
        try:
            return json_sections(json.loads(output))
        except ValueError:
            pass
    return text_sections(output)


# llvm-mca has three notes without a place in the file; each stands behind a warning or an error.
_OWN_NOTE = re.compile(
    r"(?:\S*(?:llvm|incc)-mca[\w.-]*: )?note: (?!call instructions are|program counter updates|instruction:)"
)


def messages(stderr: str, folder: str = "") -> list[str]:
    """The lines of standard error without the tool's name, incc's notes and the folder of temporary files."""
    made = []
    for line in stderr.replace(folder, "%t").split("\n") if folder else stderr.split("\n"):
        if _OWN_NOTE.match(line):
            continue
        line = re.sub(r"^\S*(?:llvm|incc)-mca[\w.-]*(?= ?:)", "PROGRAM", line)
        made.append(re.sub(r"(?<=[' ])[^' ]*(?:llvm|incc)-mca[\w.-]*(?= --help)", "PROGRAM", line))
    while made and not made[-1]:
        made.pop()
    return made


def masked(status: int, stdout: str, stderr: str, files: Iterable[tuple[str, str]] = (), folder: str = "") -> Facts:
    """The facts of a run; `files` are the names and texts of what it wrote, `folder` where that was."""
    found = sections(stdout) if stdout else []
    for name, text in files:
        found.append(Section(f"file {name}", []))
        found += sections(text)
    return Facts(status, messages(stderr, folder), found)


def _open_ended(lines: list[str]) -> tuple[list[str], int, bool]:
    """The lines of a timeline without its last, how many rows it has, and whether it was cut off."""
    for n, line in enumerate(lines):
        if found := re.fullmatch(r"<(\d+) rows(, truncated)?>", line):
            return lines[:n] + lines[n + 1 :], int(found[1]), found[2] is not None
    return lines, 0, False


def _alike_timelines(one: list[str], other: list[str]) -> bool:
    first, rows, cut = _open_ended(one)
    second, other_rows, other_cut = _open_ended(other)
    if not cut and not other_cut and rows != other_rows:
        return False
    if (cut and not other_cut and rows > other_rows) or (other_cut and not cut and other_rows > rows):
        return False
    texts, other_texts = ([x for x in lines if TEXT in x] for lines in (first, second))
    shorter = min(len(texts), len(other_texts))
    complete = (
        len(texts) == len(other_texts) or (cut and len(texts) == shorter) or (other_cut and len(other_texts) == shorter)
    )
    rest, other_rest = ([x for x in lines if TEXT not in x] for lines in (first, second))
    if bool(rows) != bool(other_rows):  # the blank line before the rows belongs to the first
        longer = rest if rows else other_rest
        if "<cycles>" in longer[:-1]:
            del longer[longer.index("<cycles>") + 1]
    return complete and texts[:shorter] == other_texts[:shorter] and rest == other_rest


_TIMELINE_ELEMENT = "{CycleDispatched #, CycleExecuted #, CycleIssued #, CycleReady #, CycleRetired #}"


def _rows(section: Section) -> list[str]:
    lines = [line.partition(TEXT)[0] for line in section.lines]
    # A list of events is empty if the first instruction takes longer than is shown.
    return [line for line in lines if not line.endswith(f"TimelineInfo[]: {_TIMELINE_ELEMENT}")]


_NO_QUEUE = "No scheduler resources used."


def _alike_queues(one: list[str], other: list[str]) -> bool:
    """Whether either says that no entry of any scheduler was ever used, which is a result, and ends as the other."""
    ends = [len(list(_trailing(lines))) for lines in (one, other)]
    return ends[0] == ends[1] and any(line == _NO_QUEUE for line in (*one, *other))


def _texts(found: Facts) -> list[str]:
    """The instructions of every section but timelines, which may have fewer."""
    return [
        line.partition(TEXT)[2]
        for section in found.sections
        if section.title != "Timeline view:"
        for line in section.lines
        if TEXT in line
    ]


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """In which aspect two outputs differ, where, and the lines that one has and the other has not."""

    aspect: str
    where: str
    expected: list[str]
    got: list[str]


def _unlike(expected: list[str], got: list[str]) -> tuple[list[str], list[str]]:
    """The lines between the common start and the common end."""
    start = 0
    while start < min(len(expected), len(got)) and expected[start] == got[start]:
        start += 1
    end = 0
    while end < min(len(expected), len(got)) - start and expected[-1 - end] == got[-1 - end]:
        end += 1
    return expected[start : len(expected) - end], got[start : len(got) - end]


def _difference(aspect: str, where: str, unlike: tuple[list[str], list[str]]) -> Difference:
    return Difference(aspect=aspect, where=where, expected=unlike[0], got=unlike[1])


def differences(expected: Facts, got: Facts) -> list[Difference]:
    """All differences, one an aspect and section; sections that only one has are named once, under `sections`."""
    found: list[Difference] = []
    titles, other = [s.title for s in expected.sections], [s.title for s in got.sections]
    if titles != other:
        found.append(_difference("sections", "", _unlike(titles, other)))
    left = list(got.sections)
    for section in expected.sections:
        at = next((n for n, each in enumerate(left) if each.title == section.title), None)
        if at is None:
            continue
        same = left[at]
        del left[: at + 1]
        if section.title == "Timeline view:":
            if not _alike_timelines(section.lines, same.lines):
                found.append(_difference("rows", section.title, _unlike(section.lines, same.lines)))
        elif _rows(section) != _rows(same):
            if section.title == "Scheduler's queue usage:" and _alike_queues(section.lines, same.lines):
                continue
            found.append(_difference("rows", section.title, _unlike(_rows(section), _rows(same))))
    if titles == other or _texts(got):
        texts, others = _texts(expected), _texts(got)
        if texts != others:
            # Each text once: it stands in several views.
            found.append(_difference("text", "", _unlike(list(dict.fromkeys(texts)), list(dict.fromkeys(others)))))
    elif _texts(expected):
        found.append(Difference(aspect="text", where="", expected=["instructions"], got=[]))
    if expected.stderr != got.stderr:
        found.append(_difference("stderr", "", _unlike(expected.stderr, got.stderr)))
    if expected.status != got.status:
        found.append(Difference(aspect="status", where="", expected=[str(expected.status)], got=[str(got.status)]))
    return found
