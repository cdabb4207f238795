"""The output of `incc-model list --names`, `show`, `diff` and `coverage`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from incc.driver.coverage import RefusedCode, Used
from incc.models.compare import compare, latency, throughput, usage
from incc.models.files.source import ModelSource, merge_forms
from incc.models.loading import list_models, load
from incc.models.model import MachineModel
from incc.models.notation import parse_latency


def table(rows: Sequence[Sequence[str]], indent: str = "") -> None:
    """Print rows with aligned columns."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))] if rows else []
    for row in rows:
        print((indent + "  ".join(f"{cell:{w}}" for cell, w in zip(row, widths, strict=True))).rstrip())


# --- list ------------------------------------------------------------------------------------------------------------


def show_names(search_path: Sequence[str]) -> None:
    """Print all names of processors, each with its model, or the nearest model and why."""
    from incc.models.processors.names import all_names

    rows = {name: [name, model.name, ""] for model in list_models(search_path) for name in (model.name, *model.aliases)}
    own = {name.lower() for name in rows}
    for name, nearest, why in all_names():
        # The user's models may have names for which incc's models are only the nearest.
        if name not in own:
            rows[name] = [name, f"nearest: {nearest}" if nearest else "none", why]
    table([rows[name] for name in sorted(rows, key=str.lower)])


# --- show ------------------------------------------------------------------------------------------------------------


def show_by_core(what: str, search_path: Sequence[str], matching: Callable[[MachineModel, str], list[str]]) -> bool:
    """Print the figures of every core for the matching forms without conditions; return False if there are none."""
    rows: dict[str, list[list[str]]] = {}
    for name in list_models(search_path):
        model = load(name.path, search_path)
        for key in matching(model, what):
            form = model.lookup(key, frozenset())
            if form is None:
                continue
            source = form.source + (" (derived)" if form.derived else "")
            cycles = f"{throughput(form, model):.2f}"
            uops = str(form.retire_slots)
            rows.setdefault(key, []).append([model.name, uops, usage(form) or "none", latency(form), cycles, source])
    for n, (key, cores) in enumerate(sorted(rows.items())):
        print("\n" * bool(n) + key)
        table([["core", "µops", "ports", "latency", "throughput", "source"], *cores], "  ")
    return bool(rows)


def show_ports(model: MachineModel) -> None:
    """Draw a core as text, as `incc-mca -port-model` does."""
    from incc.report.core import core_report
    from incc.views.layout import Layout, terminal
    from incc.views.text.port_model import lines

    for line in lines(core_report(model), Layout(*terminal(sys.stdout))):
        print(line)


# --- diff ------------------------------------------------------------------------------------------------------------


def show_difference(left: MachineModel, right: MachineModel, summary: bool, forms: str = "*") -> None:
    """Print the parameters that differ, the forms of one model alone, and forms that differ, grouped by fields."""
    difference = compare(left, right)
    print(f"{left.name} | {right.name}")
    if difference.settings and forms == "*":
        print("\nparameters")
        table([[c.key, " | ".join(c.fields[c.key])] for c in difference.settings], "  ")
    for model, only in ((left, difference.only_left), (right, difference.only_right)):
        matches = [key for key in only if fnmatchcase(key, forms)]
        if matches:
            print(f"\nonly in {model.name}: {len(matches)} forms")
            for key in () if summary else matches:
                print(f"  {key}")
    for names, all_changes in sorted(difference.changed.items(), key=lambda c: -len(c[1])):
        changes = [c for c in all_changes if fnmatchcase(c.key, forms)]
        if changes:
            print(f"\ndifferent in {', '.join(names)}: {len(changes)} forms")
            if not summary:
                table([[c.key, *(f"{n} {c.fields[n][0]} | {c.fields[n][1]}" for n in names)] for c in changes], "  ")


def show_disagreements(chain: Sequence[ModelSource], forms: str = "*") -> None:
    """Print figures of a model's sources that are not used and differ from those that are."""
    merged = merge_forms(chain)
    disagreements = 0
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
                disagreements += len(rows)
                print(f"{part.name.name}: in use | {source}: {len(rows)} forms")
                table(rows, "  ")
    print(f"{disagreements} disagreements")


# --- coverage --------------------------------------------------------------------------------------------------------


def show_coverage(model: MachineModel, code: Sequence[Used | RefusedCode], verbose: bool) -> bool:
    """Print how much of the code a model knows, by source, and what it lacks; return True if it lacks nothing."""
    from incc.driver.coverage import DERIVED, LACKING, Used, measure

    coverage = measure(model, [u for u in code if isinstance(u, Used)])
    refused = [r for r in code if not isinstance(r, Used)]
    weights, forms = coverage.weights, coverage.forms
    print(f"{model.name}: {coverage.total:g} instructions of {sum(forms.values())} forms")
    sources = sorted((k for k in weights if k not in (DERIVED, LACKING)), key=lambda k: -weights[k])
    rows = [
        [kind, f"{100 * coverage.share(kind):.2f} %", f"{weights.get(kind, 0):g}", f"{forms.get(kind, 0)} forms"]
        for kind in [*sources, DERIVED, LACKING]
    ]
    table(rows, "  ")
    lists = [("lacking", coverage.lacking)] + [("derived", coverage.derived)] * verbose
    for title, entries in lists:
        if entries:
            print(title)
            table([[f"{w:g}", key, rule, u.text, u.place] for w, key, rule, u in entries], "  ")
    for r in refused:
        print(f"{r.place}: {r.message}", file=sys.stderr)
    return not coverage.lacking and not refused
