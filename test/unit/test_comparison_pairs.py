"""The loops of two versions of a source, compiled by every compiler at hand, and what was matched.

data/pairs has the sources, with loops named in comments, and pairs.txt what became of which loop: moved, renamed,
split, fused, unrolled, with other types. Which kernel is which is read from its line; `bench/matching.py` prints the
same for other sources.
"""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec.structs import replace

import incc
from incc.comparison.match import Match, match
from incc.comparison.side import SideKernel, entries_of, in_memory
from incc.report import types as t

if TYPE_CHECKING:
    from collections.abc import Iterable

DATA = Path(__file__).parent / "data" / "pairs"
COMPILERS = ("gcc-12", "clang-19", "gcc-11", "clang-16", "clang-14")
LEVELS = ("-O2", "-O3 -march=skylake-avx512")
NAMED = {"gcc-12": "gcc"}


class Build(msgspec.Struct, frozen=True):
    """A compiled file: its kernels, and what their loops are called, "" for what is no main loop."""

    label: str
    entries: tuple[SideKernel, ...]
    names: tuple[str, ...]


class Expected(msgspec.Struct, frozen=True):
    """What may become of a loop; `certain`: it must be found."""

    names: frozenset[str]
    certain: bool


def became() -> dict[str, Expected]:
    rows = [line.split() for line in (DATA / "pairs.txt").read_text().splitlines() if not line.startswith("#")]
    return {row[0].lstrip("?"): Expected(frozenset(row[1:]), row[0][0] != "?") for row in rows}


def tags(version: str, suffix: str) -> list[str]:
    found, name = [""], ""
    for line in (DATA / f"{version}{suffix}").read_text().splitlines():
        tag = re.search(r"// loop: ([\w-]+)", line)
        name = tag[1] if tag else name
        found.append(name)
    return found


def program(compiler: str, suffix: str) -> str:
    """The compiler's command; skips where it is not there."""
    found = compiler
    if suffix == ".cpp":
        family, _, number = compiler.partition("-")
        found = f"{'g' if family == 'gcc' else 'clang'}++-{number}"
    for name in (found, found.partition("-")[0]):
        if shutil.which(name) and (name == found or compiler in NAMED):
            return name
    pytest.skip(f"no {found}")


@cache
def build(compiler: str, level: str, version: str, suffix: str = ".c", labels: bool = False) -> Build:
    """`labels`: with other labels in the assembly."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        # Under one name, as two versions of a file have.
        source = Path(name) / f"pairs{suffix}"
        shutil.copy(DATA / f"{version}{suffix}", source)
        assembly = Path(name) / "pairs.s"
        command = [program(compiler, suffix), *level.split(), "-g1", "-S", str(source), "-o", str(assembly)]
        subprocess.run(command, check=True, capture_output=True)
        text = assembly.read_text()
        if labels:
            text = re.sub(r"\.L(?!C?P?I?\.str)(\w+)", r".Lnew\1_", text)
        report = incc.analyze(
            text.encode(), mcpu="skylake-avx512", timeline=0, what_ifs=False, simulate=False, name="pairs.s"
        )
    entries = in_memory(msgspec.convert(report.to_dict(), t.AnalysisReport), "").entries
    line_names = tags(version, suffix)
    names = []
    for entry in entries:
        place = entry.kernel.source
        main = entry.kernel.role.name == "main"
        names.append(line_names[place.line] if place and main and place.file.endswith(f"pairs{suffix}") else "")
    return Build(f"{compiler} {level}{' other labels' if labels else ''}", tuple(entries), tuple(names))


def without_lines(build_: Build) -> Build:
    """The same as compiled without debug information."""
    found = []
    for entry in build_.entries:
        name = entry.kernel.function
        kernel = replace(
            entry.kernel,
            source=None,
            near=None,
            inlined=[],
            inlined_into=[],
            source_function=name,
            instructions=[replace(i, source=None) for i in entry.instructions()],
        )
        found += entries_of(replace(entry.unit, kernels=[kernel]))
    return replace(build_, label=f"{build_.label} without lines", entries=tuple(found))


def problems(a: Build, b: Build) -> tuple[list[str], set[str]]:
    """What is matched wrongly, or not although it must be; and the names of what is right."""
    expected = became()
    found = match(a.entries, b.entries)
    wrong = []
    right: set[str] = set()
    for m in found.matches:
        one, other = a.names[m.a], b.names[m.b]
        if other in expected[one].names if one else not other:
            right.add(one)
        elif one or other:
            wrong.append(f"{one or 'no main loop'} with {other or 'no main loop'}, by {m.by}, {m.confidence}")
        for part in (b.names[p] for p in m.parts_b):
            if part not in expected[one].names:
                wrong.append(f"{part} as a part of what became of {one}")
        for part in (a.names[p] for p in m.parts_a):
            if other not in expected[part].names:
                wrong.append(f"{part} as a part of {other}")
            right.add(part)
    there = set(b.names)
    # Where loops were fused, one of them is matched.
    wrong += [
        f"{name} with nothing"
        for name in sorted(set(a.names) - right - {""})
        if expected[name].certain and expected[name].names & there and not _taken(name, found.matches, a, b, expected)
    ]
    return [f"{a.label} · {b.label}: {text}" for text in wrong], right - {""}


def _taken(name: str, matches: Iterable[Match], a: Build, b: Build, expected: dict[str, Expected]) -> bool:
    """Whether what became of it is matched with another loop that became the same: they were fused."""
    return any(
        b.names[m.b] in expected[name].names and a.names[m.a] and b.names[m.b] in expected[a.names[m.a]].names
        for m in matches
    )


def test_the_list_is_long_enough() -> None:
    certain = [name for name, expected in became().items() if expected.certain and expected.names != {"-"}]
    assert len(certain) >= 40
    for version, column in (("before", 0), ("after", 1)):
        there = {*tags(version, ".c"), *tags(version, ".cpp")}
        named = set(became()) if column == 0 else {name for e in became().values() for name in e.names}
        assert named - there - {"-"} == set()


def check(first: Build, second: Build, least: int) -> None:
    wrong, right = problems(first, second)
    assert not wrong, "\n".join(wrong)
    assert len(right) >= least, f"{first.label} · {second.label}: {len(right)}"


@pytest.mark.parametrize("compiler", ["gcc-12", pytest.param("clang-19", marks=pytest.mark.long)])
def test_two_versions_of_a_source(compiler: str) -> None:
    """With the same compiler, and the same with other options; with lines and without."""
    olds = [build(compiler, level, "before") for level in LEVELS]
    news = [build(compiler, level, "after") for level in LEVELS]
    for old, new in itertools.product(olds, news):
        check(old, new, 38)
        check(without_lines(old), without_lines(new), 38)


def test_other_labels() -> None:
    compiler = "gcc-12" if shutil.which("gcc") else "clang-19"
    plain, other = (build(compiler, LEVELS[0], "after", labels=labels) for labels in (False, True))
    assert {e.kernel.label for e in plain.entries}.isdisjoint(e.kernel.label for e in other.entries)
    found = match(plain.entries, other.entries)
    assert [(m.a, m.b, m.by, m.confidence) for m in found.matches] == [
        (n, n, "content", 1.0) for n in range(len(plain.entries))
    ]
    check(build(compiler, LEVELS[1], "before"), other, 38)


def test_two_compilers_and_two_versions() -> None:
    """A compiler and the source changed at once."""
    check(build("gcc-12", LEVELS[1], "before"), build("clang-19", LEVELS[1], "after"), 36)
    check(build("clang-19", LEVELS[0], "before"), build("gcc-12", LEVELS[1], "after"), 36)


@pytest.mark.long
@pytest.mark.parametrize("suffix", [".c", ".cpp"])
@pytest.mark.parametrize(("one", "other"), list(itertools.product(COMPILERS, COMPILERS)))
def test_every_compiler(one: str, other: str, suffix: str) -> None:
    for level_a, level_b in itertools.product(LEVELS, LEVELS):
        old, new = build(one, level_a, "before", suffix), build(other, level_b, "after", suffix)
        least = {".c": 34, ".cpp": 2}[suffix]
        check(old, new, least)
        if suffix == ".c":
            check(without_lines(old), without_lines(new), least)


@pytest.mark.long
@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(COMPILERS, 2)))
def test_one_source_by_two_compilers(one: str, other: str) -> None:
    """Without lines: every loop that both have is found."""
    for level_a, level_b in itertools.product(LEVELS, LEVELS):
        a, b = build(one, level_a, "before"), build(other, level_b, "before")
        found = match(without_lines(a).entries, without_lines(b).entries)
        wrong = [
            f"{a.label} · {b.label}: {a.names[m.a]} with {b.names[m.b]}"
            for m in found.matches
            if a.names[m.a] != b.names[m.b] and a.names[m.a] and b.names[m.b]
        ]
        assert not wrong, "\n".join(wrong)
        assert {a.names[m.a] for m in found.matches} >= (set(a.names) & set(b.names)) - {""}
