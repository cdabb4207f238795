"""The compiler's own record of a loop, as a part of the report and in words."""

from __future__ import annotations

from collections.abc import Iterator

from incc.frontends.kernel import CompiledLoop, Transformations
from incc.report import types as t
from incc.report import wording

_WHAT = {
    "plain": "unchanged from the source",
    "epilogue": "shorter vectors, for the iterations that the vectorised loop leaves over",
    "scalar": "scalar version of the vectorised loop",
    "unroll-rest": "remainder of the unrolled loop",
    "unversioned": "version for when the run-time checks fail",
    "unknown": "origin unknown",
}


def compiled(loop: CompiledLoop) -> t.TransformationsReport:
    """Return the report on a compiler's record of a loop."""
    record = {name: getattr(loop, name) for name in Transformations.__struct_fields__}
    return t.TransformationsReport(**record, text="; ".join((", ".join(_what(loop)), *_trips(loop))))


def remark(loop: CompiledLoop) -> str:
    """Return the record in one line with the loop's role: "main loop; vectorised, 8 elements per vector"."""
    part = f"{loop.role} loop" if loop.role in ("main", "outer", "fallback") else loop.role
    return "; ".join(text for text in (part, compiled(loop).text) if text)


def _what(loop: CompiledLoop) -> Iterator[str]:
    """Return the transformations of the source's loop."""
    if loop.kind == "vector-body":
        yield "vectorised"
    elif loop.kind == "interleaved":
        yield f"{loop.interleave} scalar iterations interleaved"
    elif loop.kind != "plain" or loop.unroll == 1:
        yield _WHAT[loop.kind]
    if loop.width > 1 or loop.scalable:
        yield f"{loop.width}{' × vscale' * loop.scalable} elements per vector"
        if loop.interleave > 1:
            yield f"{loop.interleave} vectors interleaved"
    if loop.unroll > 1:
        yield f"unrolled {loop.unroll} times"
    if loop.peeled:
        yield f"{wording.counted(loop.peeled, 'iteration')} peeled off before it"


MOST_WORTH_SAYING = 1 << 20
"""The largest count that says more of a loop than of the type of its counter."""


def _trips(loop: CompiledLoop) -> Iterator[str]:
    """Return the trip counts of the loop and of the source's loop."""
    if loop.trip_count:
        yield f"runs {_times(loop.trip_count)}"
    elif loop.max_trip_count and loop.max_trip_count <= MOST_WORTH_SAYING:
        yield f"runs at most {_times(loop.max_trip_count)}"
    elif loop.trip_multiple > 1:
        yield f"runs a multiple of {_times(loop.trip_multiple)}"
    if loop.expected_trip_count is not None:
        yield f"{_times(loop.expected_trip_count)} according to the profile"
    if loop.source_trip_count and loop.source_trip_count != loop.trip_count:
        yield f"{loop.source_trip_count} iterations in the source"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
