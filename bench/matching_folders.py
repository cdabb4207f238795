"""Count the correct matches of kernels between two versions, or two compilers' builds, of a library.

    python bench/matching_folders.py [--compilers=gcc-12,clang-19] [--levels=-O2] [--hide=lines,names]
                                     [--flags='-I{}/include'] [--cache=FOLDER] [-v] OLD:NEW FILE …
    python bench/matching_folders.py … FOLDER FILE …

OLD and NEW are folders with the sources of two versions, the FILEs lie in both (`OLD_FILE:NEW_FILE` where one was
moved); with one folder, builds by different compilers are matched with each other. `--flags` may name `{}`, the folder.

Which loops are the same is known from the text: `diff` says which line of the one version is which of the other.
A kernel is the same loop as another if the lines are the same, and the functions are too, if both builds have that loop
in both. Lines that were changed say nothing: neither what kernels of those are matched with is counted, nor what is
matched with a loop of new lines in a function that has lost the one that it had: it may have been written anew.

The rest, and what is hidden with `--hide`, is as for bench/matching.py, apart from `link`: one object file in the order
of the files, as a stripped library is.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from matching import CXX, Score, hidden, print_confidence

import incc
from incc.comparison.match import match
from incc.comparison.side import SideKernel, in_memory
from incc.report import types as t

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.comparison.match import Matching

NEAR = 2
"""Lines that two compilers' lines of a loop may be apart: of its head or of its body."""


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compilers", default="gcc-12,clang-19")
    parser.add_argument("--levels", default="-O2;-O3 -march=haswell")
    parser.add_argument("--flags", default="")
    parser.add_argument("--hide", default="", help="lines, names, units, link; several settings with ';'")
    parser.add_argument("--cache", default="", help="folder that keeps reports for the next time")
    parser.add_argument("-v", action="store_true", help="say what is wrong")
    parser.add_argument("folders")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    old, colon, new = arguments.folders.partition(":")
    files = [(name.partition(":")[0], name.partition(":")[2] or name) for name in arguments.files]
    builds: dict[tuple[str, str], list[SideKernel]] = {}
    for folder, side in ((old, 0), (new, 1)) if colon else ((old, 0),):
        for compiler in arguments.compilers.split(","):
            for level in arguments.levels.split(";"):
                entries: list[SideKernel] = []
                for names in files:
                    entries += build(folder, names[side], compiler, f"{level} {arguments.flags}", arguments.cache)
                builds[folder, f"{compiler} {level}"] = entries
    moved = Lines(old, new or old, files)
    if colon:
        pairs = [(a, b) for a, b in itertools.product(builds, builds) if a[0] == old and b[0] == new]
    else:
        pairs = list(itertools.combinations(builds, 2))
    for setting in arguments.hide.split(";"):
        what = {word for word in setting.split(",") if word}
        total = Score()
        rows: dict[str, Score] = {}
        for a, b in pairs:
            shown = [hidden(builds[a], what, 0), hidden(builds[b], what, 1)] if what else [builds[a], builds[b]]
            score, wrong = judge(builds[a], builds[b], match(*shown), moved)
            one, other = a[1].split()[0], b[1].split()[0]
            label = f"{one}, same" if a[1] == b[1] else f"{one}, other flags" if one == other else f"{one} · {other}"
            rows.setdefault(label, Score()).add(score)
            total.add(score)
            if arguments.v:
                for line in wrong:
                    print(f"{a[1]} · {b[1]}: {line}")
        print(f"hidden: {setting or 'nothing'}")
        for label, score in sorted(rows.items()):
            print(f"  {label:24}{score.row()}")
        print(f"  {'all':24}{total.row()}")
        print_confidence(total, "  ")
    return 0


def build(folder: str, file: str, compiler: str, options: str, cache: str) -> list[SideKernel]:
    """The kernels of a file."""
    kept = Path(cache) / (re.sub(r"[^\w.-]+", "_", f"{folder} {file} {compiler} {options}") + ".json")
    if cache and kept.exists():
        report = json.loads(kept.read_text())
    else:
        family, _, version = compiler.partition("-")
        if file.endswith((".cpp", ".cc")):
            compiler = CXX[family] + (f"-{version}" if version else "")
        command = [compiler, *shlex.split(options.replace("{}", folder)), "-w", "-g1", "-c", f"{folder}/{file}"]
        done = incc.compile([*command, "-o", "/dev/null"], timeline=0, what_ifs=False, simulate=False)
        if done.status:
            raise SystemExit(f"{file}: {done.compiler_messages}")
        report = done.to_dict()
        if cache:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(report))
    return list(in_memory(msgspec.convert(report, t.AnalysisReport), options).entries)


class Lines:
    """Which line of the old folder's files is which of the new one's."""

    def __init__(self, old: str, new: str, files: Sequence[tuple[str, str]]) -> None:
        self._of: dict[str, dict[int, int]] = {}
        self._named: dict[str, str] = {}
        for one, other in files:
            self._read(Path(old, one), Path(new, other))
        self._old, self._new = Path(old), Path(new)

    def _read(self, one: Path, other: Path) -> None:
        self._named[str(one)] = str(other)
        changed = subprocess.run(["diff", "-U0", one, other], capture_output=True, text=True, errors="replace").stdout
        found: dict[int, int] = {}
        at, shift = 1, 0
        for hunk in re.finditer(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", changed, re.MULTILINE):
            start, count = int(hunk[1]), int(hunk[2] or 1)
            # Of nothing, diff names the line before.
            first = start if count else start + 1
            found.update((line, line + shift) for line in range(at, first))
            at = first + count
            shift = int(hunk[3]) + int(hunk[4] or 1) + (0 if int(hunk[4] or 1) else 1) - at
        length = len(one.read_text(errors="replace").splitlines())
        found.update((line, line + shift) for line in range(at, length + 1))
        self._of[str(one)] = found

    def after(self, file: str, line: int) -> tuple[str, int] | None:
        """Return the number of a line in the new version, None if it was changed."""
        if file not in self._of:
            # A header: where it is in the one folder, it is in the other one.
            path = Path(file)
            if not path.exists():
                return None
            if path.resolve().is_relative_to(self._old.resolve()):
                other = self._new / path.resolve().relative_to(self._old.resolve())
                if not other.exists():
                    return None
                self._read(path, other)
                self._named[file], self._of[file] = str(other), self._of[str(path)]
            else:
                return file, line
        there = self._of[file].get(line)
        return None if there is None else (self._named[file], there)

    def all_after(self) -> set[tuple[str, int]]:
        """Lines of the new version that the old one has."""
        return {(self._named[file], line) for file, found in self._of.items() for line in found.values()}


def judge(a: list[SideKernel], b: list[SideKernel], found: Matching, moved: Lines) -> tuple[Score, list[str]]:
    """The score of a matching, and what is wrong in it."""

    def is_main(entry: SideKernel) -> bool:
        return entry.kernel.role.name in ("main", "")

    def function(entry: SideKernel) -> str:
        return entry.kernel.function.partition(".")[0]

    places: list[tuple[str, int] | None] = []
    for entry in a:
        source = entry.kernel.source
        places.append(moved.after(source.file, source.line) if source and is_main(entry) else None)
    at_b: dict[tuple[str, int], list[int]] = {}
    over_b: dict[tuple[str, int], list[int]] = {}
    for number, entry in enumerate(b):
        source = entry.kernel.source
        if source and is_main(entry):
            for line in range(source.line - NEAR, source.line + NEAR + 1):
                at_b.setdefault((_real(source.file), line), []).append(number)
            for line in _lines(entry):
                over_b.setdefault((_real(source.file), line), []).append(number)

    def right_ones(number: int) -> list[int]:
        place = places[number]
        numbers = at_b.get((_real(place[0]), place[1]), []) if place else []
        if place:
            exact = [n for n in numbers if b[n].kernel.source.line == place[1]]  # type: ignore[union-attr]
            # Else the loops with this line in them, or those whose line is in this one.
            numbers = exact or numbers or over_b.get((_real(place[0]), place[1]), [])
            for line in _lines(a[number]) if not numbers else ():
                there = moved.after(a[number].kernel.source.file, line)  # type: ignore[union-attr]
                numbers = numbers + at_b.get((_real(there[0]), there[1]), []) if there else numbers
        same = [n for n in numbers if function(b[n]) == function(a[number])]
        return same or numbers

    lines = {(_real(file), line) for file, line in moved.all_after()}

    def may_be_new(number: int, other: int) -> bool:
        source = b[other].kernel.source
        old = not source or (_real(source.file), source.line) in lines
        return (
            not old
            and function(a[number]) == function(b[other])
            and not any(function(b[n]) == function(a[number]) for n in right_ones(number))
        )

    score = Score()
    wrong = []
    of_a = {m.a: m for m in found.matches}
    part_a = {p for m in found.matches for p in m.parts_a}
    left = set(range(len(b))) - {m.b for m in found.matches} - {p for m in found.matches for p in m.parts_b}
    for number, place in enumerate(places):
        if place is None or number in part_a:
            continue
        could = right_ones(number)
        m = of_a.get(number)
        where = f"{place[0].rpartition('/')[2]}:{place[1]} {a[number].kernel.kernel_id}"
        if m is None:
            counterpart = next((n for n in could if n in left), None)
            if counterpart is not None:
                left.remove(counterpart)
                score.missed += 1
                wrong.append(f"missed {where} and {b[counterpart].kernel.kernel_id}")
            continue
        if not is_main(b[m.b]) or may_be_new(number, m.b):
            continue
        score.count(m.b in could, m.confidence)
        if m.b not in could:
            source = b[m.b].kernel.source
            wrong.append(
                f"wrong {where} with {source and source.line} {b[m.b].kernel.kernel_id}, by {m.by},"
                f" {m.confidence:.2f}, could be {[b[n].kernel.kernel_id for n in could]}"
            )
    return score, wrong


def _lines(entry: SideKernel) -> set[int]:
    """Lines of the loop's file that its instructions come from."""
    file = entry.kernel.source.file  # type: ignore[union-attr]
    found = [i.source for i in entry.instructions()]
    return {source.line for source in found if source and source.file == file}


def _real(file: str) -> str:
    return str(Path(file).resolve())


if __name__ == "__main__":
    sys.exit(main())
