"""Prints a table of loops, a line each: `sum: vector-body main, 32 iterations, 4 x 4 x 2`. Reads it as incc does."""

import sys

from incc.frontends.clang_plugin.table import read_table

with open(sys.argv[1], encoding="utf-8") as file:
    loops = read_table(file.read())
for loop in loops:
    of = f" of {loop.of}" if loop.of >= 0 else ""
    instead = ", instead as well" if loop.instead else ""
    trips = f", {loop.trip_count} trips" if loop.trip_count else ""
    source = f", {loop.source_trip_count} in the source" if loop.source_trip_count else ""
    steps = sorted({stream.step for stream in loop.streams if stream.step is not None})
    moves = f", steps {steps}" if steps else ""
    scale = " x vscale" if loop.scalable else ""
    print(
        f"{loop.number} {loop.function}: {loop.kind} {loop.role}{of}{instead}, {loop.iterations or 0}{scale} "
        f"iterations, {loop.width} x {loop.interleave} x {loop.unroll}{trips}{source}{moves}"
    )
