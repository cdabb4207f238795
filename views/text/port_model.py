"""The core drawn in text: front end, renamer and window as boxes, below them a column for each port with its work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incc.report import types as t
from incc.views.layout import BOLD, Layout

USUAL_WIDTH = 80
"""Width of a drawing, also in wider terminals, where boxes would only have more blanks in them."""

LEAST_WIDTH = 60

_TITLES = {"front end": "Front end", "rename": "Renamer", "window": "Window", "memory": "Memory"}


def of_unit(unit: t.UnitReport, layout: Layout) -> Iterator[str]:
    """Yield the core that a unit was analysed for, nothing if that was not requested."""
    if unit.core is not None:
        yield from lines(unit.core, layout)


def lines(core: t.CoreReport, layout: Layout) -> Iterator[str]:
    """Yield the drawing of a core."""
    width = max(LEAST_WIDTH, min(layout.width or USUAL_WIDTH, USUAL_WIDTH))
    narrow = Layout(width, False)
    yield from (layout.paint(line, BOLD) for line in narrow.wrap(f"Core: {core.title} ({core.model})"))
    yield ""
    names = max((len(part.name) for part in core.parts), default=0)
    stages = [stage for stage in _TITLES if any(part.stage == stage for part in core.parts)]
    flow = [stage for stage in stages if stage != "memory"]
    for stage in flow:
        parts = [(part.name, part.text) for part in core.parts if part.stage == stage]
        yield from _box(_TITLES[stage], parts, names, width, down=True)
        yield f"{'':{width // 2}}▼"
    yield from _ports(core, layout, width)
    if "memory" in stages:
        yield ""
        parts = [(part.name, part.text) for part in core.parts if part.stage == "memory"]
        yield from _box(_TITLES["memory"], parts, names, width, down=False)


def _box(title: str, parts: Sequence[tuple[str, str]], names: int, width: int, down: bool) -> Iterator[str]:
    """Yield a box of `width` columns with parts and their names, with a way down in the middle if `down`."""
    inside = width - 4
    yield f"┌ {title} {'─' * (width - 4 - len(title))}┐"
    within = Layout(inside, False)
    for name, text in parts:
        for line in within.wrap(text, f"{name:<{names}}  ", " " * (names + 2)):
            yield f"│ {line:<{inside}} │"
    bottom = "─" * (width - 2)
    middle = width // 2 - 1
    yield f"└{bottom[:middle] + '┬' + bottom[middle + 1 :] if down else bottom}┘"


# --- ports -----------------------------------------------------------------------------------------------------------


def port_groups(ports: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return groups of ports with a common stem, and the rest of each name: ALU with 0 to 3.

    A name that has no stem in common with its neighbours is a group of its own.
    """
    groups: list[tuple[str, list[str]]] = []
    for n, name in enumerate(ports):
        stem, own = name[:-1], name[-1:]
        around = [other[:-1] for other in (*ports[max(n - 1, 0) : n], *ports[n + 1 : n + 2])]
        if stem not in around:
            groups.append((name, [""]))
        elif groups and groups[-1][0] == stem and groups[-1][1] != [""]:
            groups[-1][1].append(own)
        else:
            groups.append((stem, [own]))
    return groups


_FIGURES = ("µops", "lat.", "one in")

MOST_LABEL = 21
"""Width of the names of work for which the columns of ports become narrower."""


def _ports(core: t.CoreReport, layout: Layout, width: int) -> Iterator[str]:
    """Yield a column for each port: the schedulers that feed it, and the work that it does, with its figures."""
    groups = port_groups(core.ports)
    figures = [_figures(work) for work in core.work]
    # How wide a column of figures is, with the blanks before it.
    beside = [max(len(title), *(len(row[n]) for row in figures), 0) + 2 for n, title in enumerate(_FIGURES)]
    room = width - sum(beside)
    least = min(max((len(label) for label in map(_label, core.work)), default=0), MOST_LABEL)
    named = 1 if any(stem for stem, _ in groups) else 0
    for column, gap in ((4, named), (3, named), (2, named), (1, named), (1, 0)):
        spans = [max(len(own) * column, len(stem) + 1) for stem, own in groups]
        used = sum(spans) + gap * len(spans)
        if used + least <= room:
            break
    label_width = max(room - used, 12)

    def row(label: str, marks: Sequence[str], cells: Sequence[str] = ()) -> str:
        texts = []
        left = list(marks)
        for (_, own), span in zip(groups, spans, strict=True):
            mine, left = left[: len(own)], left[len(own) :]
            texts.append(" " * gap + f"{''.join(f'{mark:>{column}}' for mark in mine):>{span}}")
        text = f"{label:<{label_width}}{''.join(texts)}"
        return (text + "".join(f"{cell:>{w}}" for cell, w in zip(cells, beside, strict=False))).rstrip()

    if any(stem for stem, _ in groups):
        heads = "".join(" " * gap + f"{stem:>{span}}" for (stem, _), span in zip(groups, spans, strict=True))
        yield layout.paint(f"{'Ports':<{label_width}}{heads}".rstrip(), BOLD)
        yield layout.paint(row("", [own for _, owns in groups for own in owns], _FIGURES), BOLD)
    else:
        yield layout.paint(row("Ports", list(core.ports), _FIGURES), BOLD)
    for scheduler in core.schedulers:
        label = f"{scheduler.kind}, {scheduler.entries} entries"
        yield row(_cut(label, label_width), ["■" if port in scheduler.ports else " " for port in core.ports])
    if core.schedulers:
        yield ""
    for work, cells in zip(core.work, figures, strict=True):
        marks = ["●" if port in work.ports else "·" for port in core.ports]
        within = Layout(label_width, False)
        first, *more = within.wrap(_label(work), "", "  ")
        yield row(first, marks, cells)
        yield from more
    yield from Layout(width, False).wrap(
        "(●:\xa0may run on the port; lat.: latency in cycles; one in: cycles between two such instructions, by ports "
        "and units or measured)"
    )
    yield from _units(core, width)


def _units(core: t.CoreReport, width: int) -> Iterator[str]:
    """Yield a line for each unit other than ports, with the work that takes it."""
    held = [work for work in core.work if work.unit]
    for unit in core.units:
        users = [f"{_label(work)} {work.unit_cycles}" for work in held if work.unit == unit]
        text = f"cycles of unit {unit}: {'; '.join(users)}" if users else f"No work listed here uses unit {unit}"
        yield from Layout(width, False).wrap(text[0].upper() + text[1:], "", "    ")


def _label(work: t.CoreWork) -> str:
    bits = work.bits
    if len(bits) > 1:
        return f"{work.name} {bits[0]}–{bits[-1]}"
    return f"{work.name} {bits[0]}" if bits else work.name


def _figures(work: t.CoreWork) -> tuple[str, str, str]:
    if work.rthroughput is None:
        return "", _span(work.latency), ""
    return str(work.uops), _span(work.latency), f"{work.rthroughput:.2f}"


def _span(values: Sequence[int]) -> str:
    if not values:
        return ""
    return f"{values[0]}–{values[-1]}" if values[0] != values[-1] else str(values[0])


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text.replace(" entries", "")
