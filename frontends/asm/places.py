"""The places of loops in the user's source, and the functions that were inlined there."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

import msgspec
from msgspec.structs import replace

from incc.frontends.asm.parse import INSTRUCTION, Assembly
from incc.frontends.kernel import Frame, Inlined, LeftOut, Region, SourceLocation

_OUTLINED = "omp_outlined"

INSIDE = 0.75
"""The share of a loop's instructions that must come from an inlined function for the loop to be that function's.

It is less than all, because compilers move instructions in from around the loop, and more than half, because half of a
short loop may be the comparison and the step of an iterator, which are functions too.
"""


class UserPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A place in the user's source."""

    source: SourceLocation | None
    """The user's line, or that of a system header if no line is the user's."""
    function: str
    """The symbol or name of the function with that line."""
    inlined: tuple[Frame, ...]
    """The functions inlined at that line, outermost first."""
    inlined_into: tuple[Frame, ...]
    """The functions that the function itself was inlined into, outermost first."""
    is_users: bool
    """The line is the user's."""


class Places:
    """The places of instructions in the user's source, by numbers of any kind.

    `location` returns the line of an instruction, `inlined` has the functions inlined there, outermost first, and
    `is_system` returns True for a file that is not the user's.
    """

    def __init__(
        self,
        location: Callable[[int], SourceLocation | None],
        inlined: Mapping[int, tuple[Inlined, ...]],
        is_system: Callable[[str], bool],
    ) -> None:
        self._location = location
        self._inlined = inlined
        self._is_system = is_system

    def of(
        self, function: str, path: Sequence[int], body: Sequence[int], is_loop: bool, lines: Sequence[int] = ()
    ) -> UserPlace:
        """Return the place of code in the user's source.

        gcc and clang give a loop's branch back the line of the `for` or `while`. The result is the innermost line of
        the user's at that branch, in the innermost function that has the loop as a whole. If there is none, it is the
        user's line with the most instructions, such as that of a lambda.

        Args:
            function: the function of the code.
            path: the instructions that are analysed, in the order of execution.
            body: all instructions.
            is_loop: the last instruction of the path is a branch back.
            lines: the lines of the functions around the loop if the compiler reports them, outermost first, the loop's
                own last. They are needed for a loop whose body is all inlined and whose counter is gone, as of a lambda
                in vectors.
        """
        located = [i for i in path if self._location(i)]
        if not located:
            located = [i for i in body if self._location(i)]
        if not located:
            return UserPlace(source=None, function=function, inlined=(), inlined_into=(), is_users=True)
        last = path[-1] if is_loop and path[-1] in located else self._most_common(located)
        frames = self._frames(function, last)
        depth = len(lines) - 1
        if lines and len(frames) > depth and all(frames[n].line == lines[n] for n in range(depth)):
            # In that function the branch is the loop's own, unless it comes from a function inlined into it.
            here = frames[depth]
            own = here if len(frames) == depth + 1 or not lines[-1] else replace(here, line=lines[-1])
            frames = [*frames[:depth], own]
        else:
            depth = self._depth(last, located)
            frames = frames[: depth + 1]
        users = [level for level, frame in enumerate(frames) if not self._is_system(frame.file)]
        if users:
            return _place(frames, users[-1], True)
        count: Counter[tuple[str, int]] = Counter()
        around: dict[tuple[str, int], tuple[list[Frame], int]] = {}
        for i in body:
            inner = self._frames(function, i)
            users = [level for level, frame in enumerate(inner) if not self._is_system(frame.file)]
            if users:
                key = inner[users[-1]].file, inner[users[-1]].line
                count[key] += 1
                around.setdefault(key, (inner[: users[-1] + 1], users[-1]))
        if count:
            return _place(*around[min(count, key=lambda key: (-count[key], key))], True)
        return _place(frames, depth, False)

    def _depth(self, instruction: int, located: Sequence[int]) -> int:
        """Return how many of the functions inlined at an instruction have the loop of these instructions as a whole."""
        depth = 0
        for level, call in enumerate(self._calls(instruction)):
            within = sum(call.entry == other[level].entry for i in located if level < len(other := self._calls(i)))
            if within < INSIDE * len(located):
                break
            depth = level + 1
        return depth

    def _calls(self, instruction: int) -> tuple[Inlined, ...]:
        return self._inlined.get(instruction, ())

    def _most_common(self, located: Sequence[int]) -> int:
        """Return an instruction of the place that most of these have."""
        count = Counter([place for i in located if (place := self._location(i))])
        chosen = min(count, key=lambda place: (-count[place], place))
        return next(i for i in located if self._location(i) == chosen)

    def _frames(self, function: str, instruction: int) -> list[Frame]:
        """Return the functions around an instruction, outermost first. The last has the instruction's own line."""
        place = self._location(instruction)
        frames: list[Frame] = []
        for call in self._calls(instruction):
            frames.append(Frame(function, *call.call))
            function = call.name
        if place:
            frames.append(Frame(function, place.file, place.line))
        return frames


def _place(frames: Sequence[Frame], level: int, is_users: bool) -> UserPlace:
    here = frames[level]
    # clang wraps functions that it outlines for OpenMP in another function of its own.
    around = [
        frame
        for frame, inner in pairwise(frames[: level + 1])
        if not (_OUTLINED in frame.function and _OUTLINED in inner.function)
    ]
    return UserPlace(
        source=SourceLocation(here.file, here.line),
        function=here.function,
        inlined=tuple(frames[level + 1 :]),
        inlined_into=tuple(around),
        is_users=is_users,
    )


class NumberedInstructions:
    """The instructions of a text by their lines."""

    def __init__(self, assembly: Assembly) -> None:
        self._at: dict[int, list[int]] = {}
        for i, statement in enumerate(assembly.statements):
            if statement.kind == INSTRUCTION:
                self._at.setdefault(statement.line, []).append(i)
        self._lines = sorted(self._at)

    def on(self, lines: Iterable[int]) -> list[int]:
        """Return the statements on these lines, in their order."""
        return [i for line in lines for i in self._at.get(line, ())]

    def of_region(self, region: Region) -> tuple[list[int], list[int]]:
        """Return the statements on a region's path, and all of its statements."""
        path = self.on(region.lines)
        return path, path if region.body_lines == region.lines else self.on(region.body_lines)

    def of_span(self, span: LeftOut) -> list[int]:
        """Return the statements of a span of lines."""
        first = bisect_left(self._lines, span.first_line)
        return self.on(self._lines[first : bisect_left(self._lines, span.last_line + 1, first)])
