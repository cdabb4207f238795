"""Tables of a database of reports: commits, histories of kernels with sparklines, the fastest builds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incc.history import types as d
from incc.report.wording import relative
from incc.support.text import counted
from incc.views.layout import BOLD, Layout, each, harmless
from incc.views.running.text import PARTS, mean_text
from incc.views.table import Column, Table, TableRow, number_column, row, text_lines

BARS, ASCII_BARS = "▁▂▃▄▅▆▇█", "_.-=+*%#"
_UNKNOWN_BAR = " "

_FEW = 3
"""Number of kernels up to which every build is listed, not only the fastest."""

_FLAT = 0.1
"""Relative range of values that fills a sparkline, so that a change of a percent does not look like one of half."""


def commits(commit_list: Sequence[d.Commit], layout: Layout) -> Iterator[str]:
    """Yield a row for each commit."""
    columns = [
        Column(title="Commit", comfortable=10, least=8, priority=6),
        Column(title="Date"),
        Column(title="Branches", comfortable=12, least=6, priority=5),
        Column(title="Baselines", comfortable=12, least=6, priority=4),
        number_column("Units"),
        number_column("Kernels"),
        number_column("Runs"),
    ]
    rows = [
        row(
            *(d.shown(c.commit), c.date[:10], ", ".join(c.branches), ", ".join(c.baselines)),
            *(str(c.units), str(c.kernels), str(c.runs) if c.runs else ""),
        )
        for c in commit_list
    ]
    yield from _table(columns, rows, layout)


def history(histories: d.History, layout: Layout, bars: str = BARS) -> Iterator[str]:
    """Yield a table for each series with the commits that changed something, below a line with all commits."""
    for number, series in enumerate(histories.series):
        if number:
            yield ""
        yield from _lines_of_series(series, layout, bars)
    for number, run in enumerate(histories.runs):
        if number or histories.series:
            yield ""
        yield from _lines_of_run(run, layout, bars)


def best(bests: d.Bests, layout: Layout) -> Iterator[str]:
    """Yield a row for each kernel with its fastest build; few kernels have a row for each build."""
    kernels = bests.kernels
    if len(kernels) <= _FEW:
        for number, kernel in enumerate(kernels):
            if number:
                yield ""
            heading = f"{_loop(kernel)} in {layout.file(kernel.source)}, {kernel.model}"
            yield layout.paint(harmless(layout.cut(heading, 0), False), BOLD)
            yield from _table(_BUILD_COLUMNS, [row(*_build_row(build, kernel)) for build in kernel.builds], layout)
    else:
        columns = [
            Column(title="Function", comfortable=16, least=8, priority=6),
            Column(title="Core", comfortable=10, least=6, priority=4),
        ]
        columns += [*_BUILD_COLUMNS, number_column("Others")]
        rows = [row(_loop(k), k.model, *_build_row(k.builds[0], k), _others(k.builds)) for k in kernels]
        yield from _table(columns, rows, layout)
    if bests.without_elements:
        without = counted(bests.without_elements, "kernel")
        yield f"Not compared: {without} with an unknown number of elements per iteration."


def sparkline(values: Sequence[float | None], bars: str = BARS) -> str:
    """Return a character for each value, whose height lies between those of the smallest and the largest value."""
    numbers = [value for value in values if value is not None]
    if not numbers:
        return ""
    least = min(numbers)
    span = max(max(numbers) - least, _FLAT * max(numbers)) or 1.0
    top = len(bars) - 1
    return "".join(_UNKNOWN_BAR if v is None else bars[min(int((v - least) / span * top + 0.5), top)] for v in values)


# --- a series ---------------------------------------------------------------------------------------------------------


def _lines_of_series(series: d.Series, layout: Layout, bars: str) -> Iterator[str]:
    points = series.points
    by_element = all(p.cycles_per_element is not None for p in points)
    values = [p.cycles_per_element if by_element else p.cycles for p in points]
    per = "per element" if by_element else "per iteration"
    heading = f"{series.kernel_id} in {layout.file(series.source)}, {series.model}"
    yield layout.paint(harmless(layout.cut(heading, 0), False), BOLD)
    room = max((layout.width or 120) - 60, 20)
    numbers = [v for v in values if v is not None]
    span = each(numbers[-1]) if min(numbers) == max(numbers) else f"{each(min(numbers))} to {each(max(numbers))}"
    # If iterations do different work, their cycles side by side would be misleading.
    comparable = by_element or all(p.basis for p in points[1:])
    line = f"{sparkline(values[-room:], bars)}  {span} cycles {per}, " if comparable else ""
    last = f", the last {room} of them drawn" if comparable and len(points) > room else ""
    yield f"{line}{counted(len(points), 'commit')}{last}"
    columns = [
        Column(title="Commit", comfortable=10, least=8, priority=3),
        Column(title="Date"),
        number_column("Cycles"),
        number_column("/elem."),
        number_column("Change"),
        Column(title="Bound by", comfortable=12, least=6, priority=4),
        Column(title="Vectors", comfortable=7, least=6, priority=5),
        Column(title="", comfortable=16, least=6, priority=6),
    ]
    rows = []
    unchanged = 0
    for number, point in enumerate(points):
        words = _words(point, points[number - 1] if number else None)
        if 0 < number < len(points) - 1 and not words and point.change == 0:
            unchanged += 1
            continue
        if unchanged:
            rows.append(row(f"({unchanged} more)", *[""] * 7))
            unchanged = 0
        rows.append(_point_row(point, words))
    yield from _table(columns, rows, layout)


def _lines_of_run(series: d.RunSeries, layout: Layout, bars: str) -> Iterator[str]:
    points = series.points
    by_element = all(p.elements for p in points)
    values = [None if p.cycles is None else p.cycles / (p.elements or 1 if by_element else 1) for p in points]
    core = f", {series.model}" if series.model else ""
    heading = f"{series.kernel_id} in {layout.file(series.source)}{core}, measured in {' '.join(series.command)}"
    yield layout.paint(harmless(layout.cut(heading, 0), False), BOLD)
    room = max((layout.width or 120) - 60, 20)
    numbers = [v for v in values if v is not None]
    if numbers:
        span = each(numbers[-1]) if min(numbers) == max(numbers) else f"{each(min(numbers))} to {each(max(numbers))}"
        per = "per element" if by_element else "per iteration"
        yield f"{sparkline(values[-room:], bars)}  {span} cycles {per}, {counted(len(points), 'commit')}"
    columns = [
        Column(title="Commit", comfortable=10, least=8, priority=3),
        Column(title="Date"),
        number_column("Share"),
        number_column("Entries", optional=True, priority=1),
        number_column("Iterations", optional=True, priority=2),
        number_column("Cycles"),
        number_column("/elem."),
        number_column("Change"),
        number_column("Predicted", optional=True, priority=3),
        Column(title="Largest part", comfortable=16, least=6, priority=5),
    ]
    yield from _table(columns, [_run_row(point) for point in points], layout)


def _run_row(point: d.RunPoint) -> TableRow:
    parts = {**point.parts, "unexplained": point.unexplained or 0.0}
    name = max(parts, key=lambda each: abs(parts[each]))
    change = "" if point.change is None else relative(1 + point.change)
    error = f" ± {point.cycles_error:.2f}" if point.cycles_error >= 0.005 else ""
    texts = [
        d.shown(point.commit),
        point.date[:10],
        "" if point.share is None else f"{point.share:.1%}",
        f"{point.entries:,}",
        mean_text(point.iterations / point.entries),
        "" if point.cycles is None else f"{point.cycles:.2f}{error}",
        each(point.cycles / point.elements) if point.cycles is not None and point.elements else "",
        change,
        "" if point.predicted is None else f"{point.predicted:.2f}",
        f"{PARTS.get(name, name)} {parts[name]:+.2f}" if parts[name] else "",
    ]
    return row(*texts, kind="slower" if (point.change or 0) > 0 else "")


def _point_row(point: d.Point, words: str) -> TableRow:
    per_element = point.cycles_per_element
    texts = [
        d.shown(point.commit),
        point.date[:10],
        f"{'≥ ' if point.at_least else ''}{point.cycles:.2f}",
        "" if per_element is None else each(per_element),
        _change(point),
        point.limit,
        point.vector,
        words,
    ]
    return row(*texts, kind="slower" if (point.change or 0) > 0 else "")


def _change(point: d.Point) -> str:
    change = point.change
    if change is None:
        return "?" if point.code else ""
    if not change:
        return "="
    return relative(1 + change)


def _words(point: d.Point, before: d.Point | None) -> str:
    """Return the differences from the point before."""
    if before is None:
        return ""
    words = []
    if point.renamed:
        words.append(f"was {before.kernel_id}" if before.kernel_id != point.kernel_id else "moved here")
    if point.code == "changed":
        words.append("other code")
    if point.build_changed:
        words.append(_difference(before.build, point.build))
    if point.model_changed:
        words.append("other model")
    return ", ".join(words)


def _difference(a: d.RecordedBuild, b: d.RecordedBuild) -> str:
    if (a.compiler, a.compiler_version) != (b.compiler, b.compiler_version):
        return f"built with {_compiler(b)}"
    new = [word for word in b.command if word not in a.command]
    old = [word for word in a.command if word not in b.command]
    return " ".join(["with", *new]) if new else " ".join(["without", *old]) if old else "other command"


# --- builds -----------------------------------------------------------------------------------------------------------

_BUILD_COLUMNS = [
    number_column("/elem."),
    number_column("to best"),
    Column(title="Bound by", comfortable=12, least=6, priority=2),
    Column(title="Vectors", comfortable=7, least=6, priority=1),
    Column(title="Build", comfortable=24, least=10, priority=5),
    Column(title="Commit", comfortable=10, least=8, priority=3),
]


def _build_row(candidate: d.Candidate, kernel: d.Best) -> list[str]:
    least = kernel.builds[0].cycles_per_element
    cycles = candidate.cycles_per_element
    ratio = f"×{cycles / least:.2f}" if least and cycles > least else ""
    # Only options that affect the generated code are shown.
    flags = [word for word in candidate.build.command if word.startswith(("-O", "-m", "-f"))]
    build = " ".join([_compiler(candidate.build), *flags]).strip()
    return [each(cycles), ratio, candidate.limit, candidate.vector, build, d.shown(candidate.commit)]


def _others(builds: Sequence[d.Candidate]) -> str:
    """Return the range of the other builds' cycles relative to the fastest."""
    least = builds[0].cycles_per_element
    ratios = [build.cycles_per_element / least for build in builds[1:] if least]
    if not ratios:
        return ""
    low, high = f"×{min(ratios):.2f}", f"×{max(ratios):.2f}"
    return low if low == high else f"{low}–{high[1:]}"


def _loop(kernel: d.Best) -> str:
    return kernel.function if kernel.number == 1 else f"{kernel.function} ({kernel.number})"


def _compiler(build: d.RecordedBuild) -> str:
    return f"{build.compiler} {build.compiler_version.split(' ')[0]}".strip()


# --- tables -----------------------------------------------------------------------------------------------------------


def _table(columns: Sequence[Column], rows: Sequence[TableRow], layout: Layout) -> Iterator[str]:
    # Names of kernels, files and commits come from outside.
    safe = [row(*(harmless(cell.text, False) for cell in one.cells), kind=one.cells[0].kind) for one in rows]
    return text_lines(Table(columns, safe), layout)
