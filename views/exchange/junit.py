"""A comparison as JUnit's XML, which CI systems show: a test for each pair of kernels.

It is failed if the condition of --fail-if holds, and skipped if the kernels cannot be compared.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from incc.comparison import types as c
from incc.views.comparison import cells, changes
from incc.views.layout import Layout


def render(comparison: c.ComparisonReport) -> str:
    """Return the document, with a suite for each side but the first."""
    layout = Layout(0, False)
    layout.name_paths(cells.files(comparison))
    gate = comparison.gate
    offenders: dict[tuple[int, int], list[str]] = {}
    for offender in gate.offenders if gate else ():
        offenders.setdefault((offender.row, offender.side), []).append(offender.text)
    root = ElementTree.Element("testsuites", name="incc-diff")
    totals = [0, 0, 0]
    for side in range(1, len(comparison.sides)):
        names = (valid(comparison.sides[n].label) for n in (0, side))
        suite = ElementTree.SubElement(root, "testsuite", name=" → ".join(names))
        counts = [0, 0, 0]
        if comparison.sides[side].problem:
            case = ElementTree.SubElement(suite, "testcase", name="analysis", classname="incc-diff")
            ElementTree.SubElement(case, "error", message=valid(comparison.sides[side].problem))
            suite.set("errors", "1")
            counts[0] += 1
        for number, row in enumerate(comparison.rows):
            change = row.changes[side]
            failures = offenders.get((number, side), [])
            if change is None and not failures:
                continue
            counts[0] += 1
            _case(suite, row, layout, change, failures, gate.condition if gate else "")
            counts[1] += bool(failures)
            counts[2] += change is not None and change.outcome == "unknown" and not failures
        _set_counts(suite, counts)
        totals = [a + b for a, b in zip(totals, counts, strict=True)]
    _set_counts(root, totals)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _set_counts(element: ElementTree.Element, counts: list[int]) -> None:
    for name, count in zip(("tests", "failures", "skipped"), counts, strict=True):
        element.set(name, str(count))


def _case(
    suite: ElementTree.Element,
    row: c.ComparisonRow,
    layout: Layout,
    change: c.KernelChange | None,
    failures: list[str],
    condition: str,
) -> None:
    place = cells.place(row, layout)
    # Tests are identified by class and name: kernels at the same place of a function also need the kernel's id.
    case = ElementTree.SubElement(
        suite, "testcase", classname=valid(place), name=valid(f"{cells.name(row)} ({cells.base(row).kernel_id})")
    )
    if row.source:
        case.set("file", valid(row.source.file))
        case.set("line", str(row.source.line))
    if failures:
        element = ElementTree.SubElement(case, "failure", message=valid("; ".join(failures)), type=valid(condition))
        causes = changes.causes(change) if change else []
        element.text = valid("\n".join([change.text if change else "", *(f"- {text}" for text in causes)]))
    elif change and change.outcome == "unknown":
        ElementTree.SubElement(case, "skipped", message=valid(change.text))


_INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def valid(text: str) -> str:
    """Return a text with � for characters that XML cannot have."""
    return _INVALID.sub("\ufffd", text)
