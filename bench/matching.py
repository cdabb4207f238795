"""Count the correct matches of kernels between two builds (docs/compare.md), by confidence.

    python bench/matching.py [--compilers=gcc-12,clang-19] [--levels='-O2;-O3'] [--hide=lines,names] [-v]
        [--table] [FILE …]

Each file is compiled by each compiler with each set of options, each build is matched with each other one. Which loops
are the same is known from the source: with one file its lines say it, with `BEFORE:AFTER` comments `// loop: NAME` in
both, of which each stands for the loops from its line to the next one, and pairs.txt beside them with what became of
which. `--hide` takes from the reports what gives that
away before they are matched: lines, names of functions, and units with the order of kernels. `--table` also counts the
rows of one table of all builds: the same pairs of builds, but as the table pairs their kernels.

Only main loops are counted. right: matched with one of the same name; wrong: with one of another name; missed: with
none, though the other side has an unmatched one.
"""

from __future__ import annotations

import argparse
import itertools
import re
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

import msgspec

import incc
from incc.comparison.match import Match, Matching, match
from incc.comparison.merge import LoopGroup, groups
from incc.comparison.side import SideKernel, entries_of, in_memory
from incc.report import types as t

HERE = Path(__file__).parent
FILES = [str(HERE / "elements_kernels.c")]
COMPILERS = ("gcc-12", "gcc-11", "clang-19", "clang-16", "clang-14")
LEVELS = ("-O2", "-O3 -march=haswell", "-O3 -march=skylake-avx512")
CXX = {"gcc": "g++", "clang": "clang++"}


def tags(source: str) -> dict[int, str]:
    """The name of each line from that of a tag on."""
    found: dict[int, str] = {}
    name = ""
    for number, line in enumerate(source.splitlines(), 1):
        tag = re.search(r"// loop: ([\w-]+)", line)
        name = tag[1] if tag else name
        found[number] = name
    return found


@cache
def heads(file: str) -> dict[int, int]:
    """The first line of the innermost loop around each line of a C source; lines outside of loops are missing.

    Compilers report a loop by the line of its head, of its end, or of its body.
    """
    source = re.sub(
        r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
        lambda m: re.sub(r"[^\n]", " ", m[0]),
        Path(file).read_text(errors="replace"),
        flags=re.DOTALL,
    )
    spans = []
    for word in re.finditer(r"\b(?:for|while|do)\b", source):
        body = word.end()
        if word[0] != "do":
            body = _after(source, body)
            if source[body:].lstrip()[:1] == ";":
                # The end of a do loop, or a loop without a body, which is on one line.
                continue
        end = _after(source, body)
        if word[0] == "do":
            end = _after(source, end)
        spans.append((end - word.start(), source.count("\n", 0, word.start()) + 1, source.count("\n", 0, end) + 1))
    of_line: dict[int, int] = {}
    for _, first, last in sorted(spans):
        for line in range(first, last + 1):
            of_line.setdefault(line, first)
    return of_line


def _after(source: str, start: int) -> int:
    """The place after the parentheses, the block or the statement that follows."""
    depth = 0
    for place in range(start, len(source)):
        depth += (source[place] in "({") - (source[place] in ")}")
        if depth <= 0 and source[place] in ");}":
            return place + 1
    return len(source)


def build(compiler: str, level: str, file: str) -> list[SideKernel]:
    """The kernels of a build."""
    family, _, version = compiler.partition("-")
    if file.endswith(".cpp"):
        compiler = CXX[family] + (f"-{version}" if version else "")
        if not shutil.which(compiler):
            return []
    command = [compiler, *level.split(), "-g1", "-c", file, "-o", "/dev/null"]
    report = incc.compile(command, timeline=0, what_ifs=False, simulate=False)
    return list(in_memory(msgspec.convert(report.to_dict(), t.AnalysisReport), f"{compiler} {level}").entries)


def truth(entries: list[SideKernel], tagged: bool) -> list[str]:
    """Return the name of each kernel's loop, "" if it is unknown or the kernel is no main loop."""
    names: dict[str, dict[int, str]] = {}
    found = []
    for entry in entries:
        place = entry.kernel.source
        if place is None or entry.kernel.role.name not in ("main", ""):
            found.append("")
        elif not tagged:
            line = heads(place.file).get(place.line, place.line)
            found.append(f"{Path(place.file).name} {entry.kernel.source_function}:{line}")
        else:
            if place.file not in names:
                names[place.file] = tags(Path(place.file).read_text())
            found.append(names[place.file].get(place.line, ""))
    return found


def hidden(entries: list[SideKernel], what: set[str], side: int) -> list[SideKernel]:
    """Return the kernels without the names that would identify them."""
    found = []
    for number, entry in enumerate(entries):
        kernel, unit = msgspec.to_builtins(entry.kernel), msgspec.to_builtins(entry.unit)
        instructions = msgspec.to_builtins(entry.instructions())
        if "lines" in what:
            kernel.update(source=None, near=None)
            for name in ("inlined", "inlined_into"):
                kernel[name] = [{**frame, "line": 0} for frame in kernel[name]]
            for instruction in instructions:
                instruction["source"] = None
        if "names" in what:
            part = kernel["kernel_id"].rpartition("/")[2]
            of = kernel["role"]["of"]
            kernel.update(inlined=[], inlined_into=[], source_function="")
            kernel["function"] = kernel["function_name"] = scrambled(kernel["function"], side)
            kernel["kernel_id"] = f"{kernel['function']}/{part}"
            if of:
                function, _, part = of.rpartition("/")
                kernel["role"] = {**kernel["role"], "of": f"{scrambled(function, side)}/{part}"}
        if "units" in what:
            unit.update(source=f"{side}-{number}.c", assembly_file=f"{number}.s")
        if "link" in what:
            unit.update(source="", assembly_file=f"lib{side}.so")
            kernel["first_line"] = number
        unit["kernels"] = [{**kernel, "instructions": instructions}]
        found += entries_of(msgspec.convert(unit, t.UnitReport))
    return found


def scrambled(name: str, side: int) -> str:
    """A name that says nothing, and that the other side does not have."""
    import hashlib

    return "f" + hashlib.sha256(f"{side} {name}".encode()).hexdigest()[:8].translate(_LETTERS)


_LETTERS = str.maketrans("0123456789", "ghijklmnop")
"""Numbers in names would be words that names have in common."""


def known_pairs(file: Path) -> dict[str, frozenset[str]]:
    """The names that a loop may have afterwards, by the name that it had."""
    rows = [line.split() for line in file.read_text().splitlines() if line and not line.startswith("#")]
    return {row[0].lstrip("?"): frozenset(row[1:]) for row in rows}


def same(one: str, other: str, pairs: dict[str, frozenset[str]]) -> bool:
    """Return True if two names mean one loop: compilers report the line of its head or of its body."""
    if pairs:
        return other in pairs[one]
    if one == other:
        return True
    (a, _, line_a), (b, _, line_b) = one.rpartition(":"), other.rpartition(":")
    return a == b != "" and abs(int(line_a) - int(line_b)) <= 2


class Score:
    """Counts of main loops."""

    def __init__(self) -> None:
        self.right = self.wrong = self.missed = 0
        self.by_confidence: dict[int, list[int]] = {}

    def add(self, other: Score) -> None:
        self.right += other.right
        self.wrong += other.wrong
        self.missed += other.missed
        for tenth, (right, all_) in other.by_confidence.items():
            counts = self.by_confidence.setdefault(tenth, [0, 0])
            counts[0] += right
            counts[1] += all_

    def count(self, right: bool, confidence: float) -> None:
        """Count a pair."""
        counts = self.by_confidence.setdefault(min(9, int(10 * confidence)), [0, 0])
        counts[0] += right
        counts[1] += 1
        if right:
            self.right += 1
        else:
            self.wrong += 1

    def row(self) -> str:
        found = self.right + self.wrong
        precision = f"{100 * self.right / found:5.1f} %" if found else "      –"
        recall = f"{100 * self.right / (found + self.missed):5.1f} %" if found + self.missed else "      –"
        return (
            f"{self.right:6} right {self.wrong:4} wrong {self.missed:4} missed   precision {precision}  recall {recall}"
        )


def judge(
    a: list[SideKernel],
    b: list[SideKernel],
    found: Matching,
    names_a: list[str],
    names_b: list[str],
    pairs: dict[str, frozenset[str]],
) -> tuple[Score, list[str]]:
    """The score of a matching, and what is wrong in it."""
    score = Score()
    wrong = []
    matched_b = {m.b for m in found.matches} | {p for m in found.matches for p in m.parts_b}
    left = [names_b[n] for n in range(len(b)) if n not in matched_b and names_b[n]]
    of_a = {m.a: m for m in found.matches}
    part_a = {p for m in found.matches for p in m.parts_a}
    for number, name in enumerate(names_a):
        if not name or number in part_a:
            continue
        m = of_a.get(number)
        if m is None:
            counterpart = next((other for other in left if same(name, other, pairs)), None)
            if counterpart is not None:
                left.remove(counterpart)
                score.missed += 1
                wrong.append(f"missed {name}: {a[number].kernel.kernel_id}")
            continue
        if not names_b[m.b] and b[m.b].kernel.role.name in ("main", ""):
            # Nobody knows what it is.
            continue
        right = same(name, names_b[m.b], pairs)
        score.count(right, m.confidence)
        if not right:
            wrong.append(
                f"wrong {name} ({a[number].kernel.kernel_id}) with {names_b[m.b]} ({b[m.b].kernel.kernel_id}),"
                f" by {m.by}, {m.confidence:.2f}"
            )
    return score, wrong


def of_table(loops: list[LoopGroup], one: int, other: int, pairwise: Matching) -> Matching:
    """Return the pairs of two builds in a table of many; parts of split loops are those of these two."""
    parts = {m.a: m for m in pairwise.matches}
    found = []
    for loop in loops:
        if one in loop.kernels and other in loop.kernels:
            a, b = loop.kernels[one], loop.kernels[other]
            sure = min(loop.matches[side].confidence for side in (one, other) if side in loop.matches)
            of = parts.get(a)
            found.append(
                Match(
                    a=a,
                    b=b,
                    by="identity",
                    confidence=sure,
                    parts_a=of.parts_a if of else (),
                    parts_b=of.parts_b if of else (),
                )
            )
    return Matching(tuple(found), (), ())


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compilers", default=",".join(COMPILERS))
    parser.add_argument("--levels", default=";".join(LEVELS))
    parser.add_argument("--hide", default="", help="lines, names, units")
    parser.add_argument("--table", action="store_true", help="also count the rows of a table of all builds")
    parser.add_argument("-v", action="store_true", help="say what is wrong")
    parser.add_argument("--low", action="store_true", help="say which pairs have a confidence below 0.6")
    parser.add_argument("files", nargs="*", default=FILES)
    arguments = parser.parse_args()
    what = {word for word in arguments.hide.split(",") if word}
    compilers = [c for c in arguments.compilers.split(",") if shutil.which(c)]
    levels = arguments.levels.split(";")
    total, table = Score(), Score()
    by_pair: dict[str, Score] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in arguments.files:
            before, colon, after = file.partition(":")
            pairs = known_pairs(Path(before).with_name("pairs.txt")) if colon else {}
            builds: list[tuple[str, list[SideKernel], list[str]]] = []
            others: list[tuple[str, list[SideKernel], list[str]]] = []
            for compiler in compilers:
                for level in levels:
                    for side, path, into in (("a", before, builds), ("b", after, others)):
                        if path:
                            if colon:
                                # Under one name, as two versions of a file have.
                                (folder / side).mkdir(exist_ok=True)
                                path = shutil.copy(path, folder / side / f"pairs{Path(path).suffix}")
                            entries = build(compiler, level, str(path))
                            into.append((f"{compiler} {level}", entries, truth(entries, bool(colon))))
            if what:
                builds, others = (
                    [
                        (label, hidden(entries, what, 2 * n + side), names)
                        for n, (label, entries, names) in enumerate(of)
                    ]
                    for side, of in enumerate((builds, others))
                )
            loops = (
                groups([entries for _, entries, _ in builds], range(len(builds)))
                if arguments.table and not colon
                else []
            )
            numbered = list(enumerate(builds))
            both = itertools.product(numbered, enumerate(others)) if colon else itertools.combinations(numbered, 2)
            for (n, (label_a, a, names_a)), (m, (label_b, b, names_b)) in both:
                found = match(a, b, same_text=not colon)
                score, wrong = judge(a, b, found, names_a, names_b, pairs)
                if loops:
                    in_table, wrong = judge(a, b, of_table(loops, n, m, found), names_a, names_b, pairs)
                    table.add(in_table)
                    if n == 0:
                        by_pair.setdefault("with the first build", Score()).add(score)
                        by_pair.setdefault("  in the table", Score()).add(in_table)
                label = " · ".join(sorted((label_a.split()[0], label_b.split()[0])))
                by_pair.setdefault(label, Score()).add(score)
                total.add(score)
                if arguments.low:
                    for pair in found.matches:
                        if pair.confidence < 0.6 and names_a[pair.a]:
                            print(label_a, label_b, pair, a[pair.a].kernel.kernel_id, b[pair.b].kernel.kernel_id)
                if arguments.v:
                    for line in wrong:
                        print(f"{Path(before).name}, {label_a} · {label_b}: {line}")

    for label, score in by_pair.items():
        print(f"{label:24}{score.row()}")
    print(f"{'all':24}{total.row()}")
    print_confidence(total)
    if arguments.table:
        print(f"{'all in the table':24}{table.row()}")
        print_confidence(table)
    return 0


def print_confidence(score: Score, indent: str = "") -> None:
    """Print the share of correct pairs by confidence."""
    for tenth, (right, all_) in sorted(score.by_confidence.items()):
        print(
            f"{indent}confidence {tenth / 10:.1f} to {tenth / 10 + 0.1:.1f}: {right} of {all_} right,"
            f" {100 * right / all_:.1f} %"
        )


if __name__ == "__main__":
    sys.exit(main())
