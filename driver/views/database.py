"""What is in a database of reports as tables: commits, the history of kernels with a sparkline, the fastest builds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.driver.report.wording import relative
from incc.driver.views.layout import BOLD, RED, Column, count, fitted, harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from incc.driver.database import types as d
    from incc.driver.views.layout import Layout

BARS, ASCII_BARS = "▁▂▃▄▅▆▇█", "_.-=+*%#"
_UNKNOWN_BAR = " "

_FEW = 3
"""Kernels of which every build is listed, not only the best."""

_FLAT = 0.1
"""Sparklines reach from the bottom to the top if the largest value is so much above the least, so that a change of a
percent does not look like one of half."""


def commits(found: Sequence[d.Commit], layout: Layout) -> Iterator[str]:
    """A row for each commit."""
    columns = [
        Column("Commit", glad=10, least=8, gives_way=1),
        Column("Date"),
        Column("Branches", glad=12, least=6, gives_way=2),
        Column("Baselines", glad=12, least=6, gives_way=3),
        Column("Units", right=True),
        Column("Kernels", right=True),
    ]
    rows = [
        [
            short(c["commit"]),
            _day(c["date"]),
            ", ".join(c["branches"]),
            ", ".join(c["baselines"]),
            str(c["units"]),
            str(c["kernels"]),
        ]
        for c in found
    ]
    yield from _table(columns, rows, layout)


def history(found: d.History, layout: Layout, bars: str = BARS) -> Iterator[str]:
    """A table for each series, of the commits at which something changed, below a line with all of them."""
    for number, series in enumerate(found["series"]):
        if number:
            yield ""
        yield from _lines_of_series(series, layout, bars)


def best(found: d.Bests, layout: Layout) -> Iterator[str]:
    """A row for each kernel with its fastest build; of few kernels one for each build."""
    kernels = found["kernels"]
    if len(kernels) <= _FEW:
        for number, kernel in enumerate(kernels):
            if number:
                yield ""
            heading = f"{_loop(kernel)} in {layout.file(kernel['source'])}, {kernel['model']}"
            yield layout.paint(harmless(layout.cut(heading, 0), False), BOLD)
            yield from _table(_BUILD_COLUMNS, [_build_row(c, kernel) for c in kernel["builds"]], layout)
    else:
        columns = [Column("Function", glad=16, least=8, gives_way=1), Column("Core", glad=10, least=6, gives_way=3)]
        columns += [*_BUILD_COLUMNS, Column("Others", right=True)]
        rows = [[_loop(k), k["model"], *_build_row(k["builds"][0], k), _others(k["builds"])] for k in kernels]
        yield from _table(columns, rows, layout)
    if found["without_elements"]:
        without = count(found["without_elements"], "kernel")
        yield f"Not compared: {without} of which nobody knows how many elements an iteration stands for."


def sparkline(values: Sequence[float | None], bars: str = BARS) -> str:
    """A character for each value, as high as it is between the least and the largest."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    least = min(known)
    span = max(max(known) - least, _FLAT * max(known)) or 1.0
    top = len(bars) - 1
    return "".join(_UNKNOWN_BAR if v is None else bars[min(int((v - least) / span * top + 0.5), top)] for v in values)


def short(name: str) -> str:
    """A commit's name: of a hash the beginning."""
    is_hash = len(name) in (40, 64) and all(c in "0123456789abcdef" for c in name)
    return name[:10] if is_hash else name


# --- a series ---------------------------------------------------------------------------------------------------------


def _lines_of_series(series: d.Series, layout: Layout, bars: str) -> Iterator[str]:
    points = series["points"]
    by_element = all(p["cycles_per_element"] is not None for p in points)
    values = [p["cycles_per_element"] if by_element else p["cycles"] for p in points]
    each = "an element" if by_element else "an iteration"
    heading = f"{series['kernel_id']} in {layout.file(series['source'])}, {series['model']}"
    yield layout.paint(harmless(layout.cut(heading, 0), False), BOLD)
    room = max((layout.width or 120) - 60, 20)
    known = [v for v in values if v is not None]
    span = _each(known[-1]) if min(known) == max(known) else f"{_each(min(known))} to {_each(max(known))}"
    # Where iterations do different work, their cycles side by side would say what is not so.
    comparable = by_element or all(p["basis"] for p in points[1:])
    line = f"{sparkline(values[-room:], bars)}  {span} cycles {each}, " if comparable else ""
    last = f", the last {room} of them drawn" if comparable and len(points) > room else ""
    yield f"{line}{count(len(points), 'commit')}{last}"
    columns = [
        Column("Commit", glad=10, least=8, gives_way=4),
        Column("Date"),
        Column("Cycles", right=True),
        Column("/elem.", right=True),
        Column("Change", right=True),
        Column("Bound by", glad=12, least=6, gives_way=3),
        Column("Vectors", glad=7, least=6, gives_way=2),
        Column("", glad=16, least=6, gives_way=1),
    ]
    rows, slower = [], set()
    unchanged = 0
    for number, point in enumerate(points):
        words = _words(point, points[number - 1] if number else None)
        if 0 < number < len(points) - 1 and not words and point["change"] == 0:
            unchanged += 1
            continue
        if unchanged:
            rows.append([f"({unchanged} more)", "", "", "", "", "", "", ""])
            unchanged = 0
        if (point["change"] or 0) > 0:
            slower.add(len(rows))
        rows.append(_point_row(point, words))
    yield from _table(columns, rows, layout, slower)


def _point_row(point: d.Point, words: str) -> list[str]:
    each = point["cycles_per_element"]
    return [
        short(point["commit"]),
        _day(point["date"]),
        f"{'≥ ' if point['at_least'] else ''}{point['cycles']:.2f}",
        "" if each is None else _each(each),
        _change(point),
        point["limit"],
        point["vector"],
        words,
    ]


def _change(point: d.Point) -> str:
    change = point["change"]
    if change is None:
        return "?" if point["code"] else ""
    if not change:
        return "="
    return relative(1 + change)


def _words(point: d.Point, before: d.Point | None) -> str:
    """What has become another thing since the point before."""
    if before is None:
        return ""
    words = []
    if point["renamed"]:
        words.append(f"was {before['kernel_id']}" if before["kernel_id"] != point["kernel_id"] else "moved here")
    if point["code"] == "changed":
        words.append("other code")
    if point["build_changed"]:
        words.append(_difference(before["build"], point["build"]))
    if point["model_changed"]:
        words.append("other model")
    return ", ".join(words)


def _difference(a: d.Build, b: d.Build) -> str:
    if (a["compiler"], a["compiler_version"]) != (b["compiler"], b["compiler_version"]):
        return f"built with {_compiler(b)}"
    new = [word for word in b["command"] if word not in a["command"]]
    old = [word for word in a["command"] if word not in b["command"]]
    return " ".join(["with", *new]) if new else " ".join(["without", *old]) if old else "other command"


# --- builds -----------------------------------------------------------------------------------------------------------

_BUILD_COLUMNS = [
    Column("/elem.", right=True),
    Column("to best", right=True),
    Column("Bound by", glad=12, least=6, gives_way=5),
    Column("Vectors", glad=7, least=6, gives_way=6),
    Column("Build", glad=24, least=10, gives_way=2),
    Column("Commit", glad=10, least=8, gives_way=4),
]


def _build_row(found: d.Candidate, kernel: d.Best) -> list[str]:
    least = kernel["builds"][0]["cycles_per_element"]
    ratio = f"×{found['cycles_per_element'] / least:.2f}" if least and found["cycles_per_element"] > least else ""
    build = " ".join([_compiler(found["build"]), *_flags(found["build"]["command"])]).strip()
    each = _each(found["cycles_per_element"])
    return [each, ratio, found["limit"], found["vector"], build, short(found["commit"])]


def _others(builds: Sequence[d.Candidate]) -> str:
    """How much longer the other builds take."""
    least = builds[0]["cycles_per_element"]
    ratios = [build["cycles_per_element"] / least for build in builds[1:] if least]
    if not ratios:
        return ""
    low, high = f"×{min(ratios):.2f}", f"×{max(ratios):.2f}"
    return low if low == high else f"{low}–{high[1:]}"


def _loop(kernel: d.Best) -> str:
    return kernel["function"] if kernel["number"] == 1 else f"{kernel['function']} ({kernel['number']})"


def _compiler(build: d.Build) -> str:
    return f"{build['compiler']} {build['compiler_version'].split(' ')[0]}".strip()


def _flags(command: Iterable[str]) -> list[str]:
    """The options that decide about code; not folders, names of files, or what to print."""
    return [word for word in command if word.startswith(("-O", "-m", "-f"))]


# --- tables -----------------------------------------------------------------------------------------------------------


def _each(cycles: float) -> str:
    """Cycles an element: of a fraction three decimals, which tell 0.125 from 0.12."""
    return f"{cycles:.2f}" if cycles >= 1 else f"{cycles:.3f}"


def _day(date: str) -> str:
    return date[:10]


def _table(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], layout: Layout, red: Iterable[int] = ()
) -> Iterator[str]:
    """The rows below a heading, without the columns that say nothing; those whose numbers are in `red` stand out."""
    used = [n for n in range(len(columns)) if n == 0 or any(row[n] for row in rows)]
    chosen = [columns[n] for n in used]
    cells = [[harmless(row[n], False) for n in used] for row in rows]
    widths = fitted(chosen, cells, layout.width)
    marked = set(red)
    yield layout.paint(_line(chosen, [column.title for column in chosen], widths), BOLD)
    for number, row in enumerate(cells):
        yield layout.paint(_line(chosen, row, widths), RED if number in marked else "")


def _line(columns: Sequence[Column], row: Sequence[str], widths: Sequence[int]) -> str:
    parts = []
    for column, cell, width in zip(columns, row, widths, strict=True):
        text = cell if len(cell) <= width else cell[: max(width - 1, 0)] + "…"
        parts.append(text.rjust(width) if column.right else text.ljust(width))
    return "  ".join(parts).rstrip()
