"""The table `llvm` of a model file: reading, checking and writing it (models/llvm_names.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from incc.models.llvm_names import Llvm, LlvmRegisterFile, LlvmScheduler, LlvmUnit

MARK = "# Names and sizes are LLVM's (incc-model import llvm --resources); which of our units they are, is kept."
"""The comment above the table in a model file, which tells where the table begins."""

_KEYS: dict[str, dict[str, tuple[type, bool]]] = {
    "units": {"name": (str, True), "of": (str, False), "forms": (str, False)},
    "schedulers": {"name": (str, True), "entries": (int, True), "ports": (str, False), "queue": (str, False)},
    "register_files": {"name": (str, True), "registers": (int, True), "kind": (str, True), "moves": (int, False)},
}
_CHOICES = {"queue": ("", "load", "store"), "kind": ("integer", "vector")}


def read(table: Mapping[str, Any], ports: Sequence[str], resources: Sequence[str]) -> tuple[Llvm, list[str]]:
    """Return the table `llvm` of a model with these ports and other resources, and its errors."""
    wrong = [f"unknown key llvm.{key}" for key in table if key != "cpu" and key not in _KEYS]
    if not isinstance(table.get("cpu"), str) or not table["cpu"]:
        wrong.append("llvm.cpu must be LLVM's name of a processor")
    rows: dict[str, list[dict[str, Any]]] = {}
    for key, fields in _KEYS.items():
        rows[key] = []
        table_rows = table.get(key, [])
        if not isinstance(table_rows, list):
            wrong.append(f"llvm.{key} must be a list of tables")
            continue
        for row in table_rows:
            message = _problem(row, fields)
            if message:
                wrong.append(f"llvm.{key}: {message}")
            else:
                rows[key].append(row)
    if not rows["units"] and not rows["register_files"]:
        wrong.append("llvm.units is missing")
    all_ports = (*ports, *resources)
    wrong += [
        f"llvm.units: {row['name']} is of {of!r}, which the model does not have"
        for row in rows["units"]
        for of in filter(None, row.get("of", "").split(","))
        if of not in all_ports
    ]
    for row in rows["schedulers"]:
        wrong += [
            f"llvm.schedulers: {row['name']} has the port {port!r}, which the model does not have"
            for port in filter(None, row.get("ports", "").split(","))
            if port not in ports
        ]
    if wrong:
        return Llvm(cpu="", units=(), schedulers=(), register_files=()), wrong
    schedulers = [
        LlvmScheduler(
            name=r["name"],
            entries=r["entries"],
            ports=tuple(filter(None, r.get("ports", "").split(","))),
            queue=r.get("queue", ""),
        )
        for r in rows["schedulers"]
    ]
    files = [
        LlvmRegisterFile(name=r["name"], registers=r["registers"], kind=r["kind"], moves=r.get("moves"))
        for r in rows["register_files"]
    ]
    return Llvm(
        cpu=table["cpu"],
        units=tuple(_numbered(rows["units"])),
        schedulers=tuple(schedulers),
        register_files=tuple(files),
    ), []


def _problem(row: Any, fields: Mapping[str, tuple[type, bool]]) -> str:
    if not isinstance(row, dict):
        return "a row is a table"
    for key in row:
        if key not in fields:
            return f"unknown key {key!r}"
    for key, (kind, required) in fields.items():
        if key not in row:
            if required:
                return f"{key!r} is missing"
        elif not isinstance(row[key], kind) or isinstance(row[key], bool):
            return f"{key!r} has the value {row[key]!r} of a wrong type"
        elif kind is int and row[key] < 0:
            return f"{key} of {row[key]}"
        elif key in _CHOICES and row[key] not in _CHOICES[key]:
            return f"{key!r} must be one of {', '.join(map(repr, _CHOICES[key]))}"
    return ""


def _numbered(rows: Sequence[Mapping[str, Any]]) -> Iterable[LlvmUnit]:
    """Yield the units with llvm-mca's numbers: rows of one name that follow each other are one resource."""
    names = [row["name"] for row in rows]
    number = -1
    within = 0
    for at, row in enumerate(rows):
        again = at > 0 and names[at - 1] == names[at]
        number, within = (number, within + 1) if again else (number + 1, 0)
        several = again or names[at + 1 : at + 2] == [names[at]]
        yield LlvmUnit(
            name=row["name"],
            number=f"{number}.{within}" if several else str(number),
            of=row.get("of", ""),
            forms=row.get("forms", ""),
        )


def write(names: Mapping[str, Any]) -> str:
    """Return the table as a model file has it; `names` as `read` takes it."""
    lines = [MARK, "[llvm]", f'cpu = "{names["cpu"]}"']
    for key in _KEYS:
        if names.get(key):
            lines.append(f"{key} = [")
            for row in names[key]:
                stated = {k: v for k, v in row.items() if v not in ("", None)}
                parts = [f'{k} = "{v}"' if isinstance(v, str) else f"{k} = {v}" for k, v in stated.items()]
                lines.append(f"  {{ {', '.join(parts)} }},")
            lines.append("]")
    return "\n".join(lines) + "\n"
