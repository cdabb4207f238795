"""The report as SARIF 2.1.0 (OASIS), which editors and code hosting show next to the code.

A result for each kernel (`cycles`), each hint (`hint/NAME`) and each expectation of the source that does not hold
(`expectation`), or is not understood (`mark`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from incc.report import types as t
from incc.views.exchange.diagnostics import headline, place

_RULES = {
    "cycles": "The predicted cycles of a loop on a core, and its limit",
    "expectation": "An expectation of a mark in the source does not hold",
    "mark": "A mark in the source with a syntax error, or without a matching loop",
}


def render(report: t.AnalysisReport) -> str:
    """Return the report as a SARIF log with one run."""
    folders = list(dict.fromkeys(unit.folder for unit in report.units if unit.folder))
    bases = {folder: "PWD" if not n else f"PWD{n + 1}" for n, folder in enumerate(folders)}
    results = [result for unit in report.units for result in _results(unit, bases.get(unit.folder, ""))]
    used = list(dict.fromkeys(str(result["ruleId"]) for result in results))
    for result in results:
        result["ruleIndex"] = used.index(result["ruleId"])
    tool = report.tool
    run = {
        "tool": {
            "driver": {"name": tool.name, "semanticVersion": tool.version, "rules": [_rule(name) for name in used]}
        },
        "originalUriBaseIds": {name: {"uri": f"file://{_uri(folder)}/"} for folder, name in bases.items()},
        # Columns are those of line information, which counts bytes; SARIF has no such kind.
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    # In ASCII: names of files may hold bytes that are no characters.
    return json.dumps(log, indent=2) + "\n"


def _rule(name: str) -> dict[str, Any]:
    text = _RULES.get(name) or f"Advice: {name.partition('/')[2].replace('-', ' ')}"
    level = "warning" if name in ("expectation", "mark") else "note"
    return {"id": name, "shortDescription": {"text": text}, "defaultConfiguration": {"level": level}}


def _results(unit: t.UnitReport, base: str) -> Iterator[dict[str, Any]]:
    for kernel in unit.kernels:
        at = _location(*place(unit, kernel), base)
        if kernel.function:
            function = {
                "name": kernel.overview.function or kernel.function_name,
                "fullyQualifiedName": kernel.function_name,
                "decoratedName": kernel.function,
                "kind": "function",
            }
            at["logicalLocations"] = [function]
        sentences = [headline(unit, kernel), kernel.verdict, *(remark.text for remark in kernel.remarks)]
        result = _result("cycles", "note", ". ".join(text[:1].upper() + text[1:] for text in sentences) + ".", at)
        result["partialFingerprints"] = _fingerprints(unit, kernel, "cycles")
        result["properties"] = {
            "cycles": kernel.cycles,
            "levels": {level.name: level.cycles for level in kernel.data.levels} if kernel.data else None,
            "core": unit.model.name,
            "kernelId": kernel.kernel_id,
            "role": kernel.role.name,
            "limitedBy": kernel.bounds.prediction.limited_by,
            "elements": kernel.elements and kernel.elements.per_iteration,
        }
        if kernel.inlined_into:
            result["relatedLocations"] = [
                {**_location(frame.file, frame.line, 0, base), "message": {"text": f"inlined into {frame.function}"}}
                for frame in reversed(kernel.inlined_into)
            ]
        yield result
        for hint in kernel.hints:
            text = hint.text
            advice = _result(f"hint/{hint.rule}", "note", text[:1].upper() + text[1:], at)
            advice["partialFingerprints"] = _fingerprints(unit, kernel, hint.rule)
            advice["properties"] = {"flags": hint.flags, "kernelId": kernel.kernel_id}
            yield advice
    for problem in unit.mark_problems:
        source = problem.source
        where = _location(source.file, source.line, problem.column, base)
        result = _result("mark", "warning", problem.text, where)
        if problem.end_column:
            where["physicalLocation"]["region"]["endColumn"] = problem.end_column
        if problem.fix is not None:
            instead = {
                "deletedRegion": dict(where["physicalLocation"]["region"]),
                "insertedContent": {"text": problem.fix},
            }
            artifact = where["physicalLocation"]["artifactLocation"]
            result["fixes"] = [{"artifactChanges": [{"artifactLocation": artifact, "replacements": [instead]}]}]
        yield result
    for mark in unit.marks:
        for expectation in mark.expectations:
            if not expectation.holds:
                where = _location(mark.at.file, mark.at.line, mark.at_column, base)
                unmet = _result("expectation", "warning", expectation.text, where)
                unmet["properties"] = {"condition": expectation.condition, "kernelId": expectation.kernel_id}
                yield unmet


def _fingerprints(unit: t.UnitReport, kernel: t.KernelReport, what: str) -> dict[str, str]:
    """Return the identity of a result, which does not depend on lines."""
    return {"inccKernel/v1": f"{unit.source or unit.assembly_file}:{kernel.kernel_id}:{what}"}


def _result(rule: str, level: str, text: str, at: dict[str, Any]) -> dict[str, Any]:
    return {"ruleId": rule, "ruleIndex": 0, "level": level, "message": {"text": text}, "locations": [at]}


def _location(file: str, line: int, column: int, base: str) -> dict[str, Any]:
    artifact = {"uri": f"file://{_uri(file)}" if file.startswith("/") else _uri(file)}
    if base and not file.startswith("/"):
        artifact["uriBaseId"] = base
    physical: dict[str, Any] = {"artifactLocation": artifact}
    if line:
        physical["region"] = {"startLine": line, **({"startColumn": column} if column else {})}
    return {"physicalLocation": physical}


def _uri(path: str) -> str:
    return quote(path.encode("utf-8", "surrogateescape"), safe="/")
