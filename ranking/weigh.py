"""Which kernel is how hot: what files of hotness tell, brought to the kernels of a build.

Counts of executions weigh kernels in cycles: iterations times the prediction. How often a kernel iterates follows from
the lines of its instructions: lines of branches inside run less often than the loop iterates, and its first line once
more each time that the loop is entered. So it is the largest count among its lines, or, where that is at the first of
them, the next one, if that is at least half of it (if it is less, it is not the body's); divided by the elements that
an iteration of the assembly stands for. Samples weigh kernels as they are: they are time already.

What is told of a line, or a function, that several kernels have, is divided among those that do its work: loops beside
which a remainder, a prologue or a fallback runs little. Copies of a loop for several cores are other analyses of the
same code, and each core's kernels have all of it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from incc.frontends.isa import is_padding, same_mnemonic
from incc.ranking import types as r
from incc.ranking.hot.records import EXECUTIONS, SAMPLES
from incc.ranking.kernels import loops_of, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from incc.ranking.hot.records import Function, Listing, Sample, Told
    from incc.ranking.kernels import Seen


_WORTH_NAMING = 0.05
"""The part of what is told from which on a file that no kernel is of is named: it may be missing."""


class Weighed(msgspec.Struct, frozen=True, kw_only=True):
    """The weight of each kernel: `amounts` in cycles or samples, `iterations` where executions were counted, `ways` how
    it was found; and what there is to say of it."""

    amounts: list[float]
    iterations: list[float | None]
    ways: list[dict[str, None]]
    hotness: r.Hotness


def weigh(kernels: Sequence[Seen], told: Sequence[Told]) -> Weighed:
    """Bring what files tell, all of the same unit, to kernels."""
    return _Weighing(kernels, told).weighed()


class _Weighing:
    """The kernels by all that they may be found by, and their weights so far."""

    def __init__(self, kernels: Sequence[Seen], told: Sequence[Told]) -> None:
        self.kernels = kernels
        self.told = told
        self.unit = told[0].unit
        self.amounts = [0.0] * len(kernels)
        self.ways: list[dict[str, None]] = [{} for _ in kernels]
        # Of executions: by kernel.
        self.counted: list[float | None] = [None] * len(kernels)
        self.models = len({seen.unit.model.name for seen in kernels}) or 1
        self.by_symbol: dict[str, list[int]] = defaultdict(list)
        self.by_name: dict[str, list[int]] = defaultdict(list)
        self.by_line: dict[tuple[str, int], list[int]] = defaultdict(list)
        self.places: list[dict[str, frozenset[int]]] = []
        for n, seen in enumerate(kernels):
            kernel = seen.kernel
            names = dict.fromkeys((kernel.function, kernel.function_name))
            for name in names:
                if name:
                    self.by_symbol[name].append(n)
            # What a function is called in counts is what it is called in the source, wherever it was inlined.
            if kernel.inlined_into:
                names = {kernel.source_function: None}
            for name in names:
                if name:
                    self.by_name[name].append(n)
            lines = {seen.path(file): numbers for file, numbers in seen.code.lines.items()}
            source = kernel.source
            if source:
                path = seen.path(source.file)
                lines[path] = lines.get(path, frozenset()) | {source.line}
            self.places.append(lines)
            for path, numbers in lines.items():
                for line in numbers:
                    self.by_line[path, line].append(n)
        # A loop's first line is often above all those of its instructions: what moves it on is counted with its body
        # where there is little debug information, and with its head where there is more.
        self.spans: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
        for n, seen in enumerate(kernels):
            source = seen.kernel.source
            own = self.places[n].get(seen.path(source.file), frozenset()) if source else frozenset()
            if source and own:
                self.spans[seen.path(source.file)].append((min(own) - 1, max(own), n))
        self.paths = _Paths({path for path, _ in self.by_line})
        # What is told of files that no kernel is of.
        self.unplaced: dict[str, float] = defaultdict(float)
        self.unknown_elements = 0

    def weighed(self) -> Weighed:
        files: list[r.HotFile] = []
        matched = total = 0.0
        for told in self.told:
            of_file, all_of_it = (self._executions if told.unit == EXECUTIONS else self._samples)(told)
            matched += of_file
            total += all_of_it
            share = min(of_file / all_of_it, 1.0) if all_of_it else 0.0
            files.append(
                r.HotFile(file=told.path, kind=told.kind, matched=round(share, 6), text=_text(told, all_of_it))
            )
        iterations: list[float | None] = [None] * len(self.kernels)
        if self.unit == EXECUTIONS:
            for n, count in enumerate(self.counted):
                if count is not None:
                    iterations[n] = count
                    self.amounts[n] = count * self.kernels[n].kernel.cycles
        whole_time = sum(self.amounts) if self.unit == EXECUTIONS else total * self.models
        hotness: r.Hotness = r.Hotness(
            unit="cycles" if self.unit == EXECUTIONS else "samples",
            total=round(whole_time, 3),
            matched=round(min(matched / total, 1.0), 6) if total else 0.0,
            files=files,
            notes=[*dict.fromkeys(note for told in self.told for note in told.notes), *self._notes(total, matched)],
        )
        return Weighed(amounts=self.amounts, iterations=iterations, ways=self.ways, hotness=hotness)

    def _notes(self, total: float, matched: float) -> list[str]:
        found = []
        if total and not matched:
            found.append(
                "Nothing of it is of these kernels: was another program measured, or do names of files or functions "
                "differ?"
            )
        elif names := [name for name, part in self.unplaced.items() if part >= _WORTH_NAMING * total]:
            shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
            found.append(f"No kernel is of {shown}.")
        if self.models > 1:
            found.append("Kernels of several cores are weighed by the same counts: each core has all of them.")
        if self.unknown_elements:
            which = "a loop stands" if self.unknown_elements == 1 else f"{self.unknown_elements} loops stands"
            found.append(
                f"For how many elements an iteration of {which} is not known: it is taken for one, so that what is "
                "unrolled or vectorised weighs too much."
            )
        return found

    # --- samples ------------------------------------------------------------------------------------------------------

    def _samples(self, told: Told) -> tuple[float, float]:
        """Give samples to kernels; returns how many found one, and how many there are."""
        total = told.elsewhere
        before = sum(self.amounts)
        # The same place comes again and again.
        samples: dict[Sample, float] = defaultdict(float)
        for sample in told.samples:
            samples[replace(sample, amount=0.0)] += sample.amount
        for sample, amount in samples.items():
            total += amount
            self._sample(told, sample, amount)
        for function in told.functions:
            total += function.amount
            self._of_function(function)
        for listing in told.listings:
            total += sum(amount for _, amount, _ in listing.rows)
            self._listing(listing)
        return (sum(self.amounts) - before) / self.models, total

    def _sample(self, told: Told, sample: Sample, amount: float) -> None:
        of_function = self.by_symbol.get(sample.symbol, [])
        if sample.offset >= 0:
            with_places = [n for n in of_function if self.kernels[n].code.offset >= 0]
            if with_places:
                inside = [n for n in with_places if 0 <= sample.offset - self.kernels[n].code.offset < self._size(n)]
                # Beside its loops there is other code in a function.
                self._divide(inside, amount, "address")
                return
        if sample.line:
            if sample.file:
                path = self.paths.find(whole(told.folder, sample.file))
                if not path:
                    self.unplaced[sample.file] += amount
                found = self.by_line.get((path, sample.line), []) if path else []
                found = found or (self._around(path, sample.line) if path else [])
            else:
                found = [n for n in of_function if any(sample.line in lines for lines in self.places[n].values())]
            own = [n for n in found if n in set(of_function)] if sample.symbol else found
            if own or any(self.places[n] for n in of_function):
                # The function's lines are known, and this is none of a loop.
                self._divide(own, amount, "line")
                return
        self._of_function_amount(of_function, amount)

    def _around(self, path: str, line: int) -> list[int]:
        """The kernels among whose lines a line stands that is none of any: the closest around it."""
        around = [(last - first, n) for first, last, n in self.spans.get(path, ()) if first <= line <= last]
        least = min(around, default=(0, 0))[0]
        return [n for length, n in around if length == least]

    def _size(self, n: int) -> int:
        return self.kernels[n].code.size

    def _of_function(self, function: Function) -> None:
        self._of_function_amount(self.by_symbol.get(function.name, []), function.amount)

    def _of_function_amount(self, found: Sequence[int], amount: float) -> None:
        self._divide(found, amount, "function")

    def _listing(self, listing: Listing) -> None:
        """Samples at the instructions of a function: to the kernels whose code stands there."""
        of_function = self.by_symbol.get(listing.symbol, [])
        rows = [row for row in listing.rows if not is_padding(row[0])]
        taken = [False] * len(rows)
        found = False
        for alike in _by_code(self.kernels, of_function).values():
            wanted = self.kernels[alike[0]].code.mnemonics
            for at in _occurrences([row[0] for row in rows], wanted):
                found = True
                span = range(at, at + len(wanted))
                self._divide(alike, sum(rows[n][1] for n in span if not taken[n]), "code")
                for n in span:
                    taken[n] = True
        if not found and of_function and not any(row[2] for row in rows):
            self._of_function_amount(of_function, sum(row[1] for row in rows))
            return
        for (_, amount, line), gone in zip(rows, taken, strict=True):
            if amount and line and not gone:
                own = [n for n in of_function if any(line in lines for lines in self.places[n].values())]
                # A kernel whose code was found has all of its samples.
                self._divide([n for n in own if "code" not in self.ways[n]], amount, "line")

    def _divide(self, found: Iterable[int], amount: float, way: str) -> None:
        """Give an amount to those of the kernels that do the work: the same to each core's."""
        for share in self._shares(found):
            for n in share:
                self.amounts[n] += amount / len(share)
                if amount:
                    self.ways[n][way] = None

    def _shares(self, found: Iterable[int]) -> list[list[int]]:
        """Of these kernels for each core those that do the work."""
        by_model: dict[str, list[int]] = defaultdict(list)
        for n in found:
            by_model[self.kernels[n].unit.model.name].append(n)
        return [[n for n in some if self.kernels[n].in_reach] or some for some in by_model.values()]

    # --- executions ---------------------------------------------------------------------------------------------------

    def _executions(self, told: Told) -> tuple[float, float]:
        """Iterations of kernels by counts of lines and functions; returns how many executions of lines are in kernels,
        and how many there are."""
        counts: dict[tuple[str, int], dict[str, float]] = defaultdict(lambda: defaultdict(float))
        matched = total = 0.0
        for line in told.lines:
            total += line.executions
            path = self.paths.find(whole(told.folder, line.file))
            if not path:
                self.unplaced[line.file] += line.executions
            if path and (path, line.line) not in self.by_line and self._around(path, line.line):
                matched += line.executions
            elif path and (path, line.line) in self.by_line:
                matched += line.executions
                counts[path, line.line][line.symbol] += line.executions
        if counts:
            self._by_lines(counts)
        for function in told.functions:
            total += function.amount
            found = self.by_name.get(function.name) or self.by_symbol.get(function.name) or []
            if not found:
                continue
            matched += function.amount
            for share in self._shares(found):
                for n in share:
                    self._iterate(n, function.amount / len(share), "function")
        return matched, total

    def _by_lines(self, counts: Mapping[tuple[str, int], Mapping[str, float]]) -> None:
        # What a compiler, or several builds, made of a loop of the source shares what is counted there.
        loops: dict[int, list[int]] = defaultdict(list)
        for n, loop in enumerate(loops_of(self.kernels)):
            loops[loop].append(n)
        for members in loops.values():
            by_symbol = self._iterations(members, counts)
            if by_symbol is None:
                continue
            working = [n for n in members if self.kernels[n].in_reach] or members
            for symbol, iterations in by_symbol.items():
                # What is counted of a function is counted before it is inlined anywhere.
                own = [n for n in working if self._written_in(n, symbol, by_symbol)] or working
                for n in own:
                    self._iterate(n, iterations / len(own), "line")

    def _written_in(self, n: int, symbol: str, told: Mapping[str, float]) -> bool:
        """Whether a kernel is of that function: by its symbol, where others are told of by theirs."""
        kernel = self.kernels[n].kernel
        return not symbol or bool(kernel.inlined_into) or kernel.function not in told or (kernel.function == symbol)

    def _iterations(
        self, members: Sequence[int], counts: Mapping[tuple[str, int], Mapping[str, float]]
    ) -> dict[str, float] | None:
        """How often a loop of the source iterates, by the functions that tell of it; None where nothing does."""
        seen = self.kernels[members[0]]
        source = seen.kernel.source
        file = seen.path(source.file) if source else next(iter(self.places[members[0]]), "")
        lines = {line for n in members for line in self.places[n].get(file, ())}
        heads = {place.line for n in members if (place := self.kernels[n].kernel.source)}
        # Those of functions that were inlined into the loop tell of all who call them.
        symbols = {symbol: None for line in heads for symbol in counts.get((file, line), ())}
        symbols = symbols or {symbol: None for line in lines for symbol in counts.get((file, line), ())}
        found = {}
        for symbol in symbols:
            told = {line: counts[file, line][symbol] for line in lines if symbol in counts.get((file, line), ())}
            first = told.pop(min(told))
            rest = max(told.values(), default=0.0)
            found[symbol] = rest if 2 * rest >= first else first
        return found or None

    def _iterate(self, n: int, count: float, way: str) -> None:
        elements = self.kernels[n].kernel.elements
        if elements is None and count:
            self.unknown_elements += 1
        each = elements.per_iteration if elements and elements.per_iteration else 1.0
        self.counted[n] = (self.counted[n] or 0.0) + count / each
        if count:
            self.ways[n][way] = None


class _Paths:
    """Finds which of the kernels' files a file is: by its whole path, else by the end of it that is longest alike."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = frozenset(paths)
        self.by_base: dict[str, list[str]] = defaultdict(list)
        for path in sorted(paths):
            self.by_base[os.path.basename(path)].append(path)
        self.known: dict[str, str] = {}

    def find(self, path: str) -> str:
        """The kernels' name of it, "" for none."""
        if path not in self.known:
            self.known[path] = path if path in self.paths else self._nearest(os.path.normpath(path))
        return self.known[path]

    def _nearest(self, path: str) -> str:
        parts = [part for part in path.split("/") if part not in ("", "..")]
        candidates = self.by_base.get(parts[-1] if parts else "", [])
        best, alike = 0, []
        for candidate in candidates:
            others = [part for part in candidate.split("/") if part not in ("", "..")]
            common = 0
            while common < min(len(parts), len(others)) and parts[-1 - common] == others[-1 - common]:
                common += 1
            if common > best:
                best, alike = common, [candidate]
            elif common == best:
                alike.append(candidate)
        # Of two with equal ends it may be either.
        return alike[0] if len(alike) == 1 else ""


def _by_code(kernels: Sequence[Seen], found: Sequence[int]) -> dict[tuple[str, ...], list[int]]:
    """Kernels by their mnemonics, longest first: what is part of a longer one is looked for behind that."""
    grouped: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for n in found:
        if kernels[n].code.mnemonics:
            grouped[kernels[n].code.mnemonics].append(n)
    return {code: grouped[code] for code in sorted(grouped, key=lambda code: (-len(code), code))}


def _occurrences(rows: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where a sequence of mnemonics stands, as a disassembler writes them: with fewer suffixes than compilers do."""
    found = []
    at = 0
    while at + len(wanted) <= len(rows):
        if all(same_mnemonic(rows[at + n], wanted[n]) for n in range(len(wanted))):
            found.append(at)
            at += len(wanted)
        else:
            at += 1
    return found


def _text(told: Told, total: float) -> str:
    """What a file told, in words."""
    if told.unit == SAMPLES:
        percent = told.kind in ("perf-report", "list")
        count = len(told.samples)
        amount = "percentages of the time" if percent else f"{count} samples" if count else f"{total:.0f} samples"
    elif told.lines:
        files = len({line.file for line in told.lines})
        amount = f"executions of {len(told.lines)} lines of {files} {'file' if files == 1 else 'files'}"
    else:
        amount = f"executions of {len(told.functions)} functions"
    return amount
