"""llvm-mca's JSON, with incc's report under the additional key `Incc`.

Keys, nesting, types and layout are llvm-mca's: keys in alphabetical order, two blanks for each level, numbers with up
to 17 digits and without an empty fraction. `Incc` is one line, so the other lines are those of llvm-mca's document.
"""

from __future__ import annotations

from collections.abc import Sequence
from json.encoder import encode_basestring
from typing import Any

import msgspec
from msgspec.structs import replace

from incc.report import types as t
from incc.views.json import render as own
from incc.views.llvm_mca.info import document as info_document
from incc.views.llvm_mca.pressure import document as pressure_document
from incc.views.llvm_mca.requested import RegionHeading, Views
from incc.views.llvm_mca.resources import resources
from incc.views.llvm_mca.statistics import stalls
from incc.views.llvm_mca.summary import document as summary_document
from incc.views.llvm_mca.timeline import document as timeline_document


def document(report: t.AnalysisReport, views: Views) -> Any:
    """Return the document; for a report on several cores a list of documents, because llvm-mca's is about one core."""
    documents = []
    headings = iter(views.headings)
    for unit in report.units:
        kernels = [(kernel, next(headings, None)) for kernel in unit.kernels]
        regions = [_region(kernel, heading, views) for kernel, heading in kernels if kernel.instructions]
        cpu = views.cpu if views.cpu and len(report.units) == 1 else unit.model.name
        documents.append(
            {
                "CodeRegions": regions,
                "Incc": msgspec.to_builtins(replace(report, units=[unit])),
                "SimulationParameters": {
                    **dict(views.parameters),
                    "-march": views.march,
                    "-mcpu": cpu,
                    "-mtriple": views.triple,
                },
                "TargetInfo": {"CPUName": cpu, "Resources": _names(unit)},
            }
        )
    return documents[0] if len(documents) == 1 else documents


def render(report: t.AnalysisReport, views: Views) -> str:
    """Return the document as text with a line break at the end."""
    return _text(document(report, views), "") + "\n"


def _region(kernel: t.KernelReport, heading: RegionHeading | None, views: Views) -> dict[str, Any]:
    """Return a region with those requested views that llvm-mca has in JSON and the report has figures for."""
    simulated = not views.instruction_tables
    run = simulated and kernel.cold is not None
    documents = {
        "DispatchStatistics": stalls(kernel) if run and views.dispatch_stats else None,
        "InstructionInfoView": info_document(kernel) if views.info else None,
        "ResourcePressureView": pressure_document(kernel) if views.pressure else None,
        "SummaryView": summary_document(kernel) if simulated and views.summary else None,
        "TimelineView": timeline_document(kernel, views) if run and views.timeline else None,
    }
    return {
        "Instructions": [instruction.text for instruction in kernel.instructions],
        "Name": heading.name if heading is not None else "",
        **{name: each for name, each in documents.items() if each is not None},
    }


def _names(unit: t.UnitReport) -> list[str]:
    """Return the resources that ResourceIndex refers to, none if there is no kernel.

    llvm-mca writes the number of an instance as the character of that code, not as digits.
    """
    if not unit.kernels:
        return []
    return [r.name if r.member < 0 else f"{r.name}.{chr(r.member)}" for r in resources(unit.kernels[0])]


def _text(value: Any, indent: str) -> str:
    kind = type(value)
    if kind is int:
        return repr(value)
    if kind is float:
        return f"{value:.17g}"
    if kind is str:
        return encode_basestring(value)
    if kind is bool:
        return "true" if value else "false"
    deeper = indent + "  "
    if kind is dict:
        parts = [f'"{key}": {_member(key, value[key], deeper)}' for key in sorted(value)]
        return _block("{", parts, "}", indent)
    return _block("[", [_text(item, deeper) for item in value], "]", indent)


def _member(key: str, value: Any, indent: str) -> str:
    if key != "Incc":
        return _text(value, indent)

    return own(value, compact=True).rstrip("\n")


def _block(start: str, parts: Sequence[str], end: str, indent: str) -> str:
    if not parts:
        return start + end
    inside = f",\n{indent}  ".join(parts)
    return f"{start}\n{indent}  {inside}\n{indent}{end}"
