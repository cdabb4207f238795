"""The selection of a unit's loops for analysis, and their places in the user's source."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from incc.frontends.asm.library_calls import calls_in_place_of_loops, outlined
from incc.frontends.asm.parse import Assembly
from incc.frontends.asm.places import NumberedInstructions, UserPlace
from incc.frontends.headers import Headers
from incc.frontends.kernel import LeftOut, Region
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.report.source.demangle import choose_functions


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
    of_functions = _library_calls(unit, parsed, regions, functions) if calls else []
    users = outlined(parsed) if "omp" in unit.assembly else {}
    selection = Selection(
        regions=regions,
        left_out=left_out,
        all_regions=regions,
        places=[],
        system_loops=0,
        calls=[
            t.LibraryCall(
                function=f, function_name=users.get(f, f), callee=name, line=parsed.statements[i].line, source=None
            )
            for f, name, i in of_functions
        ],
        outlined=users,
    )
    if parsed.debug and (regions or left_out or of_functions):
        return _with_places(unit, parsed, selection, [i for _, _, i in of_functions], hide)
    return selection


def _with_places(unit: Unit, parsed: Assembly, selection: Selection, calls: Sequence[int], hide: bool) -> Selection:
    """Return a selection with places; `calls` are the statements of its calls, `hide` is as in `located`."""
    from incc.frontends.objects.text_debug import places_of_text

    numbered = NumberedInstructions(parsed)
    of_regions = [numbered.of_region(region) for region in selection.regions]
    of_spans = [numbered.of_span(span) if span.first_line else [] for span in selection.left_out]
    statements = {i for members in (*(body for _, body in of_regions), *of_spans, calls) for i in members}
    where = places_of_text(parsed, unit.assembly, statements, Headers(unit.folders).is_system)
    if where is None:
        return selection
    kept = []
    for region, (path, body) in zip(selection.regions, of_regions, strict=True):
        place = where.of(region.function, path, body, region.is_loop, region.compiled.lines if region.compiled else ())
        if place.is_users or not hide:
            kept.append((replace(region, source=place.source or region.source), place))
    spans = [
        span
        for span, members in zip(selection.left_out, of_spans, strict=True)
        if not hide or not members or where.of(span.function, members, members, False).is_users
    ]
    call_places = [where.of(call.function, [i], [i], False) for call, i in zip(selection.calls, calls, strict=True)]
    return replace(
        selection,
        regions=[region for region, _ in kept],
        left_out=spans,
        places=[place for _, place in kept],
        system_loops=len(selection.regions) - len(kept) + len(selection.left_out) - len(spans),
        calls=[
            replace(call, source=place.source)
            for call, place in zip(selection.calls, call_places, strict=True)
            if place.is_users or not hide
        ],
    )


def _library_calls(
    unit: Unit, parsed: Assembly, regions: Sequence[Region], functions: Sequence[str]
) -> list[tuple[str, str, int]]:
    """Return calls outside of `regions` that may replace a loop: function, callee and statement."""
    calls = list(calls_in_place_of_loops(parsed, unit.assembly))
    if not calls:
        return []
    if functions:
        wanted = choose_functions([function for function, _, _ in calls], functions)
        calls = [call for call in calls if call[0] in wanted]
    # Calls in analysed loops have a note there.
    inside = {line for region in regions for line in region.body_lines}
    return [call for call in calls if parsed.statements[call[2]].line not in inside]
