"""What of a unit is analysed, where that is in the user's source, and what of it is nobody's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.frontends.asm.parse import Assembly
    from incc.frontends.asm.places import UserPlace
    from incc.frontends.kernel import LeftOut, Region, SourceLocation
    from incc.frontends.unit import Unit


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """What of a unit is analysed, and where that is in the user's source.

    `regions` and `left_out`: as of `pipeline.find_regions`, without those that are nobody's; `all_regions`: with them.
    `places`: of each region, empty without debug information. `system_loops`: how many loops are nobody's. `calls`:
    functions with calls that may stand for a loop. `outlined`: the user's functions of those that OpenMP is made of.
    """

    regions: list[Region]
    left_out: list[LeftOut]
    all_regions: list[Region]
    places: list[UserPlace]
    system_loops: int
    calls: list[LibraryCall]
    outlined: dict[str, str]


class LibraryCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a library function that compilers put in the place of loops: the function that it is in, the one that
    is called, its line in the assembly, and its place in the user's source if that is known."""

    function: str
    callee: str
    line: int
    source: SourceLocation | None


def located(
    unit: Unit,
    parsed: Assembly,
    regions: list[Region],
    left_out: list[LeftOut],
    functions: Sequence[str],
    calls: bool,
    hide: bool,
) -> Selection:
    """Regions where they are in the user's source, and what else is known of that.

    A loop is nobody's if it is the system headers' alone: neither it nor what was inlined into it or around it has a
    line of the user's. Such loops are left out if `hide` says so and there is debug information, which tells them.
    `calls`: look for calls in the place of loops, in functions that one of the globs `functions` fits, if there are
    any.
    """
    from incc.frontends.asm.library_calls import calls_in_place_of_loops, outlined

    of_functions = list(calls_in_place_of_loops(parsed, unit.assembly)) if calls else []
    user_functions = outlined(parsed) if "omp" in unit.assembly else {}
    if of_functions:
        if functions:
            from incc.report.source.demangle import choose_functions

            wanted = choose_functions([function for function, _, _ in of_functions], functions)
            of_functions = [call for call in of_functions if call[0] in wanted]
        # Those in loops that are analysed have a note there.
        inside = {line for region in regions for line in region.body_lines}
        of_functions = [call for call in of_functions if parsed.statements[call[2]].line not in inside]
    found = [
        LibraryCall(function=f, callee=name, line=parsed.statements[i].line, source=None) for f, name, i in of_functions
    ]
    if not parsed.debug or not (regions or left_out or found):
        return Selection(
            regions=regions,
            left_out=left_out,
            all_regions=regions,
            places=[],
            system_loops=0,
            calls=found,
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
            calls=found,
            outlined=user_functions,
        )
    places = [
        where.of(
            region.function, path, body, region.is_loop, region.compiled.lines if region.compiled is not None else ()
        )
        for region, (path, body) in zip(regions, of_regions, strict=True)
    ]
    of_calls = [(f, name, i, where.of(f, [i], [i], False)) for f, name, i in of_functions]
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
        calls=[
            LibraryCall(function=f, callee=name, line=parsed.statements[i].line, source=place.source)
            for f, name, i, place in of_calls
            if place.is_users or not hide
        ],
        outlined=user_functions,
    )
