"""The output of `incc-model`: lines of text, and documents for JSON."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from incc.driver.coverage import DERIVED, LACKING, Coverage
from incc.models.compare import ModelComparison
from incc.models.files.source import ModelSource, merge_forms
from incc.models.loading import list_models
from incc.models.model import MachineModel
from incc.models.notation import form_key, parse_latency
from incc.report.instructions import InstructionTable
from incc.support.text import counted
from incc.views.layout import Layout


def table(rows: Sequence[Sequence[str]], indent: str = "") -> Iterator[str]:
    """Yield rows with aligned columns."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))] if rows else []
    for row in rows:
        yield (indent + "  ".join(f"{cell:{w}}" for cell, w in zip(row, widths, strict=True))).rstrip()


# --- list ------------------------------------------------------------------------------------------------------------


def names(search_path: Sequence[str]) -> list[list[str]]:
    """Return all names of processors, each with its model, or the nearest model and why."""
    from incc.models.processors.names import all_names

    rows = {name: [name, model.name, ""] for model in list_models(search_path) for name in (model.name, *model.aliases)}
    own = {name.lower() for name in rows}
    for name, nearest, why in all_names():
        # The user's models may have names for which incc's models are only the nearest.
        if name not in own:
            rows[name] = [name, f"nearest: {nearest}" if nearest else "none", why]
    return [rows[name] for name in sorted(rows, key=str.lower)]


# --- show ------------------------------------------------------------------------------------------------------------


def by_core(instructions: InstructionTable, _: Layout) -> Iterator[str]:
    """Yield a table for each instruction, with a row for each core that has it."""
    heads = ["core", "µops", "ports", "latency", "throughput", "source"]
    for n, row in enumerate(instructions.rows):
        yield from [""] * bool(n)
        yield f"{row.instruction}  {row.form}"
        cores = [
            [name, str(f.uops), f.ports or "none", f.latency, f"{f.throughput:.2f}", ", ".join((f.source, *f.notes))]
            for name, f in row.cores.items()
        ]
        yield from table([heads, *cores], "  ")


def model_lines(model: MachineModel) -> Iterator[str]:
    """Yield a model's parameters and sources."""
    yield f"{model.title} ({model.name}; also {', '.join(model.aliases)})" if model.aliases else model.title
    yield f"isa {model.isa}, {len(list(model.forms()))} forms, version {model.version}"
    for path in model.files:
        yield f"file {os.path.relpath(path)}"
    yield f"ports {', '.join(model.ports)}; resources {', '.join(model.resources) or 'none'}"
    for name, ports in model.functions.items():
        yield f"  {name} = {ports}"
    yield "parameters"
    for name, value in sorted(model.stated_parameters.items()):
        text = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        yield f"  {name} = {text if text != '' else 'none'}"
    yield "sources"
    for name, text in model.sources.items():
        yield f"  {name}: {text}"


def form_lines(model: MachineModel, form: str) -> Iterator[str]:
    """Yield the model's complete description of a form, for each set of conditions."""
    for conditions, fields in model.entries(form):
        figures = model.lookup(form, frozenset(conditions))
        assert figures is not None
        yield form_key(form, conditions)
        uops = " + ".join(f"{n} × {{{ports}}}" for ports, n in figures.uops) or "none"
        yield f"  µops      {uops}; {figures.retire_slots} fused"
        if figures.latency:
            yield "  latency   " + ", ".join(f"{s} → {t}: {c}" for t, s, c in figures.latency)
        if figures.divider:
            yield f"  divider   {figures.divider} cycles"
        if figures.throughput:
            yield f"  measured  one in {figures.throughput:g} cycles"
        if figures.breaks_dependency:
            yield "  idiom     does not depend on its inputs"
        if figures.fusion:
            yield f"  fuses     {' '.join(model.macro_fusion.get(figures.fusion, ()))}"
        for name, value in figures.attributes.items():
            if value:
                yield f"  {name}" + ("" if value is True else f" {value}")
        if not conditions or "source" in fields or "derived" in fields:
            origin = figures.source + (f"; derived: {figures.derived}" if figures.derived else "")
            yield f"  source    {origin}"


def port_lines(model: MachineModel, layout: Layout) -> Iterator[str]:
    """Yield a core drawn as text, as `incc-mca -port-model` does."""
    from incc.report.core import core_report
    from incc.views.text.port_model import lines

    yield from lines(core_report(model), layout)


# --- diff ------------------------------------------------------------------------------------------------------------


def difference_lines(difference: ModelComparison, names: Sequence[str], summary: bool) -> Iterator[str]:
    """Yield the parameters that differ, the forms of one model alone, and forms that differ, grouped by fields."""
    yield " | ".join(names)
    if difference.settings:
        yield from ("", "parameters")
        yield from table([[c.key, " | ".join(c.fields[c.key])] for c in difference.settings], "  ")
    for name, only in zip(names, (difference.only_left, difference.only_right), strict=True):
        if only:
            yield from ("", f"only in {name}: {counted(len(only), 'form')}")
            yield from (f"  {key}" for key in ([] if summary else only))
    for fields, changes in sorted(difference.changed.items(), key=lambda c: -len(c[1])):
        yield from ("", f"different in {', '.join(fields)}: {counted(len(changes), 'form')}")
        if not summary:
            rows = [[c.key, *(f"{n} {c.fields[n][0]} | {c.fields[n][1]}" for n in fields)] for c in changes]
            yield from table(rows, "  ")


def difference_document(difference: ModelComparison, names: Sequence[str]) -> dict[str, Any]:
    """Return the difference of two models for JSON."""
    return {
        "models": list(names),
        "parameters": {change.key: change.fields[change.key] for change in difference.settings},
        "only": dict(zip(names, (difference.only_left, difference.only_right), strict=True)),
        "different": {change.key: change.fields for changes in difference.changed.values() for change in changes},
    }


def disagreements(chain: Sequence[ModelSource], forms: str = "*") -> dict[str, list[list[str]]]:
    """Return figures of a model's sources that are not used and differ from those that are, by model and source."""
    merged = merge_forms(chain)
    tables: dict[str, list[list[str]]] = {}
    for part in chain:
        for source, others in sorted(part.also.items()):
            rows = []
            for form, fields in sorted(others.items()):
                used = merged.get(form, {}).get((), {})
                if not fnmatchcase(form, forms) or not used:
                    continue
                longest = max((c for _, _, c in parse_latency(used.get("latency", ""))), default=0)
                values = {"ports": used.get("ports", ""), "latency": str(longest)}
                rows.append(
                    [
                        form,
                        *(
                            f"{name} {values[name] or 'none'} | {fields[name] or 'none'}" if name in fields else ""
                            for name in ("ports", "latency")
                        ),
                        used.get("source", ""),
                    ]
                )
            if rows:
                tables[f"{part.name.name}: in use | {source}"] = rows
    return tables


def disagreement_lines(tables: dict[str, list[list[str]]]) -> Iterator[str]:
    """Yield the figures that differ, and their number."""
    for head, rows in tables.items():
        yield f"{head}: {counted(len(rows), 'form')}"
        yield from table(rows, "  ")
    yield f"{sum(map(len, tables.values()))} disagreements"


# --- coverage --------------------------------------------------------------------------------------------------------


def coverage_lines(name: str, coverage: Coverage, verbose: bool) -> Iterator[str]:
    """Yield the model's coverage of some code, by source, and the instructions that it lacks."""
    weights, forms = coverage.weights, coverage.forms
    yield f"{name}: {coverage.total:g} instructions of {counted(sum(forms.values()), 'form')}"
    sources = sorted((k for k in weights if k not in (DERIVED, LACKING)), key=lambda k: -weights[k])
    rows = [
        [kind, f"{100 * coverage.share(kind):.2f} %", f"{weights.get(kind, 0):g}", counted(forms.get(kind, 0), "form")]
        for kind in [*sources, DERIVED, LACKING]
    ]
    yield from table(rows, "  ")
    lists = [("lacking", coverage.lacking)] + [("derived", coverage.derived)] * verbose
    for title, entries in lists:
        if entries:
            yield title
            yield from table([[f"{w:g}", key, rule, u.text, u.place] for w, key, rule, u in entries], "  ")
