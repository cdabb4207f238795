"""From model files (TOML, docs/models.md) to the compact tables that models.model loads.

Only runs when there is no cache; everything that is costly to import or to check stays here.
"""

from __future__ import annotations

import marshal
import os
import re
import tomllib
from typing import TYPE_CHECKING, Any

from incc.models.model import (
    ModelError,
    ModelName,
    checksum,
    form_key,
    parse_port_set,
    split_key,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT = 1
"""The version of the file format that is read and written."""

FIELDS: dict[str, type | tuple[type, ...]] = {
    "ports": str,
    "retire": int,
    "latency": str,
    "divider": int,
    "unit": str,
    "hold": int,
    "tp": (int, float),
    "breaks": bool,
    "fusion": str,
    "source": str,
    "derived": str,
    "absent": bool,
    "uops": int,
    "uops_mite": int,
    "uops_ms": int,
    "complex_decoder": bool,
    "simple_decoders": int,
    "no_lsd": bool,
    "lcp_stall": bool,
    "no_micro_fusion": bool,
    "no_dsb_jcc_erratum": bool,
    "implicit_rsp_change": int,
    "locked": bool,
    "may_be_eliminated": bool,
}
"""The fields of a form, in the order in which they are written, and their types."""

DEFAULTS: dict[str, Any] = {name: kind() if isinstance(kind, type) else 0 for name, kind in FIELDS.items()}
"""The value of each field that is as good as its absence."""

_TOP = {
    "format",
    "name",
    "aliases",
    "title",
    "isa",
    "inherits",
    "source",
    "sources",
    "parameters",
    "ports",
    "macro_fusion",
    "forms",
    "also",
}

Entry = dict[str, Any]
Forms = dict[str, dict[tuple[str, ...], Entry]]
"""Form name to conditions to fields."""

Also = dict[str, dict[str, Entry]]
"""Source to form name to the figures in which it disagrees: "ports", and "latency", the longest in cycles."""


def read_head(path: str, text: str) -> ModelName:
    """What the part of a model file before its first table says. Raises ModelError."""
    try:
        head = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise ModelError(f"{path}: {e}") from None
    return _name(path, head)


def _name(path: str, data: dict[str, Any]) -> ModelName:
    for key, kind in (("name", str), ("title", str), ("isa", str), ("inherits", str), ("aliases", list)):
        if key in data and not isinstance(data[key], kind):
            raise ModelError(f"{path}: {key!r} must be a {'list' if kind is list else 'string'}")
    name = data.get("name", "")
    if not name:
        raise ModelError(f"{path}: no 'name' before the first table")
    if not all(isinstance(a, str) for a in data.get("aliases", [])):
        raise ModelError(f"{path}: 'aliases' must be strings")
    aliases = tuple(data.get("aliases", []))
    return ModelName(name, aliases, data.get("title", name), data.get("isa", ""), data.get("inherits", ""), path)


class Source:
    """One model file as it is written: `name`, `data` (the other tables), `forms`, `also`, and its checksum."""

    __slots__ = ("also", "checksum", "data", "forms", "name", "path")

    def __init__(self, path: str, text: bytes) -> None:
        self.path = path
        self.checksum = checksum(text)
        try:
            self.data: dict[str, Any] = tomllib.loads(text.decode())
        except UnicodeDecodeError as e:
            raise ModelError(f"{path}: not UTF-8 text (byte {e.start})") from None
        except tomllib.TOMLDecodeError as e:
            raise ModelError(f"{path}: {e}") from None
        self.name = _name(path, self.data)
        if self.data.get("format") != FORMAT:
            raise ModelError(f"{path}: format {self.data.get('format')!r}, but this incc reads format {FORMAT}")
        for key in self.data.keys() - _TOP:
            raise ModelError(f"{path}: unknown key {key!r}")
        for key in ("sources", "parameters", "ports", "macro_fusion", "forms", "also"):
            if not isinstance(self.data.get(key, {}), dict):
                raise ModelError(f"{path}: {key!r} must be a table")
        self.also: Also = self.data.pop("also", {})
        for source, forms in self.also.items():
            if not isinstance(forms, dict) or not all(isinstance(f, dict) for f in forms.values()):
                raise ModelError(f"{path}: also.{source} must be a table of forms")
        self.forms: Forms = {}
        for key, fields in self.data.pop("forms", {}).items():
            try:
                form, conditions = split_key(key)
                _check_fields(fields)
            except ValueError as e:
                raise ModelError(f"{path}:{_line_of(text, key)}: {e}") from None
            self.forms.setdefault(form, {})[conditions] = fields


def _check_fields(fields: Any) -> None:
    if not isinstance(fields, dict):
        raise ValueError("a form is a table of fields")
    for name, value in fields.items():
        kind = FIELDS.get(name)
        if kind is None:
            raise ValueError(f"unknown field {name!r}")
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise ValueError(f"field {name!r} has the value {value!r} of a wrong type")


def _line_of(text: bytes, key: str) -> int:
    at = text.find(f'"{key}"'.encode())
    return text.count(b"\n", 0, at) + 1 if at >= 0 else 0


def read_source(path: str) -> Source:
    """A model file as it is written, its parents not looked at. Raises ModelError."""
    try:
        with open(path, "rb") as f:
            return Source(path, f.read())
    except OSError as e:
        raise ModelError(f"{path}: {e.strerror}") from None


def read_chain(path: str, places: Sequence[str]) -> list[Source]:
    """A model file and those it inherits from, the oldest last. Raises ModelError, also for a circle of them."""
    from incc.models.model import _find

    chain = [read_source(path)]
    while chain[-1].name.inherits:
        child = chain[-1]
        try:
            parent = _find(child.name.inherits, [os.path.dirname(child.path), *places])
        except ModelError as e:
            raise ModelError(f"{child.path}: inherits from an unknown model: {e}") from None
        if any(s.path == parent for s in chain):
            raise ModelError(f"{child.path}: inherits from {child.name.inherits!r}, which inherits from it")
        chain.append(read_source(parent))
    return chain


def overlay(parent: Entry, child: Entry) -> Entry:
    """Parent's fields, replaced by the child's; one set to its type's default (0, "", false) is as good as absent."""
    merged = {**parent, **child}
    return {k: v for k, v in merged.items() if v != DEFAULTS[k] or k in ("ports", "retire")}


def merge_forms(chain: Sequence[Source]) -> Forms:
    """The entries of a model with everything that it inherits."""
    merged: Forms = {}
    for source in reversed(chain):
        default = source.data.get("source", "")
        for form, entries in source.forms.items():
            if entries.get((), {}).get("absent"):
                merged.pop(form, None)
                continue
            mine = merged.setdefault(form, {})
            for conditions, fields in entries.items():
                if fields.get("absent"):
                    mine.pop(conditions, None)
                    continue
                inherited = mine.get(conditions)
                # The default source is this file's; figures that stay as inherited keep theirs.
                if "source" not in fields and (inherited is not None or not conditions):
                    fields = {**fields, "source": default}
                if conditions:
                    mine[conditions] = {**(inherited or {}), **fields}
                else:
                    mine[conditions] = overlay(inherited or {}, fields)
    return merged


def compile_model(path: str, places: Sequence[str]) -> tuple[Any, ...]:
    """The compiled tables of a model: (files with checksums, header, forms, version).

    Raises ModelError.
    """
    chain = read_chain(path, places)
    own = chain[0]
    header: dict[str, Any] = {
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
    }
    for source in reversed(chain):
        header["sources"].update(source.data.get("sources", {}))
        _deep_update(header["parameters"], source.data.get("parameters", {}))
        for name, jumps in source.data.get("macro_fusion", {}).items():
            if not isinstance(jumps, str):
                raise ModelError(f"{source.path}: macro_fusion.{name} must be the jumps' mnemonics in one string")
            header["macro_fusion"][name] = tuple(jumps.split())
        ports = source.data.get("ports", {})
        for key in ("names", "resources"):
            if not all(isinstance(p, str) for p in ports.get(key, [])):
                raise ModelError(f"{source.path}: ports.{key} must be a list of strings")
        header["ports"] = tuple(ports.get("names", header["ports"]))
        header["resources"] = tuple(ports.get("resources", header["resources"]))
        if len(header["ports"]) + len(header["resources"]) > 64:
            raise ModelError(f"{source.path}: more than 64 ports and resources")
        for name, ports_of in ports.get("functions", {}).items():
            try:
                header["functions"][name] = parse_port_set(ports_of, header["ports"])
            except ValueError as e:
                raise ModelError(f"{source.path}: ports.functions.{name}: {e}") from None
    if not header["ports"]:
        raise ModelError(f"{own.path}: no ports: [ports] names = [...] is missing")
    if not header["isa"]:
        raise ModelError(f"{own.path}: no 'isa'")
    forms = {form: pack(entries) for form, entries in merge_forms(chain).items() if entries}
    folder = os.path.dirname(path)
    files = tuple(
        (os.path.basename(s.path) if os.path.dirname(s.path) == folder else s.path, s.checksum) for s in chain
    )
    version = f"{FORMAT}.{checksum(marshal.dumps([c for _, c in files]))[1]:08x}"
    return files, header, forms, version


def pack(entries: dict[tuple[str, ...], Entry]) -> bytes:
    """The entries of one form as models.model unpacks them, the fewest conditions first."""
    return marshal.dumps(sorted(entries.items(), key=lambda e: (len(e[0]), e[0])))


def _deep_update(into: dict[str, Any], values: dict[str, Any]) -> None:
    for key, value in values.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _deep_update(into[key], value)
        else:
            into[key] = dict(value) if isinstance(value, dict) else value


# --- writing ---------------------------------------------------------------------------------------------------------

GENERATED = "# --- written by incc-model import; what stands above is kept "
"""Starts the line that separates the part written by hand from the imported part."""


def write_forms(forms: Forms, fusion: dict[str, tuple[str, ...]], also: Also | None = None) -> str:
    """The imported part of a model file: macro-fusion classes, forms, other sources' figures; sorted, a line each."""
    lines = [GENERATED.ljust(119, "-"), ""]
    if fusion:
        lines += ["[macro_fusion]", *(f'{name} = "{" ".join(jumps)}"' for name, jumps in sorted(fusion.items())), ""]
    lines.append("[forms]")
    for form in sorted(forms):
        for conditions in sorted(forms[form], key=lambda c: (len(c), c)):
            lines.append(f'"{form_key(form, conditions)}" = {write_fields(forms[form][conditions])}')
    for source, others in sorted((also or {}).items()):
        lines += ["", f"[also.{source}]" if source.isidentifier() else f'[also."{source}"]']
        lines += [f'"{form}" = {write_fields(fields)}' for form, fields in sorted(others.items())]
    return "\n".join(lines) + "\n"


def write_fields(fields: Entry) -> str:
    """An inline table with the fields in their customary order."""
    parts = []
    for name in FIELDS:
        if name in fields:
            value = fields[name]
            if isinstance(value, bool):
                text = "true" if value else "false"
            elif isinstance(value, str):
                text = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
            else:
                text = f"{value:g}" if isinstance(value, float) and value == int(value) else str(value)
            parts.append(f"{name} = {text}")
    return "{ " + ", ".join(parts) + " }" if parts else "{}"


def write_latency(pairs: Sequence[tuple[str, str, int]]) -> str:
    """The shortest notation of latency pairs that models.model.parse_latency reads back, in a fixed order."""
    from_of: dict[tuple[str, int], list[str]] = {}
    for to, source, cycles in pairs:
        sources = from_of.setdefault((to, cycles), [])
        if source not in sources:
            sources.append(source)
    groups: dict[tuple[tuple[str, ...], int], list[str]] = {}
    for (to, cycles), sources in from_of.items():
        groups.setdefault((tuple(sorted(sources, key=_operand_order)), cycles), []).append(to)
    terms = [(sorted(to, key=_operand_order), sources, cycles) for (sources, cycles), to in groups.items()]
    terms.sort(key=lambda t: ([_operand_order(x) for x in t[0]], [_operand_order(x) for x in t[1]]))
    return " ".join(f"{','.join(to)}<{','.join(sources)}:{cycles}" for to, sources, cycles in terms)


def _operand_order(name: str) -> tuple[int, str]:
    if name.isdigit():
        return 0, name
    special = ("k", "m", "a", "C", "SPAZO", "M")
    return (2 + special.index(name), "") if name in special else (1, name)


def write_ports(usage: dict[str, int]) -> str:
    """Port usage ("1*p01+1*p23") from µops by port set in uops.info's notation without the prefix ("01")."""
    return "+".join(f"{n}*{s if re.match('[A-Za-z]{2}', s) else 'p' + s}" for s, n in sorted(usage.items()))
