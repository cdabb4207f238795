"""LLVM's figures of instructions that a core does not have (figures.txt).

llvm-mca analyses whatever the assembler accepts: AVX-512 on Haswell, XOP on Skylake. No model file has such figures,
since the core never runs these instructions; only the llvm-mca interface uses them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from incc.models.files.compile import pack
from incc.models.files.source import Entry
from incc.models.forms.shapes import FormDataflow, Shape, dataflow, shape_of
from incc.models.importers.common import reduced
from incc.models.importers.llvm import importer as llvm
from incc.models.importers.llvm import units as llvm_units
from incc.models.model import LACKING, MachineModel
from incc.models.notation import parse_ports, port_set_name

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "figures.txt")


def with_figures(model: MachineModel, cpu: str, forms: Iterable[str]) -> tuple[MachineModel, list[str]]:
    """Return the model with LLVM's figures of forms that it lacks, and these forms; the model itself if there are none.

    Args:
        model: The model.
        cpu: LLVM's processor.
        forms: The forms of the analysed code.
    """
    lacking = sorted(form for form in set(forms) if not model.entries(form))
    if not lacking or model.isa != "x86":
        return model, []
    figures = _read(cpu, lacking)
    packed = {form: pack(entries) for form, data in figures.items() if (entries := _entries(model, form, data))}
    return (model.with_entries(packed) if packed else model), list(packed)


def _read(cpu: str, forms: Sequence[str]) -> dict[str, dict[tuple[str, ...], dict[str, Any]]]:
    """Return LLVM's figures of some forms by conditions, written as llvm_sched.cpp prints them.

    They are {} for a processor without a model.
    """
    with open(FILE, encoding="ascii") as file:
        *models, classes, last = file.read().rstrip("\n").split("\n\n")[1:]
    column = -1
    for number, text in enumerate(models):
        if cpu in text.partition("\n")[0].split()[1:]:
            column = number
    if column < 0:
        return {}
    resources, _, figures = models[column].partition("\nfigures\n")
    members = {name: each for name, *each in (line.split() for line in resources.split("\n")[1:])}
    lines, numbers = figures.split("\n"), classes.split("\n")[1:]
    rows = {row.partition(" ")[0]: row for row in last.split("\n")[1:]}
    by_form: dict[str, dict[tuple[str, ...], dict[str, Any]]] = {}
    for form in forms:
        if form not in rows:
            continue
        _, plain, *others = rows[form].split()
        of = {(): plain, **{tuple(c.split(",")): n for c, _, n in (each.partition("=") for each in others)}}
        for conditions, group in of.items():
            at = numbers[int(group)].split()[column]
            if at != "-":
                by_form.setdefault(form, {})[conditions] = _data(lines[int(at)], members)
    return {form: each for form, each in by_form.items() if () in each}


def _data(line: str, members: Mapping[str, list[str]]) -> dict[str, Any]:
    latency, uops, advance, *used = line.split()
    resources = [
        {"name": name, "cycles": int(cycles), "members": members[name]}
        for name, _, cycles in (each.partition("*") for each in used)
    ]
    return {
        "latency": int(latency),
        "uops": int(uops),
        "read_advance": [] if advance == "-" else [{"cycles": int(advance)}],
        "resources": resources,
    }


def _entries(
    model: MachineModel, form: str, figures: Mapping[tuple[str, ...], dict[str, Any]]
) -> dict[tuple[str, ...], Entry]:
    """Return a form's entries for the model, on its ports."""
    shape = shape_of(form)
    entries: dict[tuple[str, ...], Entry] = {}
    for conditions, data in figures.items():
        flow = dataflow(shape, "mask" in conditions)
        fields = _in_ports(model, shape, flow, data)
        entries[conditions] = {**fields, "source": "llvm", "derived": LACKING}
    return reduced(entries) if () in entries else {}


def _in_ports(model: MachineModel, shape: Shape, flow: FormDataflow, data: dict[str, Any]) -> Entry:
    names = model.llvm
    if names is None or not names.units or any(unit.name.rpartition("Port")[2].isdigit() for unit in names.units):
        try:
            fields = llvm.entry(shape, flow, data)
            if llvm_units.has_one_load_port(model.functions):
                fields = llvm_units.with_one_load_port(fields, flow, model.functions)
            parse_ports(fields["ports"], model.ports)
            return fields
        except ValueError:  # LLVM analyses the core as another one
            pass
    core = llvm_units.core_of(model.header(), "", ())
    if names is None or not names.units:
        core = replace(core, kinds=_kinds(model))
    return llvm_units.entry(shape, flow, data, core)


_OF_KIND = {"int": "ADD_R64_RM64/r", "vector": "PADDD_XMM_XMMM128/r", "branch": "JE_REL8_64/r"}
"""An instruction of each kind that every core has."""


def _kinds(model: MachineModel) -> dict[str, str]:
    """Return the ports for each kind of work: those of its plainest instruction."""
    plain = {kind: model.lookup(form, frozenset()) for kind, form in _OF_KIND.items()}
    return {kind: port_set_name(form.uops[0][0].split(",")) for kind, form in plain.items() if form and form.uops}
