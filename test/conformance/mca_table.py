"""The records on the corpus: llvm-mca's output (`recorded/`), the expected result of each case, and exceptions.

`recorded/GROUP.json` holds the facts of the cases of a group with all results masked, so that tests need no llvm-mca.
Lists of instructions, messages, rows and sections that several of its cases share are there once. `expected.toml` has a
line for each case: `alike`, or `differs: ASPECTS`. `exceptions.toml` lists the intended differences, with a reason
each. `bench/conformance.py --record` and `--update` write the first two.
"""

from __future__ import annotations

import fnmatch
import itertools
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from mca_cases import HERE, Case
from mca_masks import TEXT, Difference, Facts, Section, differences

RECORDED = HERE / "recorded"
EXPECTED = HERE / "expected.toml"
EXCEPTIONS = HERE / "exceptions.toml"


class Exception_(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Intended differences: in these cases, aspects and sections, which are patterns."""

    aspect: str
    reason: str
    cases: tuple[str, ...] = ("*",)
    cpus: tuple[str, ...] = ()
    """The cores that cases are for, if the exception holds for some cores only."""
    where: str = "*"


def read_exceptions() -> list[Exception_]:
    """Return all exceptions."""
    return msgspec.toml.decode(EXCEPTIONS.read_bytes(), type=dict[str, list[Exception_]])["exception"]


def names(pattern: str, case: Case) -> bool:
    """Whether a pattern of exceptions.toml is about a case."""
    return fnmatch.fnmatchcase(case.name, pattern)


def cpu_of(case: Case) -> str:
    """The processor that a case names, "" for none; the last one of several."""
    found = [argument.partition("=")[2] for argument in case.args if re.match(r"--?mcpu=", argument)]
    return found[-1] if found else ""


def _excepts(exception: Exception_, case: Case, difference: Difference) -> bool:
    return (
        fnmatch.fnmatchcase(difference.aspect, exception.aspect)
        and fnmatch.fnmatchcase(difference.section, exception.where)
        and any(names(pattern, case) for pattern in exception.cases)
        and (not exception.cpus or cpu_of(case) in exception.cpus)
    )


def judged(
    case: Case, expected: Facts, got: Facts, exceptions: list[Exception_]
) -> tuple[list[Difference], list[Difference]]:
    """The differences of a case, and those of them that are excepted."""
    counted: list[Difference] = []
    excepted: list[Difference] = []
    for each in differences(expected, got):
        (excepted if any(_excepts(e, case, each) for e in exceptions) else counted).append(each)
    return counted, excepted


def _packed(numbers: list[int]) -> list[int | list[int]]:
    """Numbers with those that repeat themselves as [number, times]."""
    runs = [(number, len(list(each))) for number, each in itertools.groupby(numbers)]
    return [number if times == 1 else [number, times] for number, times in runs]


def _unpacked(packed: list[Any]) -> list[int]:
    return [number for each in packed for number in ([each] if isinstance(each, int) else [each[0]] * each[1])]


def _joined(rows: list[str], texts: list[str]) -> list[str]:
    """The lines of a section, whose instructions stand behind those rows that end in TEXT."""
    left = iter(texts)
    return [row + next(left) if row.endswith(TEXT) else row for row in rows]


def read_recorded() -> dict[str, Facts]:
    """Return what llvm-mca printed, by case."""
    return {name: facts for file in sorted(RECORDED.glob("*.json")) for name, facts in _read_group(file).items()}


def _read_group(file: Path) -> dict[str, Facts]:
    document = json.loads(file.read_text("utf-8"))
    texts, messages, rows = document["texts"], document["messages"], document["rows"]
    shared = [
        Section(title, _joined([rows[each] for each in _unpacked(packed)], texts[n]))
        for title, packed, n in document["sections"]
    ]
    return {
        name: Facts(status, messages[n], [shared[each] for each in sections])
        for name, (status, n, sections) in document["cases"].items()
    }


class _Table(dict[str, int]):
    """Values as JSON, each with its number."""

    def number(self, value: object) -> int:
        return self.setdefault(json.dumps(value, ensure_ascii=False), len(self))

    def written(self) -> str:
        return "[\n" + ",\n".join(self) + "\n]"


def write_recorded(facts: dict[str, Facts], version: str) -> None:
    """Write what llvm-mca printed, a file for each group of cases."""
    RECORDED.mkdir(exist_ok=True)
    match = re.search(r"version (\S+)", version)
    # Names that begin with their group stand together once they are sorted.
    for group, names in itertools.groupby(sorted(facts), key=lambda name: name.partition("/")[0]):
        text = _group_text({name: facts[name] for name in names}, match[1] if match else "")
        (RECORDED / f"{group}.json").write_text(text, "utf-8")


def _group_text(facts: dict[str, Facts], version: str) -> str:
    """Return the file of a group, with a line for each list of instructions, message, row, section and case."""
    texts, messages, rows, sections = _Table(), _Table(), _Table(), _Table()
    cases = []
    for name, each in facts.items():
        numbers = []
        for section in each.sections:
            before = [line[: line.index(TEXT) + 1] if TEXT in line else line for line in section.lines]
            packed = _packed([rows.number(row) for row in before])
            number = texts.number([line.partition(TEXT)[2] for line in section.lines if TEXT in line])
            numbers.append(sections.number([section.title, packed, number]))
        row = json.dumps([each.status, messages.number(each.stderr), numbers])
        cases.append(f"{json.dumps(name)}: {row}")
    text = f'{{"llvm-mca": "{version}",\n"texts": {texts.written()},\n"messages": {messages.written()},\n'
    text += f'"rows": {rows.written()},\n"sections": {sections.written()},\n'
    return text + '"cases": {\n' + ",\n".join(cases) + "\n}}\n"


def verdict(case: Case, found: list[Difference]) -> str:
    """The case's line in expected.toml."""
    return f"differs: {', '.join(dict.fromkeys(each.aspect for each in found))}" if found else "alike"


def read_expected() -> dict[str, str]:
    """What is expected of each case."""
    with open(EXPECTED, "rb") as f:
        return tomllib.load(f)


def write_expected(verdicts: dict[str, str], keep: bool) -> None:
    """Write the table; with `keep`, the lines of other cases stay."""
    rows = {**(read_expected() if keep and EXPECTED.exists() else {}), **verdicts}
    EXPECTED.write_text(
        "# Written by bench/conformance.py --update: which cases are alike, and in what the others differ.\n"
        + "".join(f'"{name}" = "{rows[name]}"\n' for name in sorted(rows)),
        "utf-8",
    )
