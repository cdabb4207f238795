"""A kernel of many, in a few lines: where it is, the verdict and the hints; its number is that of the overview."""

from __future__ import annotations

from incc.driver.views import header
from incc.driver.views.layout import BOLD, count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.driver.report import types as t
    from incc.driver.views.layout import Layout

INDENT = "   "


def lines(unit: t.Unit, kernel: t.Kernel, number: int, layout: Layout) -> Iterator[str]:
    """The part of a report on this kernel, the `number`th of its unit."""
    for line in layout.wrap(f"[{number}] {header.title(kernel, layout)}", "", INDENT):
        yield layout.paint(line, BOLD)
    size = count(kernel["size"]["instructions"], "instruction")
    where = ", ".join(part for part in (kernel["label"], unit["assembly_file"]) if part)
    if kernel["first_line"]:
        where += f":{kernel['first_line']}-{kernel['last_line']}"
    yield from layout.wrap(f"{where}: {size}, {kernel['arithmetic']['text']}", INDENT, INDENT)
    if kernel["inlined"] or kernel["inlined_into"]:
        yield from layout.wrap(header.inlining(kernel, layout), INDENT, INDENT)
    yield from header.verdict(kernel, layout, INDENT)
