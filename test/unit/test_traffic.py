"""The cache lines that loops move, against a simulated cache (LRU, write-allocate, write-back)."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incc.core import Stream
from incc.core.memory.traffic import MovedLines, traffic

LINE = 64


def stream(number: int, offset: int, step: int | None, size: int = 8, store: bool = False, part: int = 0) -> Stream:
    return Stream(instruction=number, store=store, size=size, part=part, object=part, offset=offset, step=step)


class Cache:
    """A fully associative cache with LRU replacement."""

    def __init__(self, lines: int) -> None:
        self._lines = lines
        self._held: OrderedDict[tuple[int, int], bool] = OrderedDict()
        self.read = self.allocate = self.written = 0

    def access(self, line: tuple[int, int], store: bool) -> None:
        if line in self._held:
            self._held[line] |= store
            self._held.move_to_end(line)
            return
        if store:
            self.allocate += 1
        else:
            self.read += 1
        self._held[line] = store
        if len(self._held) > self._lines:
            _, modified = self._held.popitem(last=False)
            self.written += modified


def simulated(streams: Sequence[Stream], size: int, warm: int, iterations: int, place: int = 0) -> MovedLines:
    """Return the lines per iteration that a cache of `size` bytes moves, after `warm` iterations."""
    cache = Cache(size // LINE)
    for iteration in range(warm + iterations):
        if iteration == warm:
            cache.read = cache.allocate = cache.written = 0
        for each in streams:
            begin = place + each.offset + (each.step or 0) * iteration
            for line in range(begin // LINE, (begin + each.size - 1) // LINE + 1):
                cache.access((each.part, line), each.store)
    per = [Fraction(number, iterations) for number in (cache.read, cache.allocate, cache.written)]
    return MovedLines(*per, Fraction(0))


def close(ours: MovedLines, theirs: MovedLines, most: float = 0.02) -> bool:
    pairs = ((ours.read, theirs.read), (ours.allocate, theirs.allocate), (ours.written, theirs.written))
    return all(abs(a - b) <= most for a, b in pairs)


@pytest.mark.parametrize("step", [8, -8, 16, 64, -64, 128, 72, 96, 4096])
def test_copy_moves_as_many_lines_as_a_simulated_cache(step: int) -> None:
    streams = [stream(0, 0, step), stream(1, 0, step, store=True, part=1)]
    ours = traffic(streams, LINE).missing(1 << 14)
    theirs = simulated(streams, 1 << 14, 4096, 4096)
    assert close(ours, theirs)


def test_update_fetches_each_line_once_and_writes_it_back() -> None:
    lines = traffic([stream(0, 0, 32, 32), stream(1, 0, 32, 32, store=True)], LINE).missing(1 << 15)
    assert lines == MovedLines(Fraction(1, 2), Fraction(0), Fraction(1, 2), Fraction(0))


def test_non_temporal_stores_fetch_nothing() -> None:
    streams = [stream(0, 0, 32, 32), stream(1, 0, 32, 32, store=True, part=1)]
    assert traffic(streams, LINE, non_temporal=[1]).missing(1 << 15) == MovedLines(
        Fraction(1, 2), Fraction(0), Fraction(0), Fraction(1, 2)
    )


def test_unknown_steps_and_unlisted_accesses_are_named() -> None:
    moved = traffic([stream(0, 0, 8), stream(3, 0, None, part=1)], LINE, unknown=[5])
    assert moved.unknown == (3, 5)


def jacobi_2d(row: int) -> list[Stream]:
    """Return the accesses of a five-point stencil with rows of so many doubles; b[j][i] gets the neighbours of a."""
    width = 8 * row
    offsets = (-width, -8, 8, width)
    return [*[stream(n, o, 8) for n, o in enumerate(offsets)], stream(4, 0, 8, store=True, part=1)]


def jacobi_3d(row: int, rows: int) -> list[Stream]:
    """Return the accesses of a seven-point stencil."""
    plane = 8 * row * rows
    offsets = (-plane, -8 * row, -8, 0, 8, 8 * row, plane)
    return [*[stream(n, o, 8) for n, o in enumerate(offsets)], stream(7, 0, 8, store=True, part=1)]


SIZE = 1 << 13


@pytest.mark.parametrize("row", [64, 128, 200, 240, 252, 260, 280, 320, 400, 500, 512, 600])
def test_layer_conditions_of_the_five_point_stencil(row: int) -> None:
    # Rows above and below are used again while two rows of each array fit, that is up to 8 KiB / (4 * 8 bytes) = 256.
    streams = jacobi_2d(row)
    ours = traffic(streams, LINE).missing(SIZE)
    theirs = simulated(streams, SIZE, 4 * row, 64 * row)
    assert close(ours, theirs)


@pytest.mark.parametrize(
    ("row", "rows"), [(16, 8), (16, 12), (16, 18), (40, 16), (60, 20), (100, 10), (200, 8), (400, 4)]
)
def test_layer_conditions_of_the_seven_point_stencil(row: int, rows: int) -> None:
    streams = jacobi_3d(row, rows)
    ours = traffic(streams, LINE).missing(SIZE)
    theirs = simulated(streams, SIZE, 4 * row * rows, 8 * row * rows)
    assert close(ours, theirs)


MARGIN = 12
"""Doubles by which rows are shorter and longer than where incc sees a change: the lines' ends are not exact."""


@pytest.mark.parametrize("size", [1 << 12, 1 << 13, 1 << 14])
def test_rows_of_the_five_point_stencil_stop_fitting_where_the_simulated_cache_says(size: int) -> None:
    fit = [
        row for row in range(MARGIN, size // 16) if traffic(jacobi_2d(row), LINE).missing(size).read == Fraction(1, 8)
    ]
    assert fit[-1] == pytest.approx(size / 32, abs=MARGIN)
    for row in (fit[-1] - MARGIN, fit[-1] + MARGIN):
        ours = traffic(jacobi_2d(row), LINE).missing(size)
        assert close(ours, simulated(jacobi_2d(row), size, 4 * row, 32 * row))


@pytest.mark.parametrize("size", [1 << 13, 1 << 14])
def test_rows_and_planes_of_the_seven_point_stencil_stop_fitting_where_the_simulated_cache_says(size: int) -> None:
    rows = 24
    reads = {row: traffic(jacobi_3d(row, rows), LINE).missing(size).read for row in range(1, size // 24)}
    changes = [row for row in reads if row > 1 and reads[row] != reads[row - 1]]
    # First planes stop fitting, that is four of them, then rows, that is six of them: the one behind the other.
    assert changes == [pytest.approx(size / 32 / rows, abs=2), *[pytest.approx(size / 48, abs=MARGIN)] * 2]
    assert [reads[1], *[reads[row] for row in changes]] == [Fraction(n, 8) for n in (1, 3, 4, 5)]
    for row in (changes[0] - 2, changes[0] + 2, changes[1] - MARGIN, changes[2] + MARGIN):
        ours = traffic(jacobi_3d(row, rows), LINE).missing(size)
        assert close(ours, simulated(jacobi_3d(row, rows), size, 4 * row * rows, 8 * row * rows), 0.04)


@st.composite
def loops(draw: st.DrawFn) -> list[Stream]:
    """Draw a loop of a few streams of doubles over up to three arrays, with neighbours some distance apart."""
    accesses = []
    for part in range(draw(st.integers(1, 3))):
        step = draw(st.sampled_from([8, 16, 32, 64, -8, -16]))
        for _ in range(draw(st.integers(1, 4))):
            offset = 8 * draw(st.integers(-600, 600))
            accesses.append((offset, step, draw(st.booleans()), part))
    return [stream(n, offset, step, 8, store, part) for n, (offset, step, store, part) in enumerate(accesses)]


@settings(max_examples=40, deadline=None)
@given(loops(), st.sampled_from([1 << 11, 1 << 12, 1 << 13, 1 << 14]))
def test_loops_move_as_many_lines_as_a_simulated_cache(accesses: list[Stream], size: int) -> None:
    moved = traffic(accesses, LINE)
    reuses = [front.reuse for front in moved.fronts if front.reuse is not None]
    margin = LINE * 2 * (len(accesses) + 1)
    if any(abs(reuse - size) < margin for reuse in reuses):
        return  # whether such lines are found depends on where the arrays begin
    ours, theirs = moved.missing(size), simulated(accesses, size, 2560, 1024)
    assert abs(ours.read + ours.allocate - theirs.read - theirs.allocate) <= 0.05
    assert abs(ours.written - theirs.written) <= 0.05


@pytest.mark.parametrize(("apart", "step"), [(8000, 32), (8008, 4104), (8192, 1_000_003)])
def test_thousands_of_streams_take_seconds(apart: int, step: int) -> None:
    started = time.process_time()
    moved = traffic([stream(n, apart * n, step) for n in range(4000)], LINE)
    assert moved.missing(1 << 15).read > 0
    assert time.process_time() - started < 20  # one or two; minutes if each stream is compared with all others


@given(loops())
def test_larger_caches_miss_no_more(accesses: list[Stream]) -> None:
    moved = traffic(accesses, LINE)
    sizes = [moved.missing(1 << bits) for bits in range(8, 24, 2)]
    assert all(a.read + a.allocate >= b.read + b.allocate for a, b in pairwise(sizes))


# --- sets and ways ----------------------------------------------------------------------------------------------------


class SetCache:
    """A cache of sets with LRU replacement in each."""

    def __init__(self, size: int, ways: int) -> None:
        self._caches = [Cache(ways) for _ in range(size // (LINE * ways))]

    def access(self, line: int, store: bool) -> None:
        self._caches[line % len(self._caches)].access((0, line), store)

    def counts(self) -> list[int]:
        """Return the lines read, allocated and written."""
        return [sum(getattr(each, name) for each in self._caches) for name in ("read", "allocate", "written")]


def in_sets(streams: Sequence[Stream], size: int, ways: int, warm: int, iterations: int, place: int = 0) -> MovedLines:
    """Return the lines per iteration that a cache of sets moves, after `warm` iterations."""
    cache = SetCache(size, ways)
    before = [0, 0, 0]
    for iteration in range(warm + iterations):
        if iteration == warm:
            before = cache.counts()
        for each in streams:
            begin = place + each.offset + (each.step or 0) * iteration
            for line in range(begin // LINE, (begin + each.size - 1) // LINE + 1):
                cache.access(line, each.store)
    counts = [Fraction(after - b, iterations) for after, b in zip(cache.counts(), before, strict=True)]
    return MovedLines(*counts, Fraction(0))


L1_SIZE, L1_WAYS = 1 << 13, 4
SPAN = L1_SIZE // L1_WAYS


@pytest.mark.parametrize("rows", [2, 4, 5, 8])
@pytest.mark.parametrize("distance", [SPAN, 2 * SPAN, SPAN + LINE, SPAN + 512, 3 * SPAN + 32])
@pytest.mark.parametrize("store", [False, True])
def test_rows_in_the_same_sets_are_fetched_in_each_iteration(rows: int, distance: int, store: bool) -> None:
    streams = [stream(n, n * distance, 8, store=store and not n) for n in range(rows)]
    ours = traffic(streams, LINE).missing(L1_SIZE, ways=L1_WAYS)
    theirs = [in_sets(streams, L1_SIZE, L1_WAYS, 4096, 2048, place) for place in range(0, LINE, 8)]
    mean = MovedLines(
        *[sum(getattr(each, name) for each in theirs) / len(theirs) for name in MovedLines.__struct_fields__]
    )
    assert close(ours, mean, 0.05)


@pytest.mark.parametrize("step", [128, 256, 1024, SPAN, 2 * SPAN, SPAN + LINE, 192, 320])
@pytest.mark.parametrize("behind", [1, 2, 3, 4, 5, 8, 15, 16, 17, 33, 64, 127])
def test_long_steps_find_the_lines_that_their_sets_hold(step: int, behind: int) -> None:
    # A column and the one behind it, so many rows further up.
    streams = [stream(0, behind * step, step), stream(1, 0, step)]
    moved = traffic(streams, LINE)
    assert moved.fronts[-1].reuse is not None
    ours, theirs = moved.missing(L1_SIZE, ways=L1_WAYS), in_sets(streams, L1_SIZE, L1_WAYS, 512, 512)
    assert close(ours, theirs)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=8, unique=True),
    st.sampled_from([8, 16, 32]),
    st.sampled_from([SPAN // 2, SPAN, 2 * SPAN, SPAN + LINE, SPAN - 8]),
)
def test_rows_move_as_many_lines_as_a_simulated_cache_of_sets(rows: list[int], step: int, distance: int) -> None:
    streams = [stream(n, row * distance, step, step) for n, row in enumerate(sorted(rows))]
    moved = traffic(streams, LINE)
    reuses = [front.reuse for front in moved.fronts if front.reuse is not None]
    if any(abs(reuse - L1_SIZE) < L1_SIZE / 2 for reuse in reuses):
        return  # whether such lines are found depends on the order of accesses
    theirs = [in_sets(streams, L1_SIZE, L1_WAYS, 4096, 1024, place) for place in range(0, LINE, step)]
    mean = sum(each.read for each in theirs) / len(theirs)
    assert abs(moved.missing(L1_SIZE, ways=L1_WAYS).read - mean) <= 0.05 * len(rows)


def test_arrays_an_unknown_distance_apart_may_share_sets() -> None:
    others = [stream(n, 0, SPAN, part=n) for n in (2, 3)]
    streams = [stream(0, SPAN, SPAN), stream(1, 0, SPAN), *others]
    moved = traffic(streams, LINE)
    assert moved.mixes_strides
    assert moved.missing(L1_SIZE, neighbours=True, ways=L1_WAYS).read == 3
    assert moved.missing(L1_SIZE, ways=L1_WAYS).read == 4


@pytest.mark.parametrize("size", [8, 16, 32, 64])
def test_columns_of_rows_count_as_many_lines_as_on_average_over_places(size: int) -> None:
    # A row ahead is read by vectors, and those behind an element further on; rows are a number of lines long.
    step = 8000
    streams = [stream(0, 2 * step, step, size), stream(1, step + 8, step), stream(2, -8, step, size)]
    moved = traffic(streams, LINE)
    assert all(front.lines > 0 for front in moved.fronts)
    ours = moved.missing(1 << 14).read
    theirs = [simulated(streams, 1 << 14, 64, 64, place).read for place in range(0, LINE, 8)]
    assert ours == sum(theirs) / len(theirs)
