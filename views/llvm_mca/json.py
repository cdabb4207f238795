"""llvm-mca's JSON, and beside it incc's own report under `Incc`.

Keys, nesting and types are llvm-mca's, and so is how it is written: keys in alphabetical order, two blanks for each
level, numbers with up to 17 digits and without a fraction where there is none. `Incc` is one line: the others are the
lines of llvm-mca's own document, and writing it takes a quarter of the time.
"""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from incc.views.llvm_mca.dispatch import document as dispatch_document
from incc.views.llvm_mca.info import document as info_document
from incc.views.llvm_mca.pressure import document as pressure_document
from incc.views.llvm_mca.resources import resources
from incc.views.llvm_mca.summary import document as summary_document
from incc.views.llvm_mca.timeline import document as timeline_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.report import types as t
    from incc.views.llvm_mca.asked import Heading, Options


def document(report: t.Report, options: Options) -> Any:
    """Of a report of several units a list: llvm-mca's JSON speaks of one core."""
    made = []
    headings = iter(options.headings)
    for unit in report.units:
        kernels = [(kernel, next(headings, None)) for kernel in unit.kernels]
        regions = [_region(kernel, heading, options) for kernel, heading in kernels if kernel.instructions]
        cpu = options.cpu if options.cpu and len(report.units) == 1 else unit.model.name
        made.append(
            {
                "CodeRegions": regions,
                "Incc": msgspec.to_builtins(replace(report, units=[unit])),
                "SimulationParameters": {
                    **dict(getattr(options, "parameters", ())),
                    "-march": options.march,
                    "-mcpu": cpu,
                    "-mtriple": options.triple,
                },
                "TargetInfo": {"CPUName": cpu, "Resources": _names(unit)},
            }
        )
    return made[0] if len(made) == 1 else made


def render(report: t.Report, options: Options) -> str:
    """The document as text, which ends in a line break."""
    return _text(document(report, options), "") + "\n"


def _region(kernel: t.Kernel, heading: Heading | None, options: Options) -> dict[str, Any]:
    """The views that are wanted, as far as llvm-mca has them in JSON and there is something in the report."""
    simulated = not options.instruction_tables
    views = {
        "DispatchStatistics": dispatch_document(kernel) if simulated and options.dispatch_stats else None,
        "InstructionInfoView": info_document(kernel) if options.info else None,
        "ResourcePressureView": pressure_document(kernel) if options.pressure else None,
        "SummaryView": summary_document(kernel) if simulated and options.summary else None,
        "TimelineView": timeline_document(kernel, options) if simulated and options.timeline else None,
    }
    return {
        "Instructions": [instruction.text for instruction in kernel.instructions],
        "Name": heading.name if heading is not None else "",
        **{name: view for name, view in views.items() if view is not None},
    }


def _names(unit: t.Unit) -> list[str]:
    """The resources that ResourceIndex is about; no kernel, no resources.

    llvm-mca writes the number of an instance as a character and not as digits, and whoever looks names up by those of
    its documents finds them here."""
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
    from incc.views.json import render as own

    return own(value, compact=True).rstrip("\n")


def _block(start: str, parts: Sequence[str], end: str, indent: str) -> str:
    if not parts:
        return start + end
    inside = f",\n{indent}  ".join(parts)
    return f"{start}\n{indent}  {inside}\n{indent}{end}"
