"""`incc-bench --port-sets`: the ports that the µops of forms can use, from throughputs alone (docs/ports.md)."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from incc.driver import UsageError
from incc.driver.deliver import write_stream
from incc.measuring.forms.operands import Named
from incc.measuring.forms.target import MeasuredCore
from incc.measuring.harness import Machine
from incc.measuring.host import ports as host_ports
from incc.measuring.ports.study import Findings, FormPorts
from incc.models.loading import load
from incc.models.model import MachineModel
from incc.models.notation import form_key

if TYPE_CHECKING:
    import argparse

_CERTAINTY = {
    "measured": ("sure", "no other ports explain the times with as few µops"),
    "relative": ("likely", "the relative's ports explain the times, and so do others"),
    "smallest": ("guess", "the fewest µops that explain the times"),
    "contradiction": ("unknown", "nothing explains the times"),
    "unmeasured": ("-", "not measured"),
}
"""A word and an explanation for each `FormPorts.how`."""


def relative_of(options: argparse.Namespace, host: MachineModel) -> MachineModel:
    """Return the model to compare sets of ports with. Raises UsageError."""
    if not options.relative:
        return host
    model = load(options.relative, options.model_path)
    if model.isa != host.isa:
        raise UsageError(f"{model.name} has another instruction set than {host.name}")
    return model


def study(
    options: argparse.Namespace,
    forms: Sequence[Named],
    core: MeasuredCore,
    relative: MachineModel,
    machine: Machine,
    goes_on: Callable[[], bool],
) -> tuple[Findings, dict[str, str]]:
    """Return the findings, and by key why other forms cannot be measured; `goes_on` is called for each throughput.

    Raises UsageError, and what the harness raises.
    """
    left_out: dict[str, str] = {}
    keys = []
    for form in forms:
        key = form_key(form.variant.shape.key, form.variant.conditions)
        if why := host_ports.why_not(key, core.features, relative):
            left_out[key] = why
        else:
            keys.append(key)
    if not keys:
        raise UsageError("; ".join(left_out.values()))

    try:
        findings = host_ports.find(
            keys,
            core,
            relative,
            host_ports.oracle(machine, goes_on),
            options.resume or options.output,
            options.port_count,
            options.issue_width,
        )
    except ValueError as error:  # the file contains something else
        raise UsageError(str(error)) from None
    return replace(findings, mappings=[m for m in findings.mappings if m.form in set(keys)]), left_out


def record(ports: FormPorts, relative: MachineModel) -> dict[str, Any]:
    """Return the JSON line of a form."""
    form = relative.lookup(ports.form, frozenset())
    return {
        "form": ports.form,
        "uops": [list(u) for u in ports.uops],
        "how": ports.how,
        "others": [[list(u) for u in other] for other in ports.others],
        "relative": None if form is None else [list(u) for u in host_ports.of_relative(form)],
        "slots": ports.slots,
        "cycles": None if ports.throughput is None else round(ports.throughput, 3),
        "unit": ports.unit,
        "notes": list(ports.notes),
    }


def lines(findings: Findings, left_out: dict[str, str], relative: MachineModel, width: int) -> Iterator[str]:
    """Yield the table and remarks on it, in lines of at most `width` columns."""
    yield f"{relative.title}'s blockers; {findings.experiments} throughputs"
    yield from _table([_row(ports, relative) for ports in findings.mappings], relative.name, width)
    yield ""
    for text in _remarks(findings, left_out):
        yield from textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _row(ports: FormPorts, relative: MachineModel) -> tuple[str, ...]:
    form = relative.lookup(ports.form, frozenset())
    relatives = host_ports.of_relative(form) if form else ()
    if ports.how in ("contradiction", "unmeasured"):
        uops = "?"
    else:
        # A form without µops may wait for issue slots alone (docs/ports.md).
        uops = host_ports.uops_text(ports.uops) if ports.uops else "none or any"
    if form is None:
        there = "has none"
    elif uops != "?" and sorted(ports.uops) == sorted(relatives):
        there = "the same"
    else:
        there = host_ports.uops_text(relatives)
    cycles = "-" if ports.throughput is None else f"{ports.throughput:.2f}"
    return ports.form, cycles, _CERTAINTY[ports.how][0], uops, there


def _table(rows: Sequence[tuple[str, ...]], relative: str, width: int) -> Iterator[str]:
    table = [("form", "cycles", "sure?", "µops by ports", relative), *rows]
    widths = [max(len(row[n]) for row in table) for n in range(5)]
    if sum(widths) + 8 <= width:
        for form, cycles, sure, uops, there in table:
            cells = [form.ljust(widths[0]), cycles.rjust(widths[1]), sure.ljust(widths[2]), uops.ljust(widths[3])]
            yield "  ".join([*cells, there])
        return
    for form, cycles, sure, uops, there in rows:
        yield form
        yield f"  {cycles} cycles; {sure}: {uops}; {relative}: {there}"


def _remarks(findings: Findings, left_out: dict[str, str]) -> Iterator[str]:
    for how in dict.fromkeys(ports.how for ports in findings.mappings):
        yield ": ".join(_CERTAINTY[how])
    for ports in findings.mappings:
        for other in ports.others[:3]:
            yield f"{ports.form}: or {host_ports.uops_text(other)}"
        for note in ports.notes:
            yield f"{ports.form}: {note}"
    for why in left_out.values():
        yield f"left out: {why}"
    for text in findings.contradictions:
        yield f"contradiction: {text}"
    if findings.alike:
        groups = "; ".join(",".join(names) for names in findings.alike)
        yield f"ports that no set tells apart, whose names may be exchanged: {groups}"
    if findings.systems > 1 or not findings.systems_complete:
        more = "" if findings.systems_complete else " or more"
        yield f"{findings.systems}{more} systems of sets explain the blockers' times"


def write(
    options: argparse.Namespace, findings: Findings, left_out: dict[str, str], relative: MachineModel, way: str
) -> None:
    """Print the findings as text or JSON lines; `way` says how they were measured."""
    if options.format == "json":
        rows = [record(m, relative) for m in findings.mappings]
        rows += [{"form": key, "how": "unmeasured", "notes": [why]} for key, why in left_out.items()]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        write_stream(sys.stdout, lambda width, colour: text)
        return

    def render(width: int, colour: bool) -> str:
        return "".join(f"{line}\n" for line in (f"measured {way}", *lines(findings, left_out, relative, width or 80)))

    write_stream(sys.stdout, render)
