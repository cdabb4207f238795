"""The selection of a unit's loops for analysis, and their places in the user's source."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from incc.report import types as t
from incc.report.source.demangle import choose_functions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.frontends.asm.parse import Assembly
    from incc.frontends.asm.places import UserPlace
    from incc.frontends.kernel import LeftOut, Region, SourceLocation
    from incc.frontends.unit import Unit


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """The selected parts of a unit. A loop that comes only from system headers is a system loop."""

    regions: list[Region]
    """The regions of `pipeline.find_regions` without system loops."""
    left_out: list[LeftOut]
    """The spans that `pipeline.find_regions` left out, without system loops."""
    all_regions: list[Region]
    """The regions including system loops."""
    places: list[UserPlace]
    """The place of each region; empty without debug information."""
    system_loops: int
    """The number of system loops that were left out."""
    calls: list[t.LibraryCall]
    """Calls that may replace a loop."""
    outlined: dict[str, str]
    """The user's function of each function that OpenMP outlined from it."""


def located(
    unit: Unit,
    parsed: Assembly,
    regions: list[Region],
    left_out: list[LeftOut],
    functions: Sequence[str],
    calls: bool,
    hide: bool,
) -> Selection:
    """Return a selection with places in the user's source.

    A system loop comes only from system headers: neither the loop nor code inlined into it or around it has a line of
    the user's. If `hide` is set, such loops are left out where debug information identifies them. If `calls` is set,
    calls that replace loops are searched in the functions that one of the globs `functions` matches, or in all without
    globs.
    """
    from incc.frontends.asm.library_calls import calls_in_place_of_loops, outlined

    of_functions = list(calls_in_place_of_loops(parsed, unit.assembly)) if calls else []
    user_functions = outlined(parsed) if "omp" in unit.assembly else {}
    if of_functions:
        if functions:
            wanted = choose_functions([function for function, _, _ in of_functions], functions)
            of_functions = [call for call in of_functions if call[0] in wanted]
        # Calls in analysed loops have a note there.
        inside = {line for region in regions for line in region.body_lines}
        of_functions = [call for call in of_functions if parsed.statements[call[2]].line not in inside]

    def library_call(function: str, callee: str, statement: int, source: SourceLocation | None) -> t.LibraryCall:
        return t.LibraryCall(
            function=function,
            function_name=user_functions.get(function, function),
            callee=callee,
            line=parsed.statements[statement].line,
            source=source,
        )

    library_calls = [library_call(*call, None) for call in of_functions]
    if not parsed.debug or not (regions or left_out or library_calls):
        return Selection(
            regions=regions,
            left_out=left_out,
            all_regions=regions,
            places=[],
            system_loops=0,
            calls=library_calls,
            outlined=user_functions,
        )
    from incc.frontends.asm.places import Numbered, places_of_text
    from incc.frontends.headers import Headers

    numbered = Numbered(parsed)
    of_regions = [numbered.of_region(region) for region in regions]
    of_spans = [numbered.of_span(span) if span.first_line else [] for span in left_out]
    statements = {i for members in (*(body for _, body in of_regions), *of_spans) for i in members}
    statements.update(i for _, _, i in of_functions)
    where = places_of_text(parsed, unit.assembly, statements, Headers(unit.folders).is_system)
    if where is None:
        return Selection(
            regions=regions,
            left_out=left_out,
            all_regions=regions,
            places=[],
            system_loops=0,
            calls=library_calls,
            outlined=user_functions,
        )
    places = [
        where.of(
            region.function, path, body, region.is_loop, region.compiled.lines if region.compiled is not None else ()
        )
        for region, (path, body) in zip(regions, of_regions, strict=True)
    ]
    of_calls = [(call, where.of(call[0], [call[2]], [call[2]], False)) for call in of_functions]
    kept = [(r, p) for r, p in zip(regions, places, strict=True) if p.is_users or not hide]
    spans = [
        span
        for span, members in zip(left_out, of_spans, strict=True)
        if not hide or not members or where.of(span.function, members, members, False).is_users
    ]
    return Selection(
        regions=[replace(region, source=place.source or region.source) for region, place in kept],
        left_out=spans,
        all_regions=regions,
        places=[place for _, place in kept],
        system_loops=len(regions) - len(kept) + len(left_out) - len(spans),
        calls=[library_call(*call, place.source) for call, place in of_calls if place.is_users or not hide],
        outlined=user_functions,
    )
