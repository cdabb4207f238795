"""A kernel of a build, as far as a ranking looks at it: reports have twenty kilobytes of each."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import msgspec

from incc.core.prediction import WORTH_SAYING
from incc.frontends.isa import mnemonic
from incc.ranking import types as r

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from incc.report import types as t
    from incc.report.where import Value

OUT_OF_REACH = ("remainder", "prologue", "fallback", "outer")
"""Roles of loops that run little beside their main loop, or have no work of their own."""


class Code(msgspec.Struct, frozen=True, kw_only=True):
    """Where the code of a kernel is: the lines of the source that its instructions come from, by file; its mnemonics in
    the order of the text; its place in its function in bytes (-1 where that is not known), and how many they are."""

    lines: Mapping[str, frozenset[int]]
    mnemonics: tuple[str, ...]
    offset: int
    size: int


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel in a report: all but `code` is for its row. `values`: of the names that conditions use."""

    unit: t.Unit
    kernel: t.Kernel
    report: str
    code: Code
    headroom: r.Headroom
    values: Mapping[str, Value]

    @property
    def in_reach(self) -> bool:
        return self.kernel.role.name not in OUT_OF_REACH

    def path(self, file: str) -> str:
        """The whole path of a file that the report names, as far as that is known."""
        return whole(self.unit.folder, file)


def loops_of(kernels: Sequence[Seen]) -> list[int]:
    """For each kernel the number of its loop of the source on its core: the same for what a compiler, or several
    builds, made of one loop, whichever of its lines they say it is at."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for n, seen in enumerate(kernels):
        kernel, model = seen.kernel, seen.unit.model.name
        source = kernel.source
        key: tuple[Any, ...] = (
            model,
            seen.path(seen.unit.source or seen.unit.assembly_file),
            kernel.kernel_id,
        )
        if source:
            key = model, seen.path(source.file), kernel.source_function or kernel.function_name
        groups.setdefault(key, []).append(n)
    found = list(range(len(kernels)))

    def first(n: int) -> int:
        while found[n] != n:
            n = found[n]
        return n

    for members in groups.values():
        by_line: dict[int, int] = {}
        for n in members:
            source = kernels[n].kernel.source
            other = by_line.setdefault(source.line if source else 0, n)
            found[first(n)] = first(other)
        # One is at a line of the other's: a loop may be said to be at its head, or at its body.
        for n in members:
            source = kernels[n].kernel.source
            for line in kernels[n].code.lines.get(source.file, ()) if source else ():
                if line in by_line:
                    found[first(n)] = first(by_line[line])
    return [first(n) for n in range(len(kernels))]


def whole(folder: str, file: str) -> str:
    """The path of a file that is named in a folder, "" where that is not known."""
    path = file if file.startswith("/") or not folder else f"{folder}/{file}"
    return os.path.normpath(path) if "/." in path or "//" in path or path.startswith("./") else path


def code_of(kernel: t.Kernel, texts: bool) -> Code:
    """Where the code of a kernel is; its mnemonics only where `texts` are wanted."""
    lines: dict[str, set[int]] = {}
    for instruction in kernel.instructions:
        place = instruction.source
        if place:
            lines.setdefault(place.file, set()).add(place.line)
    kept = {file: frozenset(numbers) for file, numbers in lines.items()}
    instructions = sorted(kernel.instructions, key=lambda i: i.line)
    # Text has the name of a label there, machine code the place in its function.
    found = _OFFSET.search(kernel.name) if instructions and not instructions[0].line else None
    mnemonics = tuple(mnemonic(instruction.text) for instruction in instructions) if texts else ()
    return Code(lines=kept, mnemonics=mnemonics, offset=int(found[1], 16) if found else -1, size=kernel.size.bytes)


_OFFSET = re.compile(r"\+0x([0-9a-f]+)$")


# What leaves so much open that it says little where another change gains as much.
_ANYTHING = ("unlimited-ports", "dependencies", "window")


def headroom_of(kernel: t.Kernel, trials: dict[str, tuple[float, tuple[str, ...]]]) -> r.Headroom:
    """How much faster a kernel might be. `trials`: by kernel_id, how many times as fast, less 1, it is with flags."""
    cycles = kernel.cycles
    least = WORTH_SAYING * cycles
    tried = [w for w in kernel.what_ifs if not w.asked and w.gained >= least and w.gained > 0]
    found: r.Headroom = r.Headroom(cycles=cycles, gained=0.0, share=0.0, by="", change="", text="")
    if tried:
        most = max(w.gained for w in tried)
        alike = [w for w in tried if w.gained >= most - least]
        best: t.WhatIf = next((w for w in alike if w.change not in _ANYTHING), alike[0])
        found = _headroom(cycles, best.cycles, "what-if", best.change, best.text)
    if not kernel.what_ifs:
        found = _of_bounds(kernel, found)
    gain, flags = trials.get(kernel.kernel_id, (0.0, ()))
    if gain > WORTH_SAYING and cycles * (1 - 1 / (1 + gain)) > found.gained:
        spelled = " ".join(flags)
        found = _headroom(cycles, cycles / (1 + gain), "trial", spelled, f"compiled with {spelled}")
    return found


def _of_bounds(kernel: t.Kernel, nothing: r.Headroom) -> r.Headroom:
    """The same where no change of the core was tried: what the bounds say of it if the one that limits it were not."""
    cycles, bounds = kernel.cycles, kernel.bounds
    together: tuple[tuple[t.BoundName, ...], ...] = (("port", "divider"), ("front_end", "retire"), ("loop_carried",))
    values = [max(bounds.of(name).cycles for name in names) for names in together]
    largest = max(range(len(together)), key=values.__getitem__)
    rest = max(values[:largest] + values[largest + 1 :])
    # Where the simulation is above all bounds, none of them is what limits it.
    if not kernel.bounds.prediction.limited_by or cycles - rest < WORTH_SAYING * cycles:
        return nothing
    text = ("with more ports", "with a faster front end", "without carried dependencies")[largest]
    return _headroom(cycles, rest, "bounds", together[largest][0], text)


def _headroom(cycles: float, least: float, by: Any, change: str, text: str) -> r.Headroom:
    gained = max(cycles - least, 0.0)
    share = round(min(gained / cycles, 1.0), 6) if cycles else 0.0
    return r.Headroom(cycles=least, gained=round(gained, 6), share=share, by=by, change=change, text=text)


def trials_of(unit: t.Unit) -> dict[str, tuple[float, tuple[str, ...]]]:
    """By kernel_id the largest gain that compiling a unit with flags of hints brought, and these flags."""
    found: dict[str, tuple[float, tuple[str, ...]]] = {}
    for trial in unit.trials or ():
        for loop in trial.loops:
            gain = loop.gain
            if gain is not None and gain > found.get(loop.kernel_id, (0.0, ()))[0]:
                found[loop.kernel_id] = gain, tuple(trial.flags)
    return found
