"""`incc-bench --port-sets`: which ports the µops of forms can use, by throughputs alone (docs/ports.md)."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from incc.driver import UsageError
from incc.measuring.host import ports as host_ports
from incc.models.loading import load

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from incc.measuring.forms.bench import Machine
    from incc.measuring.forms.operands import Named
    from incc.measuring.forms.target import Target
    from incc.measuring.ports.study import Findings, FormPorts
    from incc.models.model import MachineModel

HOW = {
    "measured": "sure: nothing else explains the times in as few µops",
    "relative": "likely: the relative's explain the times, and others do",
    "smallest": "a guess: the fewest µops that explain the times",
    "contradiction": "unknown: nothing explains the times",
    "unmeasured": "not measured",
}
"""What `FormPorts.how` says, in words."""
_SHORT = {"measured": "sure", "relative": "likely", "smallest": "guess", "contradiction": "unknown"}


def relative_of(options: argparse.Namespace, host: MachineModel) -> MachineModel:
    """The model that sets of ports are compared with. Raises UsageError."""
    if not options.relative:
        return host
    model = load(options.relative, options.model_path)
    if model.isa != host.isa:
        raise UsageError(f"{model.name} has another instruction set than {host.name}")
    return model


def study(
    options: argparse.Namespace,
    forms: Sequence[Named],
    core: Target,
    relative: MachineModel,
    machine: Machine,
    step: Callable[[], None],
) -> tuple[Findings, dict[str, str]]:
    """What was found, and why other forms cannot be told, by key. Raises UsageError and what the harness raises."""
    from incc.models.notation import form_key

    left_out: dict[str, str] = {}
    wanted = []
    for form in forms:
        key = form_key(form.variant.shape.key, form.variant.conditions)
        if why := host_ports.why_not(key, core.features, relative):
            left_out[key] = why
        else:
            wanted.append(key)
    if not wanted:
        raise UsageError("; ".join(left_out.values()))

    def said() -> bool:
        step()
        return True

    try:
        found = host_ports.find(
            wanted,
            core,
            relative,
            host_ports.oracle(machine, said),
            options.resume or options.output or None,
            options.port_count,
            options.issue_width,
        )
    except ValueError as error:  # a file that is something else
        raise UsageError(str(error)) from None
    mappings = [m for m in found.mappings if m.form in set(wanted)]
    return found._replace(mappings=mappings), left_out


def record(found: FormPorts, relative: MachineModel) -> dict[str, Any]:
    """What was found of a form, for JSON."""
    form = relative.lookup(found.form, frozenset())
    return {
        "form": found.form,
        "uops": [list(u) for u in found.uops],
        "how": found.how,
        "others": [[list(u) for u in other] for other in found.others],
        "relative": None if form is None else [list(u) for u in host_ports.of_relative(form)],
        "slots": found.slots,
        "cycles": None if found.throughput is None else round(found.throughput, 3),
        "unit": found.unit,
        "notes": list(found.notes),
    }


def lines(found: Findings, left_out: dict[str, str], relative: MachineModel, width: int) -> Iterator[str]:
    """The table, at most so wide."""
    rows = [("form", "cycles", "sure?", "µops by ports", relative.name)]
    for m in found.mappings:
        form = relative.lookup(m.form, frozenset())
        there = "has none" if form is None else host_ports.uops_text(host_ports.of_relative(form))
        here = "?" if _SHORT.get(m.how) in (None, "unknown") else host_ports.uops_text(m.uops)
        if not m.uops and here != "?":
            # What waits for issue slots alone (docs/ports.md).
            here = "none or any"
        # The same in another order is the same.
        same = form is not None and sorted(m.uops) == sorted(host_ports.of_relative(form))
        cycles = "-" if m.throughput is None else f"{m.throughput:.2f}"
        rows.append((m.form, cycles, _SHORT.get(m.how, "-"), here, "the same" if same and here != "?" else there))
    widths = [max(len(r[n]) for r in rows) for n in range(4)]
    yield f"{relative.title}'s blockers; {found.experiments} throughputs"
    if sum(widths) + 8 + max(len(r[4]) for r in rows) <= width:
        for r in rows:
            yield "  ".join(
                [r[0].ljust(widths[0]), r[1].rjust(widths[1]), *(r[n].ljust(widths[n]) for n in (2, 3)), r[4]]
            )
    else:
        # A form a line would be cut: one below the other.
        for r in rows[1:]:
            yield r[0]
            yield f"  {r[1]} cycles; {r[2]}: {r[3]}; {relative.name}: {r[4]}"
    said = dict.fromkeys(m.how for m in found.mappings)
    yield ""
    for how in said:
        yield from _wrapped(f"{_SHORT.get(how, '-')}: {HOW[how].partition(': ')[2] or HOW[how]}", width)
    for m in found.mappings:
        for other in m.others[:3]:
            yield from _wrapped(f"{m.form}: as well {host_ports.uops_text(other)}", width)
        for note in m.notes:
            yield from _wrapped(f"{m.form}: {note}", width)
    for why in left_out.values():
        yield from _wrapped(f"left out: {why}", width)
    for text in found.contradictions:
        yield from _wrapped(f"contradiction: {text}", width)
    if found.alike:
        groups = "; ".join(",".join(a) for a in found.alike)
        yield from _wrapped(f"no set tells apart, so that names may be exchanged: {groups}", width)
    if found.systems > 1 or not found.systems_complete:
        more = "" if found.systems_complete else " or more"
        yield from _wrapped(f"{found.systems}{more} systems of sets explain the blockers' times", width)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def write(
    options: argparse.Namespace, found: Findings, left_out: dict[str, str], relative: MachineModel, way: str
) -> None:
    """Prints it."""
    from incc.driver.deliver import write_stream

    if options.format == "json":
        rows = [record(m, relative) for m in found.mappings]
        rows += [{"form": key, "how": "unmeasured", "notes": [why]} for key, why in left_out.items()]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        write_stream(sys.stdout, lambda width, colour: text)
        return

    def render(width: int, colour: bool) -> str:
        return "".join(f"{line}\n" for line in (f"measured {way}", *lines(found, left_out, relative, width or 80)))

    write_stream(sys.stdout, render)
