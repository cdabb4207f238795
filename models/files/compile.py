"""From model files (TOML, docs/models.md) to the compact tables that models.loading loads.

Only runs when there is no cache; everything that is costly to import or to check stays here.
"""

from __future__ import annotations

import marshal
import os
import re
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from incc.models.forms.rules import MODULES
from incc.models.model import ModelError, ModelName, checksum, form_key, parse_port_set, split_key
from incc.models.schema import parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Find = Callable[[str, Sequence[str]], str]
    """Finds the file of the model of a name in places: `incc.models.loading.find_model`, which needs what is here."""

FORMAT = 1
"""The version of the file format that is read and written."""

FIELDS: dict[str, type | tuple[type, ...]] = {f.name: f.type for f in parameters.FIELDS}
"""The fields of a form, in the order in which they are written, and their types."""

DEFAULTS: dict[str, Any] = {name: kind() if isinstance(kind, type) else 0 for name, kind in FIELDS.items()}
"""The value of each field that is as good as its absence."""

_PORTS = ("names", "resources", "functions")
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
    "llvm",
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


class Problem(NamedTuple):
    """What keeps a model from being loaded: the file and line where it is written, and what it is."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class Source:
    """One model file as it is written: `name`, `data` (the other tables), `forms`, `also`, `text`, and its checksum."""

    __slots__ = ("also", "checksum", "data", "forms", "name", "path", "text")

    def __init__(self, path: str, text: bytes) -> None:
        self.path = path
        self.text = text
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
        for key in sorted(self.data.keys() - _TOP):
            line = _line_of_setting(text, (key,))
            raise ModelError(f"{_place(path, line)}: {parameters.unknown('key', key, sorted(_TOP))}")
        for key in ("sources", "parameters", "ports", "macro_fusion", "forms", "also", "llvm"):
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

    def place(self, *keys: str) -> str:
        """The file, and the line that sets parameters.rob for ("parameters", "rob"), or at least what it is part of."""
        return _place(self.path, _line_of_setting(self.text, keys))

    def place_of_form(self, key: str) -> str:
        """The file, and the line of the entry with that key."""
        return _place(self.path, _line_of(self.text, key))

    def problems(self) -> list[Problem]:
        """Names in the header that nobody reads, and values that parameters cannot have."""
        found = []
        ports = self.data.get("ports", {})
        found += [
            Problem(self.place("ports", key), parameters.unknown("key", f"ports.{key}", [f"ports.{k}" for k in _PORTS]))
            for key in ports
            if key not in _PORTS
        ]
        functions = ports.get("functions", {})
        if not isinstance(functions, dict):
            return [*found, Problem(self.place("ports", "functions"), "'ports.functions' must be a table")]
        found += [
            Problem(self.place("ports", "functions", name), parameters.unknown("function of ports", name, known))
            for known in [parameters.FUNCTIONS]
            for name in functions
            if name not in known
        ]
        wrong = parameters.problems_of(self.data.get("parameters", {}))
        found += [Problem(self.place("parameters", *keys), message) for keys, message in wrong]
        return found


def _check_fields(fields: Any) -> None:
    if not isinstance(fields, dict):
        raise ValueError("a form is a table of fields")
    for name, value in fields.items():
        kind = FIELDS.get(name)
        if kind is None:
            raise ValueError(parameters.unknown("field", name, FIELDS))
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise ValueError(f"field {name!r} has the value {value!r} of a wrong type")
        if isinstance(value, int | float) and value < 0:
            raise ValueError(f"{name} of {value}")


def _line_of(text: bytes, key: str) -> int:
    at = text.find(f'"{key}"'.encode())
    return text.count(b"\n", 0, at) + 1 if at >= 0 else 0


def _line_of_setting(text: bytes, keys: Sequence[str]) -> int:
    """The line that sets a key in a table, else that of what it is part of, 0 if there is none.

    Of TOML's ways to write it, those that model files have: below the table's header, in an inline table, as a table.
    """
    keys = list(keys)
    while keys:
        *table, key = keys
        header = []
        wanted = re.compile(rf"\s*\"?{re.escape(key)}\"?\s*[=.]")
        for number, line in enumerate(text.decode(errors="replace").splitlines(), 1):
            if line.lstrip().startswith("["):
                header = [part.strip().strip('"') for part in line.strip().strip("[]").split(".")]
                if header == keys:
                    return number
            elif header == table and wanted.match(line):
                return number
        keys.pop()
    return 0


def _place(path: str, line: int) -> str:
    return f"{path}:{line}" if line else path


_LARGEST_SOURCE = 1 << 26
"""Bytes of a model file, many times those of the largest; /dev/zero has more."""


def read_source(path: str) -> Source:
    """A model file as it is written, its parents not looked at. Raises ModelError."""
    try:
        with open(path, "rb") as f:
            data = f.read(_LARGEST_SOURCE + 1)
    except OSError as e:
        raise ModelError(f"{path}: {e.strerror}") from None
    if len(data) > _LARGEST_SOURCE:
        raise ModelError(f"{path}: more than {_LARGEST_SOURCE >> 20} MiB")
    return Source(path, data)


def read_chain(path: str, places: Sequence[str], find: Find) -> list[Source]:
    """A model file and those it inherits from, the oldest last. Raises ModelError, also for a circle of them."""
    chain = [read_source(path)]
    while chain[-1].name.inherits:
        child = chain[-1]
        try:
            parent = find(child.name.inherits, [os.path.dirname(child.path), *places])
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


def compile_model(path: str, places: Sequence[str], find: Find) -> tuple[Any, ...]:
    """The compiled tables of a model: (files with checksums, header, forms, version).

    Raises ModelError, for the first of what is wrong.
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
    files = tuple(
        (os.path.basename(s.path) if os.path.dirname(s.path) == folder else s.path, s.checksum) for s in chain
    )
    version = f"{FORMAT}.{checksum(marshal.dumps([c for _, c in files]))[1]:08x}"
    return files, header, forms, version


def read_header(chain: Sequence[Source]) -> tuple[dict[str, Any], list[Problem]]:
    """All that a model says beside its forms, and what is wrong with it.

    `parameters` are complete, defaults included; `stated` names those that the files say.
    """
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
        "llvm": None,
    }
    problems = [p for source in chain for p in source.problems()]
    stated: dict[str, Any] = {}
    for source in reversed(chain):
        header["sources"].update(source.data.get("sources", {}))
        _deep_update(stated, source.data.get("parameters", {}))
        for name, jumps in source.data.get("macro_fusion", {}).items():
            if isinstance(jumps, str):
                header["macro_fusion"][name] = tuple(jumps.split())
            else:
                message = f"macro_fusion.{name} must be the jumps' mnemonics in one string"
                problems.append(Problem(source.place("macro_fusion", name), message))
        ports = source.data.get("ports", {})
        for key in ("names", "resources"):
            names = ports.get(key, header["ports" if key == "names" else key])
            if isinstance(names, list | tuple) and all(isinstance(p, str) for p in names):
                header["ports" if key == "names" else key] = tuple(names)
            else:
                problems.append(Problem(source.place("ports", key), f"ports.{key} must be a list of strings"))
        if len(header["ports"]) + len(header["resources"]) > 64:
            problems.append(Problem(source.place("ports", "names"), "more than 64 ports and resources"))
        functions = ports.get("functions", {})
        for name, ports_of in functions.items() if isinstance(functions, dict) else ():
            place = source.place("ports", "functions", name)
            if not isinstance(ports_of, str):
                problems.append(Problem(place, f"ports.functions.{name}: must be ports as in 'p23', not {ports_of!r}"))
                continue
            try:
                header["functions"][name] = parse_port_set(ports_of, header["ports"])
            except ValueError as e:
                problems.append(Problem(place, f"ports.functions.{name}: {e}"))
    if not header["ports"]:
        problems.append(Problem(own.path, "no ports: [ports] names = [...] is missing"))
    if not header["isa"]:
        problems.append(Problem(own.path, "no 'isa'"))
    elif header["isa"] not in MODULES:
        problems.append(Problem(own.path, parameters.unknown("isa", header["isa"], MODULES)))
    said = next((s for s in chain if "llvm" in s.data), None)
    if said is not None and header["ports"]:
        from incc.models.files import llvm_table

        names, wrong = llvm_table.read(said.data["llvm"], header["ports"], header["resources"])
        problems += [Problem(said.place("llvm"), message) for message in wrong]
        header["llvm"] = None if wrong else llvm_table.pack(names)
    if not problems:
        for name, message in parameters.problems_together(stated, header["ports"]):
            said = next((s for s in chain if name in s.data.get("parameters", {})), own)
            problems.append(Problem(said.place("parameters", name) if name else own.path, message))
    header["parameters"] = {**parameters.defaults(), **stated}
    header["stated"] = tuple(stated)
    return header, problems


def unknown_units(chain: Sequence[Source], merged: Forms, resources: Sequence[str]) -> list[Problem]:
    """The forms that hold a unit which is not among the resources of the model."""
    found = []
    for form, entries in merged.items():
        for conditions, fields in entries.items():
            if (unit := fields.get("unit")) and unit not in resources:
                said = next(
                    (s for s in chain if s.forms.get(form, {}).get(conditions, {}).get("unit") == unit), chain[0]
                )
                key = form_key(form, conditions)
                hint = parameters.suggestion(unit, resources)
                found.append(Problem(said.place_of_form(key), f"{key}: unit {unit!r} is not in ports.resources{hint}"))
    return found


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
