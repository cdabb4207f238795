"""Compilation of model files to the compact tables that models.loading loads.

This only runs when there is no cache; everything that is costly to import or to check stays here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from incc.models import memory
from incc.models.files import llvm_table
from incc.models.files.source import (
    FORMAT,
    Entry,
    FileProblem,
    FindModel,
    Forms,
    ModelSource,
    by_conditions,
    merge_forms,
    read_chain,
)
from incc.models.forms.rules import INSTRUCTION_SETS
from incc.models.model import Entries, Header, ModelError, Tables, digest
from incc.models.notation import form_key, parse_port_set
from incc.models.schema.kinds import unknown
from incc.models.schema.parameters import defaults, problems_together
from incc.support.errors import suggestion

_MOST_COLUMNS = 64
"""The most ports and resources that the native core takes."""


def compile_model(path: str, places: Sequence[str], find: FindModel, depends_on: Sequence[str] = ()) -> Tables:
    """Return the compiled tables of a model. Raises ModelError for the first problem.

    Args:
        path: The model's file.
        places: The folders and files where models are looked for.
        find: Finds the file of a model that it inherits from.
        depends_on: The places to store with the tables, which depend on them.
    """
    chain = read_chain(path, places, find)
    header, problems = read_header(chain)
    if problems:
        raise ModelError(str(problems[0]))
    merged = merge_forms(chain)
    if unit := next(iter(unknown_units(chain, merged, header["resources"])), None):
        raise ModelError(str(unit))
    forms = {form: pack(entries) for form, entries in merged.items() if entries}
    folder = os.path.dirname(path)
    files = tuple((os.path.basename(s.path) if os.path.dirname(s.path) == folder else s.path, s.digest) for s in chain)
    version = f"{FORMAT}.{digest(''.join(d for _, d in files).encode())[:8]}"
    return Tables(tuple(depends_on), files, header, forms, version)


def read_header(chain: Sequence[ModelSource]) -> tuple[Header, list[FileProblem]]:
    """Return everything that a model says except its forms, and its problems.

    `parameters` are complete, defaults included; `stated` names those that the files state.
    """
    own = chain[0]
    header: Header = {
        "name": own.name.name,
        "aliases": own.name.aliases,
        "title": own.name.title,
        "isa": next((s.name.isa for s in chain if s.name.isa), ""),
        "source": own.data.get("source", ""),
        "sources": {},
        "parameters": {},
        "macro_fusion": {},
        "functions": {},
        "ports": (),
        "resources": (),
        "stated": (),
        "llvm": b"",
        "memory": b"",
    }
    problems = [p for source in chain for p in source.problems()]
    stated: dict[str, Any] = {}
    for source in reversed(chain):
        header["sources"].update(source.data.get("sources", {}))
        _deep_update(stated, source.data.get("parameters", {}))
        problems += _add_macro_fusion(header, source) + _add_ports(header, source)
    problems += _missing(header, own.path)
    with_names = next((s for s in chain if "llvm" in s.data), None)
    if with_names is not None and header["ports"]:
        names, wrong = llvm_table.read(with_names.data["llvm"], header["ports"], header["resources"])
        problems += [FileProblem(with_names.place("llvm"), message) for message in wrong]
        header["llvm"] = b"" if wrong else msgspec.msgpack.encode(names)
    if "memory" in own.data:  # not inherited: cores with the same pipeline differ in their caches
        hierarchy, wrong = memory.read(own.data["memory"], header["sources"])
        problems += [FileProblem(own.place("memory"), message) for message in wrong]
        header["memory"] = memory.packed(hierarchy)
    if not problems:
        for name, message in problems_together(stated, header["ports"]):
            file = next((s for s in chain if name in s.data.get("parameters", {})), own)
            problems.append(FileProblem(file.place("parameters", name) if name else own.path, message))
    header["parameters"] = {**defaults(), **stated}
    header["stated"] = tuple(stated)
    return header, problems


def _add_macro_fusion(header: Header, source: ModelSource) -> list[FileProblem]:
    problems = []
    for name, jumps in source.data.get("macro_fusion", {}).items():
        if isinstance(jumps, str):
            header["macro_fusion"][name] = tuple(jumps.split())
        else:
            message = f"macro_fusion.{name} must be the jumps' mnemonics in one string"
            problems.append(FileProblem(source.place("macro_fusion", name), message))
    return problems


def _add_ports(header: Header, source: ModelSource) -> list[FileProblem]:
    problems = []
    ports = source.data.get("ports", {})
    columns: tuple[tuple[Literal["ports", "resources"], str], ...] = (("ports", "names"), ("resources", "resources"))
    for key, setting in columns:
        names = ports.get(setting, header[key])
        if isinstance(names, list | tuple) and all(isinstance(p, str) for p in names):
            header[key] = tuple(names)
        else:
            problems.append(FileProblem(source.place("ports", setting), f"ports.{setting} must be a list of strings"))
    if len(header["ports"]) + len(header["resources"]) > _MOST_COLUMNS:
        message = f"more than {_MOST_COLUMNS} ports and resources"
        problems.append(FileProblem(source.place("ports", "names"), message))
    functions = ports.get("functions", {})
    for name, port_set in functions.items() if isinstance(functions, dict) else ():
        place = source.place("ports", "functions", name)
        if not isinstance(port_set, str):
            message = f"ports.functions.{name}: must be ports as in 'p23', not {port_set!r}"
            problems.append(FileProblem(place, message))
            continue
        try:
            header["functions"][name] = parse_port_set(port_set, header["ports"])
        except ValueError as e:
            problems.append(FileProblem(place, f"ports.functions.{name}: {e}"))
    return problems


def _missing(header: Header, path: str) -> list[FileProblem]:
    problems = []
    if not header["ports"]:
        problems.append(FileProblem(path, "no ports: [ports] names = [...] is missing"))
    if not header["isa"]:
        problems.append(FileProblem(path, "no 'isa'"))
    elif header["isa"] not in INSTRUCTION_SETS:
        problems.append(FileProblem(path, unknown("isa", header["isa"], INSTRUCTION_SETS)))
    return problems


def unknown_units(chain: Sequence[ModelSource], merged: Forms, resources: Sequence[str]) -> list[FileProblem]:
    """Return the forms that hold a unit which is not among the resources of the model."""
    problems = []
    for form, entries in merged.items():
        for conditions, fields in entries.items():
            if (unit := fields.get("unit")) and unit not in resources:
                file = next(
                    (s for s in chain if s.forms.get(form, {}).get(conditions, {}).get("unit") == unit), chain[0]
                )
                key = form_key(form, conditions)
                message = f"{key}: unit {unit!r} is not in ports.resources{suggestion(unit, resources)}"
                problems.append(FileProblem(file.place_of_form(key), message))
    return problems


def pack(entries: dict[tuple[str, ...], Entry]) -> bytes:
    """Return the entries of one form as models.model unpacks them."""
    ordered: Entries = [(c, entries[c]) for c in by_conditions(entries)]
    return msgspec.msgpack.encode(ordered)


def _deep_update(into: dict[str, Any], values: dict[str, Any]) -> None:
    for key, value in values.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _deep_update(into[key], value)
        else:
            into[key] = dict(value) if isinstance(value, dict) else value
