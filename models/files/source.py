"""Model files as they are written (TOML, docs/models.md): reading them, and the entries of forms that they contain."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from incc.models.model import ModelError, ModelName, digest
from incc.models.notation import form_key, split_key
from incc.models.schema import fields as schema
from incc.models.schema.kinds import unknown
from incc.models.schema.parameters import problems_of
from incc.support.files import read_regular

FindModel = Callable[[str, Sequence[str]], str]
"""Returns the file of a model in places: `incc.models.loading.find_model`, which depends on this module."""

FORMAT = 1
"""The version of the file format that is read and written."""

FIELDS: dict[str, type | tuple[type, ...]] = {f.name: f.type for f in schema.FIELDS}
"""The types of an entry's fields, in the order in which they are written."""

DEFAULTS: dict[str, Any] = {name: kind() if isinstance(kind, type) else 0 for name, kind in FIELDS.items()}
"""The value of each field that means the same as its absence."""

_PORTS = ("names", "resources", "functions")
_TABLES = ("sources", "parameters", "ports", "macro_fusion", "forms", "also", "llvm", "memory")
TOP_KEYS = {"format", "name", "aliases", "title", "isa", "inherits", "source", *_TABLES}

Entry = dict[str, Any]
"""The fields of a form under some conditions."""

Conditions = tuple[str, ...]
"""The conditions of an entry, sorted ("indexed", "mask")."""

Entries = dict[Conditions, Entry]
"""A form's entries by their conditions."""

Forms = dict[str, Entries]
"""Form name to conditions to fields."""

Also = dict[str, dict[str, Entry]]
"""Source to form name to the figures in which it disagrees: "ports", and "latency", the longest in cycles."""

_LARGEST_SOURCE = 1 << 26
"""The most bytes of a model file, many times those of the largest; /dev/zero has more."""

# --- entries ---------------------------------------------------------------------------------------------------------


def by_conditions(conditions: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the conditions of a form's entries in the order in which they apply: the fewest first."""
    return sorted(conditions, key=lambda c: (len(c), c))


def resolved(entries: Mapping[tuple[str, ...], Entry], conditions: Iterable[str]) -> Entry:
    """Return the fields of a form that hold under some conditions."""
    conditions = set(conditions)
    fields: Entry = {}
    for c in by_conditions(entries):
        if conditions.issuperset(c):
            fields.update(entries[c])
    return fields


def overlay(parent: Entry, child: Entry) -> Entry:
    """Return the parent's fields, replaced by the child's; a field set to its type's default counts as absent."""
    merged = {**parent, **child}
    return {k: v for k, v in merged.items() if v != DEFAULTS[k] or k in ("ports", "retire")}


# --- files -----------------------------------------------------------------------------------------------------------


class FileProblem(msgspec.Struct, frozen=True):
    """A reason why a model cannot be loaded."""

    place: str
    """The file, and the line if it is known."""
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


def read_head(path: str, text: str) -> ModelName:
    """Return a model file's own fields before its first table. Raises ModelError."""
    return _name(path, _tables(path, text))


def _tables(path: str, text: str) -> dict[str, Any]:
    """Parse TOML. Raises ModelError."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise ModelError(f"{path}: {e}") from None
    except RecursionError:
        raise ModelError(f"{path}: nested too deeply") from None


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
    return ModelName(
        name=name,
        aliases=aliases,
        title=data.get("title", name),
        isa=data.get("isa", ""),
        inherits=data.get("inherits", ""),
        path=path,
    )


class ModelSource:
    """One model file as it is written."""

    __slots__ = ("also", "data", "digest", "forms", "name", "path", "text")

    def __init__(self, path: str, text: bytes) -> None:
        self.path = path
        self.text = text
        self.digest = digest(text)
        try:
            self.data = _tables(path, text.decode())
            """All tables except forms and other sources' figures."""
        except UnicodeDecodeError as e:
            raise ModelError(f"{path}: not UTF-8 text (byte {e.start})") from None
        self.name = _name(path, self.data)
        if self.data.get("format") != FORMAT:
            raise ModelError(f"{path}: format {self.data.get('format')!r}, but this incc reads format {FORMAT}")
        for key in sorted(self.data.keys() - TOP_KEYS):
            raise ModelError(f"{self.place(key)}: {unknown('key', key, sorted(TOP_KEYS))}")
        for key in _TABLES:
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
                raise ModelError(f"{self.place_of_form(key)}: {e}") from None
            self.forms.setdefault(form, {})[conditions] = fields

    def place(self, *keys: str) -> str:
        """Return the file and line that set a key ("parameters", "rob"), or those of its table."""
        return _place(self.path, _line_of_setting(self.text, keys))

    def place_of_form(self, key: str) -> str:
        """Return the file and line of the entry with that key."""
        at = self.text.find(f'"{key}"'.encode())
        return _place(self.path, self.text.count(b"\n", 0, at) + 1 if at >= 0 else 0)

    def problems(self) -> list[FileProblem]:
        """Return unknown names in the header, and values that parameters cannot have."""
        ports = self.data.get("ports", {})
        problems = [
            FileProblem(self.place("ports", key), unknown("key", f"ports.{key}", [f"ports.{k}" for k in _PORTS]))
            for key in ports
            if key not in _PORTS
        ]
        functions = ports.get("functions", {})
        if not isinstance(functions, dict):
            return [*problems, FileProblem(self.place("ports", "functions"), "'ports.functions' must be a table")]
        problems += [
            FileProblem(self.place("ports", "functions", name), unknown("function of ports", name, schema.FUNCTIONS))
            for name in functions
            if name not in schema.FUNCTIONS
        ]
        wrong = problems_of(self.data.get("parameters", {}))
        problems += [FileProblem(self.place("parameters", *keys), message) for keys, message in wrong]
        return problems


def _check_fields(fields: Any) -> None:
    if not isinstance(fields, dict):
        raise ValueError("a form is a table of fields")
    for name, value in fields.items():
        kind = FIELDS.get(name)
        if kind is None:
            raise ValueError(unknown("field", name, FIELDS))
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise ValueError(f"field {name!r} has the value {value!r} of a wrong type")
        if isinstance(value, int | float) and value < 0:
            raise ValueError(f"{name} of {value}")


def _line_of_setting(text: bytes, keys: Sequence[str]) -> int:
    """Return the line that sets a key in a table, else that of its table, 0 if there is none.

    This knows the ways of TOML that model files use: below the table's header, in an inline table, as a table.
    """
    keys = list(keys)
    while keys:
        *table, key = keys
        header = []
        setting = re.compile(rf"\s*\"?{re.escape(key)}\"?\s*[=.]")
        for number, line in enumerate(text.decode(errors="replace").splitlines(), 1):
            if line.lstrip().startswith("["):
                header = [part.strip().strip('"') for part in line.strip().strip("[]").split(".")]
                if header == keys:
                    return number
            elif header == table and setting.match(line):
                return number
        keys.pop()
    return 0


def _place(path: str, line: int) -> str:
    return f"{path}:{line}" if line else path


def read_source(path: str) -> ModelSource:
    """Return a model file as it is written, without its parents. Raises ModelError."""
    try:
        return ModelSource(path, read_regular(path, _LARGEST_SOURCE))
    except OSError as e:
        raise ModelError(f"{path}: {e.strerror}") from None


def read_chain(path: str, places: Sequence[str], find: FindModel) -> list[ModelSource]:
    """Return a model file and those it inherits from, the oldest last. Raises ModelError, also for a circle of them."""
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


def merge_forms(chain: Sequence[ModelSource]) -> Forms:
    """Return the entries of a model with everything that it inherits."""
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
                # Own figures have this file's default source; inherited ones keep theirs.
                if "source" not in fields and (inherited is not None or not conditions):
                    fields = {**fields, "source": default}
                if conditions:
                    mine[conditions] = {**(inherited or {}), **fields}
                else:
                    mine[conditions] = overlay(inherited or {}, fields)
    return merged


def first_setting(chain: Sequence[ModelSource], *keys: str) -> Any:
    """Return a setting of the first file of a chain that states it ("ports", "names"), None if none does."""
    for source in chain:
        value: Any = source.data
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if value:
            return value
    return None


def fusion_classes(chain: Sequence[ModelSource]) -> dict[str, tuple[str, ...]]:
    """Return the macro-fusion classes that the files of a chain state, the first file's in place of others'."""
    return {
        name: tuple(jumps.split())
        for source in reversed(chain)
        for name, jumps in source.data.get("macro_fusion", {}).items()
    }


# --- writing ---------------------------------------------------------------------------------------------------------

GENERATED = "# --- written by incc-model import; what stands above is kept "
"""Starts the line that separates the part written by hand from the imported part."""


def write_forms(forms: Forms, fusion: dict[str, tuple[str, ...]], also: Also | None = None) -> str:
    """Return the imported part of a model file: macro-fusion classes, forms, other sources' figures, one a line."""
    lines = [GENERATED.ljust(119, "-"), ""]
    if fusion:
        lines += ["[macro_fusion]", *(f'{name} = "{" ".join(jumps)}"' for name, jumps in sorted(fusion.items())), ""]
    lines.append("[forms]")
    for form in sorted(forms):
        for conditions in by_conditions(forms[form]):
            lines.append(f'"{form_key(form, conditions)}" = {write_fields(forms[form][conditions])}')
    for source, others in sorted((also or {}).items()):
        lines += ["", f"[also.{source}]" if source.isidentifier() else f'[also."{source}"]']
        lines += [f'"{form}" = {write_fields(fields)}' for form, fields in sorted(others.items())]
    return "\n".join(lines) + "\n"


def write_fields(fields: Entry) -> str:
    """Return an inline table with the fields in the order of `FIELDS`."""
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
