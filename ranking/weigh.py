"""Weighing of a build's kernels by profiles: counts of executions, or samples.

Counts of executions weigh kernels in cycles: iterations times the prediction. The number of iterations follows from the
lines of a kernel's instructions: lines of branches inside the loop run less often than the loop iterates, and its first
line runs once more each time the loop is entered. So it is the largest count among its lines, divided by the elements
that an iteration of the assembly stands for. If the largest count is at the first line, the next one is used if it is
at least half of it; a smaller one is not the body's. Samples weigh kernels directly, because they are time already.

The count of a line or function that belongs to several kernels is divided among those that do its work: a remainder, a
prologue or a fallback runs little. Kernels of several cores are separate analyses of the same code, and each core's
kernels get the whole count.

Samples with an offset in their function belong to the kernel whose instructions are there, and to none if no kernel's
are (`_Function`). The offset is the same in the object, in a shared library and in a program that is moved when it is
loaded, because linkers do not change the code of functions.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from incc.frontends.isa import is_padding, same_mnemonic
from incc.ranking import types as r
from incc.ranking.hot.records import EXECUTIONS, SAMPLES, FunctionListing, Profile, Sample
from incc.ranking.kernels import RankedKernel, loops_of, whole
from incc.report.runs import LoopRun
from incc.report.source.demangle import demangle
from incc.report.source.demangle import replace as demangled
from incc.support.text import counted

_WORTH_NAMING = 0.05
"""The share of a profile from which on a file without kernels is named: its reports may be missing."""


class _Function(msgspec.Struct, frozen=True):
    """The kernels of a function, by the offsets of their instructions."""

    spans: list[tuple[int, int, int]]
    """First offset, offset after the last instruction, and the kernel's number."""
    interior: set[int]
    """Offsets at which no sample can be, because they are within instructions."""

    def at(self, offset: int) -> list[int]:
        """Return the kernels with an instruction at an offset."""
        return [n for begin, end, n in self.spans if begin <= offset < end]


class Weighed(msgspec.Struct, frozen=True, kw_only=True):
    """The weights of kernels."""

    amounts: list[float]
    """The weight of each kernel, in cycles or samples."""
    iterations: list[float | None]
    """The iterations of each kernel; None unless executions were counted."""
    ways: list[dict[str, None]]
    """The ways in which each kernel was located."""
    runs: list[LoopRun | None]
    """Each kernel as it ran in a program with probes."""
    hotness: r.Hotness
    """The description of the profiles."""


def weigh(kernels: Sequence[RankedKernel], profiles: Sequence[Profile]) -> Weighed:
    """Return the weights of kernels from profiles, all of the same unit."""
    return _Weighing(kernels, profiles).weighed()


class _Weighing:
    """The kernels, by every key that locates them, and their weights so far."""

    def __init__(self, kernels: Sequence[RankedKernel], profiles: Sequence[Profile]) -> None:
        self.kernels = kernels
        self.profiles = profiles
        self.unit = profiles[0].unit
        self.amounts = [0.0] * len(kernels)
        self.ways: list[dict[str, None]] = [{} for _ in kernels]
        # These are the iterations of each kernel, if executions are counted.
        self.counted: list[float | None] = [None] * len(kernels)
        self.models = len({ranked.unit.model.name for ranked in kernels}) or 1
        self.by_symbol: dict[str, list[int]] = defaultdict(list)
        self.by_name: dict[str, list[int]] = defaultdict(list)
        self.by_line: dict[tuple[str, int], list[int]] = defaultdict(list)
        self.places: list[dict[str, frozenset[int]]] = []
        self.functions = _functions(kernels)
        for n, ranked in enumerate(kernels):
            kernel = ranked.kernel
            names = dict.fromkeys((kernel.function, kernel.function_name))
            for name in names:
                if name:
                    self.by_symbol[name].append(n)
            # Counts use the function's name in the source, wherever it was inlined.
            if kernel.inlined_into:
                names = {kernel.source_function: None}
            for name in names:
                if name:
                    self.by_name[name].append(n)
            lines = {ranked.path(file): numbers for file, numbers in ranked.code.lines.items()}
            source = kernel.source
            if source:
                path = ranked.path(source.file)
                lines[path] = lines.get(path, frozenset()) | {source.line}
            self.places.append(lines)
            for path, numbers in lines.items():
                for line in numbers:
                    self.by_line[path, line].append(n)
        # A loop's first line often precedes the lines of its instructions: its increment is counted with the body if
        # there is little debug information, and with the head if there is more.
        self.spans: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
        for n, ranked in enumerate(kernels):
            source = ranked.kernel.source
            own = self.places[n].get(ranked.path(source.file), frozenset()) if source else frozenset()
            if source and own:
                self.spans[ranked.path(source.file)].append((min(own) - 1, max(own), n))
        self.paths = _Paths({path for path, _ in self.by_line})
        # These are the weights of files that have no kernel.
        self.unplaced: dict[str, float] = defaultdict(float)
        self.unknown_elements = 0
        # Samples of functions without places of instructions, those divided among the loops of functions, and those of
        # several functions of one name.
        self.not_located = self.by_function_alone = 0.0
        self.equal_names: dict[str, int] = {}

    def weighed(self) -> Weighed:
        files: list[r.HotFile] = []
        matched = total = 0.0
        for profile in self.profiles:
            of_file, all_of_it = (self._executions if profile.unit == EXECUTIONS else self._samples)(profile)
            matched += of_file
            total += all_of_it
            share = min(of_file / all_of_it, 1.0) if all_of_it else 0.0
            files.append(
                r.HotFile(file=profile.path, kind=profile.kind, matched=round(share, 6), text=_text(profile, all_of_it))
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
            notes=[
                *dict.fromkeys(note for profile in self.profiles for note in profile.notes),
                *self._notes(total, matched),
            ],
        )
        ran = {(run.unit, run.kernel_id): run for profile in self.profiles for run in reversed(profile.runs)}
        runs = [ran.get((ranked.unit.source, ranked.kernel.kernel_id)) for ranked in self.kernels]
        return Weighed(amounts=self.amounts, iterations=iterations, ways=self.ways, runs=runs, hotness=hotness)

    def _notes(self, total: float, matched: float) -> list[str]:
        notes = []
        if total and not matched:
            notes.append(
                "The profile has no samples or counts of these kernels; was another program measured, or do names of "
                "files or functions differ?"
            )
        elif names := [name for name, part in self.unplaced.items() if part >= _WORTH_NAMING * total]:
            shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
            notes.append(f"No kernel belongs to {shown}.")
        if self.models > 1:
            notes.append("Kernels for several cores have the same counts, so each core has all of them.")
        if self.not_located >= _WORTH_NAMING * total > 0:
            notes.append(
                f"{self.not_located / total:.0%} of the samples are in functions whose reports lack the places of "
                "instructions, so their loops have none of them: perf script -F +srcline adds lines."
            )
        if self.by_function_alone >= _WORTH_NAMING * total > 0:
            notes.append(
                f"{self.by_function_alone / total:.0%} of the time is known by function only and divided among the "
                "function's loops, so it is an upper limit: perf script locates samples."
            )
        if self.equal_names:
            name, number = next(iter(self.equal_names.items()))
            more = f", as for {len(self.equal_names) - 1} more names" if len(self.equal_names) > 1 else ""
            notes.append(
                f"{number} functions are called {name}, and the profile does not tell which ran, so each has an equal "
                f"part of its samples{more}."
            )
        if self.unknown_elements:
            which = "a loop" if self.unknown_elements == 1 else f"{self.unknown_elements} loops"
            notes.append(
                f"The elements per iteration of {which} are unknown and assumed to be 1, so unrolled or vectorised "
                "loops weigh too much."
            )
        return notes

    # --- samples ------------------------------------------------------------------------------------------------------

    def _samples(self, profile: Profile) -> tuple[float, float]:
        """Give samples to kernels; return how many were assigned, and how many there are."""
        total = profile.elsewhere
        before = sum(self.amounts)
        # Many samples have the same place.
        samples: dict[Sample, float] = defaultdict(float)
        located: dict[tuple[str, tuple[str, int]], dict[int, float]] = defaultdict(lambda: defaultdict(float))
        for sample in profile.samples:
            total += sample.amount
            if sample.offset >= 0 and sample.symbol in self.functions:
                located[sample.symbol, sample.function][sample.offset] += sample.amount
            else:
                samples[replace(sample, amount=0.0)] += sample.amount
        for (symbol, _), offsets in located.items():
            self._at_addresses(symbol, offsets)
        for sample, amount in samples.items():
            self._sample(profile, sample, amount)
        for function in profile.functions:
            total += function.amount
            self._of_function(self.by_symbol.get(function.name, []), function.amount)
        for listing in profile.listings:
            total += sum(amount for _, amount, _ in listing.rows)
            self._listing(listing)
        return (sum(self.amounts) - before) / self.models, total

    def _at_addresses(self, symbol: str, offsets: Mapping[int, float]) -> None:
        """Give the samples of a function, by their offsets in it, to the kernels there; each core's get all of them.

        Functions of other files may have the same name. Those whose instructions are elsewhere are not the profile's;
        the rest share the samples.
        """
        for functions in self.functions[symbol].values():
            refuted = [sum(amount for at, amount in offsets.items() if at in each.interior) for each in functions]
            chosen = [each for each, amount in zip(functions, refuted, strict=True) if amount == min(refuted)]
            if len({tuple(sorted((begin, end) for begin, end, _ in each.spans)) for each in chosen}) > 1:
                self.equal_names[symbol] = len(chosen)
            for each in chosen:
                for at, amount in offsets.items():
                    for n in (here := each.at(at)):
                        self.amounts[n] += amount / len(chosen) / len(here)
                        self.ways[n]["address"] = None

    def _sample(self, profile: Profile, sample: Sample, amount: float) -> None:
        of_function = self.by_symbol.get(sample.symbol, [])
        if sample.kernel:
            of_loop = [n for n in of_function if self.kernels[n].kernel.kernel_id == sample.kernel]
            self._divide([n for n in of_loop if self.kernels[n].unit.source == sample.source], amount, "code")
            return
        if sample.line:
            if sample.file:
                path = self.paths.find(whole(profile.folder, sample.file))
                if not path:
                    self.unplaced[sample.file] += amount
                candidates = self.by_line.get((path, sample.line), []) if path else []
                candidates = candidates or (self._around(path, sample.line) if path else [])
            else:
                candidates = [n for n in of_function if any(sample.line in lines for lines in self.places[n].values())]
            own = [n for n in candidates if n in set(of_function)] if sample.symbol else candidates
            if own or any(self.places[n] for n in of_function):
                # The function's lines are known, and this line belongs to no loop.
                self._divide(own, amount, "line")
                return
        if sample.offset >= 0 and of_function:
            self.not_located += amount
        else:
            self._of_function(of_function, amount)

    def _around(self, path: str, line: int) -> list[int]:
        """Return the kernels whose range of lines most closely surrounds a line that belongs to none."""
        around = [(last - first, n) for first, last, n in self.spans.get(path, ()) if first <= line <= last]
        least = min(around, default=(0, 0))[0]
        return [n for length, n in around if length == least]

    def _of_function(self, kernels: Sequence[int], amount: float) -> None:
        self.by_function_alone += amount if kernels else 0.0
        self._divide(kernels, amount, "function")

    def _listing(self, listing: FunctionListing) -> None:
        """Give samples at the instructions of a function to the kernels whose code is there."""
        of_function = self.by_symbol.get(listing.symbol, [])
        rows = [row for row in listing.rows if not is_padding(row[0])]
        taken = [False] * len(rows)
        located = False
        for alike in _by_code(self.kernels, of_function).values():
            wanted = self.kernels[alike[0]].code.mnemonics
            for at in _occurrences([row[0] for row in rows], wanted):
                located = True
                span = range(at, at + len(wanted))
                self._divide(alike, sum(rows[n][1] for n in span if not taken[n]), "code")
                for n in span:
                    taken[n] = True
        if not located and of_function and not any(row[2] for row in rows):
            self._of_function(of_function, sum(row[1] for row in rows))
            return
        for (_, amount, line), gone in zip(rows, taken, strict=True):
            if amount and line and not gone:
                own = [n for n in of_function if any(line in lines for lines in self.places[n].values())]
                # A kernel that was located by its code has all of its samples.
                self._divide([n for n in own if "code" not in self.ways[n]], amount, "line")

    def _divide(self, kernels: Iterable[int], amount: float, way: str) -> None:
        """Divide an amount among those of the kernels that do the work; each core's kernels get all of it."""
        for share in self._shares(kernels):
            for n in share:
                self.amounts[n] += amount / len(share)
                if amount:
                    self.ways[n][way] = None

    def _shares(self, kernels: Iterable[int]) -> list[list[int]]:
        """Return for each core those of the kernels that do the work."""
        by_model: dict[str, list[int]] = defaultdict(list)
        for n in kernels:
            by_model[self.kernels[n].unit.model.name].append(n)
        return [[n for n in some if self.kernels[n].in_reach] or some for some in by_model.values()]

    # --- executions ---------------------------------------------------------------------------------------------------

    def _executions(self, profile: Profile) -> tuple[float, float]:
        """Set iterations of kernels from counts of lines and functions.

        Returns how many executions of lines are in kernels, and how many there are.
        """
        counts: dict[tuple[str, int], dict[str, float]] = defaultdict(lambda: defaultdict(float))
        matched = total = 0.0
        for line in profile.lines:
            total += line.executions
            path = self.paths.find(whole(profile.folder, line.file))
            if not path:
                self.unplaced[line.file] += line.executions
            if path and (path, line.line) not in self.by_line and self._around(path, line.line):
                matched += line.executions
            elif path and (path, line.line) in self.by_line:
                matched += line.executions
                counts[path, line.line][line.symbol] += line.executions
        if counts:
            self._by_lines(counts)
        for function in profile.functions:
            total += function.amount
            kernels = self.by_name.get(function.name) or self.by_symbol.get(function.name) or []
            if not kernels:
                continue
            matched += function.amount
            for share in self._shares(kernels):
                for n in share:
                    self._iterate(n, function.amount / len(share), "function")
        return matched, total

    def _by_lines(self, counts: Mapping[tuple[str, int], Mapping[str, float]]) -> None:
        # All code that a compiler, or several builds, made of a source loop shares the counts of that loop.
        loops: dict[int, list[int]] = defaultdict(list)
        for n, loop in enumerate(loops_of(self.kernels)):
            loops[loop].append(n)
        for members in loops.values():
            by_symbol = self._iterations(members, counts)
            if by_symbol is None:
                continue
            working = [n for n in members if self.kernels[n].in_reach] or members
            for symbol, iterations in by_symbol.items():
                # A function's counts are taken before it is inlined anywhere.
                own = [n for n in working if self._written_in(n, symbol, by_symbol)] or working
                for n in own:
                    self._iterate(n, iterations / len(own), "line")

    def _written_in(self, n: int, symbol: str, counts: Mapping[str, float]) -> bool:
        """Return True if a kernel belongs to the function, by symbol if `counts` has the kernel's symbol."""
        kernel = self.kernels[n].kernel
        return not symbol or bool(kernel.inlined_into) or kernel.function not in counts or (kernel.function == symbol)

    def _iterations(
        self, members: Sequence[int], counts: Mapping[tuple[str, int], Mapping[str, float]]
    ) -> dict[str, float] | None:
        """Return the iterations of a source loop by the functions that have counts of it; None without counts."""
        ranked = self.kernels[members[0]]
        source = ranked.kernel.source
        file = ranked.path(source.file) if source else next(iter(self.places[members[0]]), "")
        lines = {line for n in members for line in self.places[n].get(file, ())}
        heads = {place.line for n in members if (place := self.kernels[n].kernel.source)}
        # The counts of functions that were inlined into the loop cover all of their callers.
        symbols = {symbol: None for line in heads for symbol in counts.get((file, line), ())}
        symbols = symbols or {symbol: None for line in lines for symbol in counts.get((file, line), ())}
        iterations = {}
        for symbol in symbols:
            by_line = {line: counts[file, line][symbol] for line in lines if symbol in counts.get((file, line), ())}
            first = by_line.pop(min(by_line))
            rest = max(by_line.values(), default=0.0)
            iterations[symbol] = rest if 2 * rest >= first else first
        return iterations or None

    def _iterate(self, n: int, count: float, way: str) -> None:
        elements = self.kernels[n].kernel.elements
        if elements is None and count:
            self.unknown_elements += 1
        each = elements.per_iteration if elements and elements.per_iteration else 1.0
        self.counted[n] = (self.counted[n] or 0.0) + count / each
        if count:
            self.ways[n][way] = None


class _Paths:
    """A lookup of files among those of the kernels, by the whole path or else by the longest common end."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = frozenset(paths)
        self.by_base: dict[str, list[str]] = defaultdict(list)
        for path in sorted(paths):
            self.by_base[os.path.basename(path)].append(path)
        self.names_by_path: dict[str, str] = {}

    def find(self, path: str) -> str:
        """Return the kernels' name of a file; "" for none."""
        if path not in self.names_by_path:
            self.names_by_path[path] = path if path in self.paths else self._nearest(os.path.normpath(path))
        return self.names_by_path[path]

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
        # If two have equal ends, it may be either.
        return alike[0] if len(alike) == 1 else ""


def _functions(kernels: Sequence[RankedKernel]) -> dict[str, dict[str, list[_Function]]]:
    """Return the functions with these kernels, by symbol or readable name and by core."""
    units: dict[tuple[int, str], _Function] = {}
    functions: dict[str, dict[str, list[_Function]]] = {}
    readable = demangle(span.symbol for ranked in kernels for span in ranked.code.spans)
    for n, ranked in enumerate(kernels):
        for span in ranked.code.spans:
            key = id(ranked.unit), span.symbol
            if key not in units:
                units[key] = _Function([], set())
                for name in dict.fromkeys((span.symbol, demangled(span.symbol, readable))):
                    functions.setdefault(name, {}).setdefault(ranked.unit.model.name, []).append(units[key])
            units[key].spans.append((span.offset, span.offset + span.bytes, n))
            units[key].interior.update(ranked.code.interior)
    return functions


def _by_code(kernels: Sequence[RankedKernel], numbers: Sequence[int]) -> dict[tuple[str, ...], list[int]]:
    """Return kernels by their mnemonics, the longest first, because a longer one may contain a shorter one."""
    grouped: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for n in numbers:
        if kernels[n].code.mnemonics:
            grouped[kernels[n].code.mnemonics].append(n)
    return {code: grouped[code] for code in sorted(grouped, key=lambda code: (-len(code), code))}


def _occurrences(rows: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return the places of a sequence of mnemonics, as disassemblers write them: with fewer suffixes than compilers."""
    places = []
    at = 0
    while at + len(wanted) <= len(rows):
        if all(same_mnemonic(rows[at + n], wanted[n]) for n in range(len(wanted))):
            places.append(at)
            at += len(wanted)
        else:
            at += 1
    return places


def _text(profile: Profile, total: float) -> str:
    """Return a description of a profile's contents."""
    if profile.unit == SAMPLES:
        if profile.kind in ("perf-report", "list"):
            return "percentages of the time"
        if profile.kind == "incc-run":
            return f"{counted(len(profile.samples), 'loop')} that ran"
        return f"{len(profile.samples) or f'{total:.0f}'} samples"
    if profile.lines:
        files = len({line.file for line in profile.lines})
        return f"executions of {len(profile.lines)} lines of {files} {'file' if files == 1 else 'files'}"
    return f"executions of {len(profile.functions)} functions"
