"""The instructions that one call of a function executes, for wanted iterations of its loops.

The function's control-flow graph is walked from its entry to its return, with an evaluator of integer code (`Evaluator`
in `frontends/isa.py`) that tells which branches are taken. If it cannot tell, the branch is guessed: first paths to
further loops are preferred, a loop is left after the wanted iterations, then paths without calls are preferred, and
then the code after the branch.

A first walk, a trace, finds the incoming registers and places in memory that the trip counts depend on. In it all
arguments are numbers that are far apart, every loop is left after a few iterations, and the evaluator follows the
origin of the comparisons that end loops. A value that is used as an address is a pointer, and gets a number of its own,
64-byte aligned and 4 GB from the next. Any other value that the end of a loop depends on is a trip count. Its number
follows from walks with several numbers: they show for which ones the loop with the most iterations runs one more
iteration, whatever the code computes in between (quotients, remainders, ends of arrays, thresholds). Other arguments
are 3: small, positive, and not the 1 for which compilers make special versions.

A trip count in memory may be an element of an array that the loop around traverses, such as the lengths of rows, or the
places where rows begin. Then the following elements have values for the same number of iterations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from math import ceil, prod

import msgspec

from incc.frontends.asm.graph import ControlFlow, IrreducibleCycle, NaturalLoop, loops
from incc.frontends.isa import POINTERS, Evaluator, Place
from incc.frontends.kernel import Instruction

MOST = 100_000
"""The most instructions of a path."""

# In the trace, each loop is left after these iterations: the differences of three comparisons show an even step.
_TRACED = 3
# The iterations of the main loop at which its trip count is measured. Below, thresholds may choose other loops.
_FIRST, _SECOND = 16, 20
# The main loop is the one with the most instructions when one has this many iterations: all others run remainders,
# up to 255 elements.
_MANY = 300
_LARGEST = 1 << 24
# The iterations at which an inner loop of vectors that is part of a triangle shows it.
_IN_TRIANGLE = 64
# After this many instructions, the main loop is the one with the most of them.
_LONG_WALK = 10_000
# The instructions of all walks that measure trip counts, some seconds at most. Most functions need a twentieth.
_MOST_TRIED = 4 * MOST
# The elements of an array of trip counts that get values, and in walks that measure trip counts.
_MOST_ENTRIES, _TRIED_ENTRIES = 4096, 128
# The values of arguments that are neither trip counts nor pointers. The larger one exceeds the trip counts of a walk
# that finds out which versions of loops run, as the length of a row does.
_SMALL, _LARGE = 3, 4096


# --- records ---------------------------------------------------------------------------------------------------------


class WantedTrips(msgspec.Struct, frozen=True, kw_only=True):
    """The wanted iterations of a source's loops."""

    inner: int
    """Iterations of innermost loops; those with a constant trip count do not count as loops inside."""
    outer: int = 1
    """Iterations of each loop around."""
    lines: dict[int, int] = {}
    """By the source line of a loop, before `inner` and `outer`."""


MOST_TRIPS, DEFAULT_TRIPS = 10**9, 100
"""The most iterations of a loop in a call, and those of innermost loops if only others are given."""


def parse_trips(text: str) -> WantedTrips:
    """Return the trip counts that a text gives, such as "27" or "inner=27,outer=1000,12=3". Raises ValueError."""
    counts: dict[str, int] = {}
    for part in text.split(","):
        name, equals, count = part.rpartition("=")
        if not re.fullmatch("[0-9]+", count) or not 1 <= int(count) <= MOST_TRIPS or name in counts:
            raise ValueError(
                f"is a number of iterations (1 to {MOST_TRIPS:,}), or several as inner=27,outer=1000,LINE=3; "
                f"{text!r} is neither"
            )
        if name not in ("inner", "outer") and (equals or part != text) and not re.fullmatch("[1-9][0-9]*", name):
            raise ValueError(f"names loops by inner, outer or their line in the source, not {name!r}")
        counts[name] = int(count)
    return WantedTrips(
        inner=counts.get("", counts.get("inner", DEFAULT_TRIPS)),
        outer=counts.get("outer", 1),
        lines={int(name): count for name, count in counts.items() if name.isdigit()},
    )


class LoopExit(msgspec.Struct, frozen=True, kw_only=True):
    """A branch that leaves a loop."""

    position: int
    """The index in `CallPath.numbers`."""
    header: int
    """The first instruction of the loop's header."""
    iterations: int
    """The iterations of the loop since it was entered."""


class Guess(msgspec.Struct, frozen=True, kw_only=True):
    """A branch whose condition is unknown."""

    position: int
    """The index in `CallPath.numbers`."""
    number: int
    """The number of the branch."""
    taken: bool


class CallPath(msgspec.Struct, frozen=True, kw_only=True):
    """The instructions that a call of a function executes."""

    function: str
    numbers: tuple[int, ...]
    """In the order of execution, as the control-flow graph numbers them."""
    loops: dict[int, tuple[int, ...]]
    """By the first instruction of a loop's header: the iterations each time it was entered. An iteration that ends in
    the header, at a test on top of the loop, is not counted."""
    exits: tuple[LoopExit, ...]
    guesses: tuple[Guess, ...]
    calls: tuple[int, ...]
    """The positions of calls, and of a jump to another function at the end."""
    inputs: dict[str, int]
    """The values of the arguments that the iterations depend on: by register, or place in memory ("8(rdi)"). A pointer
    to an end has the bytes from the begin."""


class NoCallPath(msgspec.Struct, frozen=True):
    """The reason that a function's calls cannot be followed."""

    reason: str
    """A clause."""


class _UnfollowableError(Exception):
    """A walk that cannot go on. The message is a `NoCallPath.reason`."""


_Input = str | Place
_Ends = dict[int, dict[_Input, None]]
_Stop = Callable[[dict[int, list[int]], int], bool]


# --- the graph -------------------------------------------------------------------------------------------------------


class _Code(msgspec.Struct, frozen=True, kw_only=True):
    """The code of a block."""

    instructions: Sequence[Instruction]
    calls: Sequence[int]
    """The indices in the block's numbers of calls."""
    run: Callable[[], bool | None]


class _Shape:
    """The loops of a function, and the ways through it."""

    def __init__(
        self, graph: ControlFlow, statement: Callable[[int], Sequence[Instruction]], evaluator: Evaluator
    ) -> None:
        self.graph = graph
        self.blocks = graph.blocks
        self.statement = statement
        self.evaluator = evaluator
        self._code: dict[int, _Code] = {}
        self._reach: dict[tuple[int, int], tuple[frozenset[int], bool]] = {}
        self.successors = [block.successors for block in graph.blocks]
        natural, irreducible = loops(self.successors, graph.entries)
        self.loops: dict[int, NaturalLoop] = {loop.header: loop for loop in natural}
        for cycle in sorted(irreducible, key=lambda cycle: len(cycle.nodes)):
            self._add_cycle(cycle)
        self.around: list[list[int]] = [[] for _ in graph.blocks]
        """The headers of the loops around each block, innermost first."""
        for loop in sorted(self.loops.values(), key=lambda loop: len(loop.body)):
            for b in loop.body:
                self.around[b].append(loop.header)

    def _add_cycle(self, cycle: IrreducibleCycle) -> None:
        """Add a cycle with several entries as a loop.

        Its header is a block that every way around it passes or else, of its entries, the one that most ways lead to.
        """
        latches = {b: [p for p in cycle.nodes if b in self.successors[p]] for b in cycle.nodes if b not in self.loops}
        header = max(
            latches, key=lambda b: (self._is_passed(b, cycle), b in cycle.entries, len(latches[b]), -b), default=-1
        )
        if header >= 0:
            around = [loop for loop in self.loops.values() if loop.header != header and header in loop.body]
            self.loops[header] = NaturalLoop(
                header=header,
                body=cycle.nodes,
                latches=tuple(latches[header]),
                depth=len(around) + 1,
                innermost=cycle.innermost,
            )

    def _is_passed(self, block: int, cycle: IrreducibleCycle) -> bool:
        """Return True if every way around a cycle passes a block, apart from the loops inside."""
        inner = {(latch, header) for header, loop in self.loops.items() for latch in loop.latches}
        ahead = {
            b: {t for t in self.successors[b] if t in cycle.nodes and t != block and (b, t) not in inner}
            for b in cycle.nodes
            if b != block
        }
        try:
            TopologicalSorter(ahead).prepare()
        except CycleError:
            return False
        return True

    def number(self, header: int) -> int:
        """Return the first instruction of a block."""
        return self.blocks[header].instructions[0]

    def code(self, b: int) -> _Code:
        """Return the decoded instructions of a block. Raises _UnfollowableError."""
        code = self._code.get(b)
        if code is None:
            decoded = [self.statement(number) for number in self.blocks[b].instructions]
            if not all(decoded):
                raise _UnfollowableError("one of its instructions cannot be decoded")
            instructions = [instruction for of_number in decoded for instruction in of_number]
            calls = [n for n, of_number in enumerate(decoded) for i in of_number if i.branch == "call"]
            run = self.evaluator.block(instructions)
            code = self._code[b] = _Code(instructions=instructions, calls=calls, run=run)
        return code

    def size(self, header: int) -> int:
        """Return the instructions of a loop."""
        return sum(len(self.blocks[b].instructions) for b in self.loops[header].body)

    def parent(self, header: int) -> int:
        """Return the header of the loop around a loop, -1 for an outermost one."""
        return self.around[header][1] if len(self.around[header]) > 1 else -1

    def leaves(self, b: int, way: int) -> list[int]:
        """Return the headers of the loops that are left from block b to block `way`."""
        return [header for header in self.around[b] if way not in self.loops[header].body]

    def preference(self, b: int, way: int) -> tuple[bool, int, bool, bool]:
        """Return the rank of the way from one block to another, if it leaves no loop."""
        inside = self.around[b][0] if self.around[b] else -1
        ahead, returns = self._reached(way, inside)
        return returns, len(ahead), not self.code(way).calls, way == self.blocks[b].fall

    def chooses(self, b: int, among: Set[int]) -> bool:
        """Return True if a block ends in a branch that decides which of some loops (headers) is entered."""
        block, inside = self.blocks[b], self.around[b][0] if self.around[b] else -1
        ways = [way for way in {block.fall, *block.taken} if way >= 0]
        if any(self.leaves(b, way) for way in ways):
            return False
        return len({self._reached(way, inside)[0] & among for way in ways} - {frozenset()}) > 1

    def _reached(self, start: int, inside: int) -> tuple[frozenset[int], bool]:
        """Return the loops ahead of a block in the same iteration of the loop around, and if the way has an end."""
        key = start, inside
        if key in self._reach:
            return self._reach[key]
        body = self.loops[inside].body if inside >= 0 else None
        seen: set[int] = set()
        work = [start]
        returns = False
        while work:
            b = work.pop()
            if b in seen:
                continue
            if b == inside or (body is not None and b not in body):
                returns = True
                continue
            seen.add(b)
            block = self.blocks[b]
            returns |= block.branch == "return" or (block.branch == "unconditional" and not block.taken)
            work.extend(block.successors)
        reached = self._reach[key] = frozenset(seen & self.loops.keys()), returns
        return reached


# --- walks -----------------------------------------------------------------------------------------------------------


class _Walk:
    """One walk from a function's entry to its end."""

    def __init__(
        self,
        shape: _Shape,
        wanted: Mapping[int, int],
        counted: Iterable[int] = (),
        unsteady: Set[int] = frozenset(),
    ) -> None:
        self.shape = shape
        self.evaluator = shape.evaluator
        self.wanted = wanted
        """By loop: the iterations after which it is left by a guess."""
        self.counted = set(counted)
        """The loops with an end that the evaluator knows. No guess leaves them."""
        self.unsteady = unsteady
        """The loops that end by data, even where the evaluator knows some of it."""
        self.traces: dict[tuple[int, int], list[tuple[frozenset[_Input], int | None]]] | None = None
        """In a trace: by loop and branch that may leave it, the sources and results of the comparisons."""
        self.again: dict[tuple[int, int], frozenset[_Input]] = {}
        """In a trace: by the same, the sources when the loop was entered a second time."""
        self.numbers: list[int] = []
        self.iterations: dict[int, list[int]] = {}
        self.exits: list[LoopExit] = []
        self.guesses: list[Guess] = []
        self.calls: list[int] = []
        self._open: list[int] = []
        self._ends: set[tuple[int, int]] = set()
        """The loops, each with a branch that the evaluator knew to stay in it or to leave it."""

    def run(self, stop: _Stop | None = None) -> None:
        """Walk to the end, or until `stop` holds for iterations and instructions so far. Raises _UnfollowableError."""
        shape = self.shape
        b, previous = shape.graph.entries[0] if shape.graph.entries else -1, -1
        if b < 0:
            raise _UnfollowableError("it has no code")
        while b >= 0:
            self._enter(b, previous)
            if stop is not None and stop(self.iterations, len(self.numbers)):
                return
            taken = self._block(b)
            previous, b = b, self._next(b, taken)
        self._close(lambda header: True, previous)

    def _enter(self, b: int, previous: int) -> None:
        """Count the loops that end or begin, or begin an iteration, with a block."""
        loops_of = self.shape.loops
        self._close(lambda header: b not in loops_of[header].body, previous)
        # Loops that overlap without one containing the other may be open, too.
        for header in reversed(self.shape.around[b]):
            if header not in self._open:
                self._open.append(header)
                self.iterations.setdefault(header, []).append(0)
        if b in loops_of:
            self.iterations[b][-1] += 1

    def _close(self, left: Callable[[int], bool], previous: int) -> None:
        while self._open and left(self._open[-1]):
            header = self._open.pop()
            if self._on_top(header, previous):
                self.iterations[header][-1] -= 1
            number = self.shape.number(header)
            count = self.iterations[header][-1]
            self.exits.append(LoopExit(position=len(self.numbers) - 1, header=number, iterations=count))

    def _on_top(self, header: int, b: int) -> bool:
        """Return True if leaving a loop from block b ends no iteration: its header tests before the body."""
        return b == header and header not in self.shape.loops[header].latches

    def _block(self, b: int) -> bool | None:
        code = self.shape.code(b)
        self.calls += [len(self.numbers) + n for n in code.calls]
        self.numbers += self.shape.blocks[b].instructions
        if len(self.numbers) > MOST:
            raise _UnfollowableError(f"a call executes more than {MOST:,} instructions")
        if self.traces is None:
            return code.run()
        taken = None
        for instruction in code.instructions:
            taken = self.evaluator.run(instruction)
        return taken

    def _next(self, b: int, taken: bool | None) -> int:
        """Return the block that follows block b, -1 at the end of the function."""
        block = self.shape.blocks[b]
        if block.branch == "return":
            return -1
        if block.branch == "conditional":
            return self._branch(b, taken)
        if block.branch == "":
            if block.fall < 0:
                raise _UnfollowableError("control runs past its end")
            return block.fall
        if block.branch == "unconditional":
            if not block.taken:
                self.calls.append(len(self.numbers) - 1)
            return block.taken[0] if block.taken else -1
        if block.branch == "stop" and self.traces is not None:
            return -1
        if block.branch == "stop":
            raise _UnfollowableError("the path through it ends in a trap or a call that does not return")
        if not block.taken:
            raise _UnfollowableError("the targets of an indirect jump are unknown")
        return self._guess(b, block.taken)

    def _branch(self, b: int, taken: bool | None) -> int:
        block, shape = self.shape.blocks[b], self.shape
        target = block.taken[0] if block.taken else -1
        if block.fall < 0 or target < 0:
            # One way leads to another function.
            if taken is None:
                taken = block.fall < 0
                self._note(b, taken)
            elif (target if taken else block.fall) < 0:
                self.calls.append(len(self.numbers) - 1)
            return target if taken else block.fall
        ways = (block.fall, target)
        leaving = {header for way in ways for header in shape.leaves(b, way)}
        depends = self.traces is not None and bool(self.evaluator.flag_terms)
        if self.traces is not None:
            sources = frozenset(self.evaluator.flag_terms)
            for header in leaving:
                if len(self.iterations[header]) > 1:
                    # Later entries may begin with other values.
                    self.again.setdefault((header, b), sources)
                    continue
                self.traces.setdefault((header, b), []).append((sources, self.evaluator.difference))
        elif not leaving.isdisjoint(self.unsteady):
            # Data end the loop, so any known value of the condition is a coincidence.
            taken = None
        elif taken is not None:
            self.counted |= leaving
            self._ends.update((header, b) for header in leaving)
        way = target if taken else block.fall
        # A trace follows all loops, and leaves them early, but not because of data in memory alone.
        by_data = depends and not any(isinstance(name, str) for name in self.evaluator.flag_terms)
        if taken is None or by_data or (depends and not shape.leaves(b, way)):
            return self._guess(b, ways)
        return way

    def _guess(self, b: int, ways: Sequence[int]) -> int:
        shape = self.shape
        header = shape.around[b][0] if shape.around[b] else -1
        inside = [way for way in ways if header < 0 or way in shape.loops[header].body]
        if inside and len(inside) < len(ways):
            done = self.iterations[header][-1] - self._on_top(header, b)
            # A loop may end by a number when it is first entered, and later by data at the same branch.
            by_guess = self.traces is not None or header not in self.counted or (header, b) in self._ends
            enough = done >= self.wanted[header] and by_guess
            ways = [way for way in ways if way not in inside] if enough else inside
        way = max(ways, key=lambda way: shape.preference(b, way))
        self._note(b, way != shape.blocks[b].fall)
        return way

    def _note(self, b: int, taken: bool) -> None:
        number = self.shape.blocks[b].instructions[-1]
        self.guesses.append(Guess(position=len(self.numbers) - 1, number=number, taken=taken))


# --- trip counts -----------------------------------------------------------------------------------------------------


class _Count(msgspec.Struct, frozen=True, kw_only=True):
    """The values of an input for all numbers of iterations of a loop of the source."""

    name: _Input
    base: int
    """A pointer's distance is from this address."""
    first: Fraction
    """The value for no iterations, above the base. Calls with a few iterations may be special."""
    per_trip: Fraction
    """The amount that is added for one more."""
    one: int
    """The value at which the first iteration runs, 0 if that is not known."""

    def value(self, trips: int) -> int:
        """Return the value that leads to a number of iterations."""
        if not self.one:
            return self.base + max(0, ceil(self.first + trips * self.per_trip))
        # Compilers peel iterations off, so those of the loops may be fewer than the source's.
        counted = self.one - 1 + trips * self.per_trip if self.per_trip < 1 else self.one + (trips - 1) * self.per_trip
        return self.base + ceil(counted)


class CallFollower:
    """A function whose calls are followed, for any wanted iterations of its loops."""

    def __init__(
        self,
        graph: ControlFlow,
        statement: Callable[[int], Sequence[Instruction]],
        evaluator: Evaluator,
        elements: Mapping[int, int] = {},
        lines: Mapping[int, int] = {},
    ) -> None:
        """Trace a function.

        Args:
            graph: the function.
            statement: returns the decoded instructions of a number of the graph, none if they cannot be decoded.
            evaluator: the instruction set's. Only one follower may use it.
            elements: the source iterations per iteration of loops, by the first instruction of the header. For other
                loops they follow from the steps of the trip count.
            lines: the source lines of loops, by the first instruction of the header. Loops at different lines are
                different loops of the source.
        """
        shape = self._shape = _Shape(graph, statement, evaluator)
        self._evaluator = evaluator
        self._lines = {header: lines.get(shape.number(header), 0) for header in shape.loops}
        self._elements = {header: elements.get(shape.number(header), 0) for header in shape.loops}
        self._values: dict[_Input, int] = {}
        self._pointers: set[_Input] = set()
        self._inputs: dict[int, list[_Input]] = {}
        """By loop: the inputs that its end depends on, the likely trip counts first."""
        self._bases: dict[int, list[_Input]] = {}
        """By loop: the pointers that its end depends on."""
        self._steps: dict[int, int] = {}
        """By loop: the smallest step of a comparison that ends it."""
        self._strides: dict[Place, int] = {}
        """By place that a trip count comes from: the bytes to the place for the next iteration of the loop around."""
        self._counted: set[int] = set()
        self._constant: set[int] = set()
        """The loops whose iterations are in the code."""
        self._unsteady: set[int] = set()
        self._bounded: set[int] = set()
        """The loops that end after a few iterations, whatever the arguments are."""
        self._nests: dict[tuple[int, int], str] = {}
        self._few = dict.fromkeys(shape.loops, _TRACED)
        """The iterations of loops that end by data, in walks that measure trip counts."""
        self._tried = 0
        """The instructions of all walks that measure trip counts."""
        self._counts: dict[tuple[int, _Input], _Count | None] = {}
        self._reason = ""
        try:
            self._trace()
        except _UnfollowableError as error:
            self._reason = str(error)

    def path(self, trips: WantedTrips) -> CallPath | NoCallPath:
        """Return the instructions that a call executes."""
        try:
            solved, walk = self._to(trips)
        except _UnfollowableError as error:
            return NoCallPath(str(error))
        return CallPath(
            function=self._shape.graph.name,
            numbers=tuple(walk.numbers),
            loops=self._iterations(walk),
            exits=tuple(walk.exits),
            guesses=tuple(walk.guesses),
            calls=tuple(walk.calls),
            inputs=self._described(solved),
        )

    def first_loops(
        self, trips: WantedTrips, instructions: int, versions: Set[int], others: Sequence[int] = (_SMALL, _LARGE)
    ) -> dict[int, tuple[int, ...]]:
        """Return the iterations of the loops among the first instructions of a call, as `CallPath.loops` has them.

        The result is empty if the call cannot be followed, or if something unknown decides which of the loops
        `versions` (by the first instructions of their headers) run: a trip count, a guess, or another argument that has
        one of the values `others`.
        """
        shape = self._shape
        headers = {header for header in shape.loops if shape.number(header) in versions}
        walks = []
        for other in others:
            try:
                _, walk = self._to(trips, lambda iterations, done: done >= instructions, other)
            except _UnfollowableError:
                return {}
            numbers = {guess.number for guess in walk.guesses}
            guessed = [b for b, block in enumerate(shape.blocks) if not numbers.isdisjoint(block.instructions)]
            if headers & self._unsteady or any(shape.chooses(b, headers) for b in guessed):
                return {}
            walks.append(walk)
        entered = {frozenset(header for header in headers if any(walk.iterations.get(header, ()))) for walk in walks}
        return self._iterations(walks[0]) if len(entered) == 1 else {}

    def _to(
        self, trips: WantedTrips, stop: _Stop | None = None, other: int = _SMALL
    ) -> tuple[dict[_Input, int], _Walk]:
        """Return the trip counts of a call, and the walk through it until `stop` holds. Raises _UnfollowableError.

        Arguments that are neither trip counts nor pointers have the value `other`.
        """
        if self._reason:
            raise _UnfollowableError(self._reason)
        wanted = {header: self._wanted(header, trips) for header in self._shape.loops}
        solved = self._solved(trips, wanted)
        if other != _SMALL:
            solved = {name: other for name in self._values if name not in self._pointers} | solved
        iterations = {header: ceil(Fraction(count, self._elements[header] or 1)) for header, count in wanted.items()}
        return solved, self._walk(solved, iterations, stop, min(_MOST_ENTRIES, prod(wanted.values())))

    def _iterations(self, walk: _Walk) -> dict[int, tuple[int, ...]]:
        return {self._shape.number(header): tuple(counts) for header, counts in walk.iterations.items()}

    def _wanted(self, header: int, trips: WantedTrips) -> int:
        """Return the wanted iterations of a loop's source."""
        # Loops of a constant number of iterations do not make the ones around them outer loops.
        body = self._shape.loops[header].body
        inside = [other for other in body if other != header and other in self._shape.loops]
        is_inner = not inside or (header in self._inputs and all(h in self._constant for h in inside))
        return trips.lines.get(self._lines[header], trips.inner if is_inner else trips.outer)

    # --- the trace ---

    def _walk(
        self,
        changes: Mapping[_Input, int],
        wanted: Mapping[int, int],
        stop: _Stop | None = None,
        entries: int = _TRIED_ENTRIES,
    ) -> _Walk:
        """Walk with these values and those of `_values`; arrays have `entries` elements. Raises _UnfollowableError."""
        values = {**self._values, **changes}
        values = {**self._next_elements(values, entries), **values}
        registers = {name: value for name, value in values.items() if isinstance(name, str)}
        memory = {place: value for place, value in values.items() if not isinstance(place, str)}
        self._evaluator.reset(registers, memory)
        walk = _Walk(self._shape, wanted, self._counted, self._unsteady)
        try:
            walk.run(stop)
        finally:
            self._tried += len(walk.numbers)
        return walk

    def _trace(self) -> None:
        """Find the pointers, and the inputs that the ends of loops depend on."""
        evaluator = self._evaluator
        # The lower half is positive as well, for trip counts of 32 bits.
        registers = {name: POINTERS + (n + 1 << 32) + (1 << 20) for n, name in enumerate(evaluator.arguments)}
        evaluator.reset(registers, {}, trace=True)
        walk = _Walk(self._shape, self._few)
        walk.traces = {}
        walk.run()
        names = self._ends(walk.traces)
        for branch, again in walk.again.items():
            self._strides |= _strides(walk.traces[branch][0][0] if branch in walk.traces else frozenset(), again)
        # In a triangle, a later entry has other iterations.
        self._constant = {header for header in self._constant if len(set(walk.iterations[header])) == 1}
        ends = {name for of_loop in names.values() for name in of_loop}
        self._find_pointers([dict(terms) for terms in evaluator.addresses], ends)
        for header, of_loop in names.items():
            counts = [name for name in of_loop if name not in self._pointers]
            others = [name for name in of_loop if name in self._pointers]
            self._inputs[header] = counts + (others if len(others) > 1 else [])
        self._values = {name: _SMALL for name in (*registers, *sorted(ends, key=str)) if name not in self._pointers}
        self._values |= {name: value for name, value in registers.items() if name in self._pointers}
        self._values |= {place: value for place, value in evaluator.fresh.items() if place in self._pointers}
        self._pointers &= self._values.keys()
        self._bases = {
            header: [name for name in of_loop if name in self._pointers] for header, of_loop in names.items()
        }

    def _ends(self, traces: Mapping[tuple[int, int], list[tuple[frozenset[_Input], int | None]]]) -> _Ends:
        """Return the inputs that the ends of loops depend on, from the comparisons in the trace."""
        names: _Ends = {}
        uneven: set[int] = set()
        for (header, _), comparisons in traces.items():
            differences = [difference for _, difference in comparisons]
            depends = any(sources for sources, _ in comparisons)
            step = _even_step(differences)
            if None in differences or (depends and not step):
                if len(differences) > 1 or None in differences:
                    uneven.add(header)
                continue
            self._counted.add(header)
            if not depends:
                self._constant.add(header)
            if step:
                common = frozenset.intersection(*[sources for sources, _ in comparisons])
                names.setdefault(header, {}).update(dict.fromkeys(sorted(common, key=self._order)))
                self._steps[header] = min(abs(step), self._steps.get(header, abs(step)))
        self._unsteady = uneven - self._counted
        return names

    def _order(self, name: _Input) -> tuple[int, int]:
        """Return the rank of an input: arguments in registers in their order, then memory."""
        if isinstance(name, str):
            return 0, self._evaluator.arguments.index(name) if name in self._evaluator.arguments else 99
        return 1, name[0]

    def _find_pointers(self, addresses: Iterable[Mapping[_Input, int]], ends: set[_Input]) -> None:
        ambiguous: list[list[_Input]] = []
        for terms in addresses:
            bases = [name for name, coefficient in terms.items() if coefficient == 1]
            if len(bases) == 1:
                self._pointers.add(bases[0])
            elif bases:
                ambiguous.append(bases)
        for bases in ambiguous:
            if not self._pointers.intersection(bases):
                self._pointers.add(min(bases, key=lambda name: (name in ends, self._order(name))))

    # --- trip counts ---

    def _solved(self, trips: WantedTrips, wanted: Mapping[int, int]) -> dict[_Input, int]:
        """Return the trip counts of all loops: those wanted by line first, then inner ones before outer ones."""
        by_line = {header for header in wanted if self._lines[header] in trips.lines}
        solved: dict[_Input, int] = {}
        for header in sorted(self._inputs, key=lambda h: (h not in by_line, -self._shape.loops[h].depth, h)):
            names = self._inputs[header]
            if any(name in solved for name in names):
                continue
            count = next((count for name in names if (count := self._count(header, name))), None)
            if count is not None:
                solved[count.name] = self._shared_value(header, count, wanted)
            elif names and header not in self._bounded:
                # Its comparisons may still be known, and never end it.
                self._unsteady.add(header)
                self._counted.discard(header)
        return solved

    def _next_elements(self, values: Mapping[_Input, int], entries: int) -> dict[_Input, int]:
        """Return values of the elements of arrays behind the first ones, for equally many iterations each time."""
        elements: dict[_Input, int] = {}
        for names in self._inputs.values():
            for name in names:
                if isinstance(name, str) or name not in values or not (stride := self._strides.get(name, 0)):
                    continue
                (address, size), value = name, values[name]
                # Where the place before or behind it counts as well, they are the begin and the end of a row.
                before, behind = (address - stride, size), (address + stride, size)
                added = values[behind] - value if behind in names and behind in values else 0
                added = value - values[before] if before in names and before in values else added
                elements |= {(address + n * stride, size): value + n * added for n in range(1, entries + 1)}
        return elements

    def _shared_value(self, header: int, count: _Count, wanted: Mapping[int, int]) -> int:
        """Return the value of a trip count, which may be that of loops around as well."""
        value = count.value(wanted[header])
        for outer in self._shape.around[header][1:]:
            if wanted[outer] == 1 or count.base or count.name not in self._inputs.get(outer, ()):
                continue
            nest = self._nest(header, outer, count)
            if nest == "blocks":
                return (wanted[outer] - 1) * self._steps[outer] + min(value, self._steps[outer])
            if nest == "triangle" and (of_outer := self._count(outer, count.name)):
                return of_outer.value(wanted[outer])
        return value

    def _nest(self, header: int, outer: int, count: _Count) -> str:
        """Return "blocks" or "triangle" for an inner loop whose iterations do not follow from a trip count alone.

        Blocks are parts of the outer loop's range, a triangle's inner loop depends on the outer one's counter.
        """
        nest = self._nests.get((header, outer))
        if nest is not None:
            return nest
        step, siblings = self._steps[outer], self._siblings(header)
        nest = ""
        with suppress(_UnfollowableError):
            done = self._walk({count.name: 3 * step}, self._few).iterations
            sizes = [done[h][0] * (self._elements[h] or 1) for h in siblings if h in done]
            if sizes and step > _SECOND and sum(sizes) <= step:
                nest = "blocks"
            else:
                done = self._walk({count.name: count.value(_IN_TRIANGLE)}, self._few).iterations
                entries = max((done.get(h, [0]) for h in siblings), key=sum)
                nest = "triangle" if abs(entries[-1] - entries[0]) > 1 else ""
        self._nests[header, outer] = nest
        return nest

    def _count(self, header: int, name: _Input) -> _Count | None:
        """Return the values of an input for the iterations of a loop, or another one of the same loop of the source."""
        if (header, name) in self._counts:
            return self._counts[header, name]
        pointers = [pointer for pointer in self._bases[header] if pointer != name]
        granule = max((self._steps[h] for h, names in self._inputs.items() if name in names), default=1)
        options = [(0, 1)] if name not in self._pointers else []
        count = None
        for base, unit in [*options, *((self._values[p], granule) for p in pointers)]:
            try:
                count = count or self._measured(header, name, base, unit)
            except _UnfollowableError:
                continue
        self._counts[header, name] = count
        return count

    def _siblings(self, header: int) -> list[int]:
        """Return the loops that may be of the same loop of the source."""
        shape = self._shape
        if not shape.loops[header].innermost:
            return [header]
        return [
            other
            for other, loop in shape.loops.items()
            if loop.innermost
            and shape.parent(other) == shape.parent(header)
            and self._lines[other] == self._lines[header]
        ]

    def _measured(self, header: int, name: _Input, base: int, granule: int) -> _Count | None:
        """Return the values of an input above `base`; None if the loop does not depend on it as a trip count does."""
        siblings = self._siblings(header)

        def counts(units: int, most: int, among: Sequence[int]) -> dict[int, int]:
            """Return the iterations of loops when they are first entered, up to some number."""
            if self._tried > _MOST_TRIED:
                raise _UnfollowableError("finding its trip counts takes too long")

            def stop(done: dict[int, list[int]], instructions: int) -> bool:
                # Large main loops have fewer iterations.
                most_here = most if instructions < _LONG_WALK else min(most, _SECOND)
                return any(h in done and (done[h][0] > most_here or len(done[h]) > 1) for h in among)

            done = self._walk({name: base + units * granule}, self._few, stop).iterations
            return {h: done[h][0] for h in among if h in done}

        most = _MANY if len(siblings) > 1 else _SECOND
        high = 4 * most
        while True:
            reached = counts(high, most, siblings)
            main = max(reached, key=lambda h: reached[h] * self._shape.size(h), default=-1)
            if main >= 0 and reached[main] > _SECOND:
                break
            high *= 4
            if high > _LARGEST:
                self._bounded |= reached.keys()
                return None

        def threshold(iterations: int, guess: int) -> int:
            """Return the smallest number of units that gives a number of iterations of the main loop."""
            reaches = lambda units: counts(units, iterations, [main]).get(main, 0) >= iterations  # noqa: E731
            return _smallest(reaches, guess, high)

        first = threshold(_FIRST, _FIRST * (self._elements[main] or 1))
        if counts(first, 2 * _FIRST, [main])[main] > 2 * _FIRST:
            return None  # it does not end at all numbers
        second = threshold(_SECOND, first * _SECOND // _FIRST)
        per_iteration = Fraction(second - first, _SECOND - _FIRST)
        # Thresholds that grow faster than the iterations are of a loop that multiplies.
        if first < per_iteration * _FIRST / 2 or per_iteration <= 0:
            return None
        if not self._elements[main]:
            smallest = min(self._steps.get(h, granule) for h in siblings) if base else 1
            # A lone loop up to an end may compare numbers of elements instead of the bytes between pointers.
            alone = base and len(siblings) == 1
            self._elements[main] = 1 if alone else max(1, round(per_iteration * granule / smallest))
        elements = self._elements[main]
        per_trip = per_iteration / elements
        if not base and self._shape.loops[header].depth > 1:
            # Elements of several iterations of the loop around, which is unrolled.
            per_trip = max(per_trip, Fraction(1))
        return _Count(
            name=name,
            base=base,
            first=(first - _FIRST * elements * per_trip) * granule,
            per_trip=per_trip * granule,
            one=0 if base else self._first_counted(name, per_trip, siblings),
        )

    def _first_counted(self, name: _Input, per_trip: Fraction, siblings: Sequence[int]) -> int:
        """Return the trip count at which the first iteration runs.

        The result is 0 if calls with a trip count of 0 run the loops as well, or all calls with small ones are alike.
        """
        try:
            nothing = self._walk({name: 0}, self._few)
            if any(nothing.iterations.get(h, [0])[0] for h in siblings):
                return 0
            small = range(1, ceil(2 * per_trip) + 2)
            return next(n for n in small if self._walk({name: n}, self._few).numbers != nothing.numbers)
        except (_UnfollowableError, StopIteration):
            return 0

    def _described(self, solved: Mapping[_Input, int]) -> dict[str, int]:
        """Return the trip counts by names for people."""
        result = {}
        for name, value in solved.items():
            nearest = min((value - self._values[p] for p in self._pointers if value >= self._values[p]), default=value)
            result[self._named(name)] = nearest if value > POINTERS else value
        return result

    def _named(self, name: _Input) -> str:
        if isinstance(name, str):
            return name
        address = name[0]
        register, value = self._evaluator.stack
        bases = {value: register} | {self._values[p]: p for p in self._pointers if isinstance(p, str)}
        below = [base for base in bases if 0 <= address - base < 1 << 31]
        return f"{address - max(below)}({bases[max(below)]})" if below else "memory"


def _strides(first: Set[_Input], again: Set[_Input]) -> dict[Place, int]:
    """Return the distances between the places in memory that a loop's end depends on when it is entered once and again.

    The result is empty if they do not correspond to each other.
    """
    places, later = (sorted(name for name in names if not isinstance(name, str)) for names in (first, again))
    if len(places) != len(later):
        return {}
    pairs = zip(places, later, strict=True)
    return {place: next_one[0] - place[0] for place, next_one in pairs if place[1] == next_one[1] and place != next_one}


def _smallest(holds: Callable[[int], bool], guess: int, above: int) -> int:
    """Return the smallest number from 0 for which something holds, which does for `above` and less below it."""
    low, step = -1, 1
    if guess < above and holds(guess):
        above, guess = guess, guess - 1
        while guess >= 0 and holds(guess):
            above, guess, step = guess, guess - step, 2 * step
        low = max(guess, -1)
    else:
        while guess < above and not holds(guess):
            low, guess, step = guess, guess + step, 2 * step
        above = min(guess, above)
    while above - low > 1:
        middle = (low + above) // 2
        if holds(middle):
            above = middle
        else:
            low = middle
    return above


def _even_step(differences: Sequence[int | None]) -> int:
    """Return the step of evenly spaced numbers, 0 for others."""
    values = [value for value in differences if value is not None]
    if len(values) < 2 or len(values) < len(differences):
        return 0
    steps = {b - a for a, b in pairwise(values)}
    return steps.pop() if len(steps) == 1 else 0
