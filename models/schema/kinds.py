"""The kinds of values of model parameters: their documentation, their JSON schema and their checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from incc.models.patterns import port_delay_rules
from incc.support.errors import suggestion

Problems = list[tuple[str, str]]
"""(key within the value or "", message that continues the parameter's name) for each problem of a value."""


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """A type of value."""

    text: str
    """The kind's name in the documentation."""
    schema: dict[str, Any]
    """Its JSON schema."""
    problems: Callable[[Any], Problems]
    """Returns the error of a value."""
    ports: Callable[[Any], Iterable[str]]
    """Returns the port sets, names joined by ",", that a value mentions."""
    needed: tuple[str, ...] = ()
    """Keys that a table must have in the end; a table that completes another one need not."""


def unknown(what: str, name: str, names: Iterable[str]) -> str:
    """Return the message about an unknown name."""
    return f"unknown {what} {name!r}{suggestion(name, names)}"


def _no_ports(value: Any) -> Iterable[str]:
    return ()


def _kind(text: str, schema: dict[str, Any], good: Callable[[Any], bool], demand: str = "") -> Kind:
    """Return a kind of values that are right or wrong as a whole."""

    def problems(value: Any) -> Problems:
        return [] if good(value) else [("", f"must be {demand or text}, not {value!r}")]

    return Kind(text=text, schema=schema, problems=problems, ports=_no_ports)


# --- single values ---------------------------------------------------------------------------------------------------


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def whole(least: int = 0) -> Kind:
    """Return the kind of whole numbers that are not less than `least`."""
    return _kind(
        f"number ≥ {least}",
        {"type": "integer", "minimum": least},
        lambda v: _is_whole(v, least),
        f"a whole number, {least} or more",
    )


def whole_or_unlimited(least: int = 0) -> Kind:
    """Return the kind of `whole` or "unlimited"."""
    return _kind(
        f'number ≥ {least}, `"unlimited"`',
        {"anyOf": [{"type": "integer", "minimum": least}, {"const": "unlimited"}]},
        lambda v: v == "unlimited" or _is_whole(v, least),
        f'a whole number, {least} or more, or "unlimited"',
    )


FLAG = _kind("flag", {"type": "boolean"}, lambda v: isinstance(v, bool), "true or false")
NAME = _kind("name", {"type": "string"}, lambda v: isinstance(v, str), "a string")


def choice(*names: str) -> Kind:
    """Return the kind of one of some names."""

    def problems(value: Any) -> Problems:
        if not isinstance(value, str):
            return [("", f"must be one of {', '.join(names)}, not {value!r}")]
        return [] if value in names else [("", f"is unknown: {value!r}" + suggestion(value, names))]

    return Kind(
        text=", ".join(f"`{n}`" for n in names), schema={"enum": list(names)}, problems=problems, ports=_no_ports
    )


def _is_set(value: Any) -> bool:
    return isinstance(value, str) and all(value.split(","))


_SET_SCHEMA = {"type": "string", "pattern": "^[A-Za-z0-9_]+(,[A-Za-z0-9_]+)*$"}
_SET_TEXT = 'ports\' names joined by ","'
PORTS = replace(_kind("ports", _SET_SCHEMA, _is_set, _SET_TEXT), ports=lambda v: [v])
PORT_SETS = replace(
    _kind(
        "list of ports",
        {"type": "array", "items": _SET_SCHEMA},
        lambda v: isinstance(v, (list, tuple)) and all(_is_set(x) for x in v),
        f"a list of {_SET_TEXT}",
    ),
    ports=lambda v: v,
)

# --- tables ----------------------------------------------------------------------------------------------------------


def _is_table(value: Any) -> bool:
    return hasattr(value, "items")


def _table_of(
    text: str, good_key: Callable[[str], bool], demand: str, key_schema: dict[str, Any] | None, values: Kind
) -> Kind:
    """Return the kind of tables whose keys are all of one sort, and their values, too."""

    def problems(value: Any) -> Problems:
        if not _is_table(value):
            return [("", f"must be a table, not {value!r}")]
        wrong = [(k, f"must be {demand}") for k in value if not good_key(k)]
        return wrong + [(k, message) for k, v in value.items() for _, message in values.problems(v)]

    names = {} if key_schema is None else {"propertyNames": key_schema}
    return Kind(
        text=text,
        schema={"type": "object", **names, "additionalProperties": values.schema},
        problems=problems,
        ports=_no_ports,
    )


def by_ports(of: Kind) -> Kind:
    """Return the kind of tables from port sets to values of another kind."""
    return replace(
        _table_of(f"table: ports to {of.text}", _is_set, _SET_TEXT, _SET_SCHEMA, of),
        ports=lambda v: [*v, *[ports for x in v.values() for ports in of.ports(x)]],
    )


def table(what: str, fields: Mapping[str, Kind], needed: Iterable[str] = ()) -> Kind:
    """Return the kind of tables with no other keys than these."""

    def problems(value: Any) -> Problems:
        if not _is_table(value):
            return [("", f"must be a table, not {value!r}")]
        wrong = [(k, "is unknown" + suggestion(k, fields)) for k in value if k not in fields]
        return wrong + [(k, message) for k, v in value.items() if k in fields for _, message in fields[k].problems(v)]

    return Kind(
        text=what,
        schema={
            "type": "object",
            "additionalProperties": False,
            "properties": {k: f.schema for k, f in fields.items()},
        },
        problems=problems,
        ports=lambda v: [ports for k, x in v.items() if k in fields for ports in fields[k].ports(x)],
        needed=tuple(needed),
    )


def full_table(fields: Mapping[str, Kind]) -> Kind:
    """Return the kind of tables with exactly these keys."""
    return table(f"table: {', '.join(fields)}", fields, needed=fields)


CLASSES = ("gpr", "xmm", "ymm", "zmm", "simd", "sve")
"""Classes of memory accesses: general-purpose registers; x86's vectors; AArch64's of 128 bits, and SVE's."""

CYCLES_BY_CLASS = table("cycles by class", dict.fromkeys(CLASSES, whole()))


def _is_range(text: str) -> bool:
    first, dash, last = text.partition("-")
    return first.isdigit() and int(first) > 0 and (not dash or (last.isdigit() and int(last) >= int(first)))


BY_UOPS = _table_of(
    'table: µops ("5", "9-12") to number ≥ 1',
    _is_range,
    'a number of µops, or two as "9-12"',
    {"pattern": "^[1-9][0-9]*(-[1-9][0-9]*)?$"},
    whole(1),
)

BY_EVENT = _table_of(
    "table: names to raw event codes",
    lambda k: k.replace("_", "").isalnum(),
    "a name of letters, digits and `_`",
    {"pattern": "^[A-Za-z0-9_]+$"},
    whole(1),
)

BY_FORMS = _table_of(
    "table: patterns of forms to number ≥ 0", lambda k: bool(k.split()), "patterns of forms", None, whole()
)

PATTERNS = _kind(
    "patterns of forms, separated by blanks",
    {"type": "string"},
    lambda v: isinstance(v, str),
    "patterns of forms, separated by blanks",
)


def by_patterns(text: str, of: Kind) -> Kind:
    """Return the kind of tables from patterns of forms, separated by blanks, to values of another kind."""
    return _table_of(text, lambda k: bool(k.split()), "patterns of forms, separated by blanks", None, of)


FORMS_TO_FORMS = by_patterns("table: patterns of forms to patterns of forms", PATTERNS)
ACCUMULATORS = by_patterns(
    "table: patterns of forms to after, cycles", full_table({"after": PATTERNS, "cycles": whole(1)})
)

# --- delays between ports --------------------------------------------------------------------------------------------

MOST_PORT_DELAYS = 16
_SIDE = "[A-Za-z_][A-Za-z0-9_]*@[A-Za-z0-9_]+(,[A-Za-z0-9_]+)*"

_PORT_DELAYS = table(
    "table: classes, rules",
    {
        "classes": _kind(
            "table: names to patterns of forms",
            {"type": "object", "additionalProperties": {"type": "string"}},
            lambda v: _is_table(v) and all(isinstance(x, str) for x in v.values()),
            "a table of patterns of forms",
        ),
        "rules": _kind(
            "table: two of CLASS@PORTS to number",
            {
                "type": "object",
                "propertyNames": {"pattern": f"^{_SIDE} {_SIDE}$"},
                "additionalProperties": {"type": "integer", "not": {"const": 0}},
            },
            lambda v: _is_table(v) and all(_is_whole(abs(x) if isinstance(x, int) else x, 1) for x in v.values()),
            "a table of whole numbers other than 0",
        ),
    },
    needed=("classes", "rules"),
)


def _port_delay_problems(value: Any) -> Problems:
    problems = _PORT_DELAYS.problems(value)
    if problems or not value:
        return problems
    classes, rules = value.get("classes", {}), value.get("rules", {})
    problems += [("classes", f"{k}: must be patterns of forms") for k, v in classes.items() if not v.split()]
    if len(rules) > MOST_PORT_DELAYS:
        problems.append(("rules", f"are more than {MOST_PORT_DELAYS}"))
    for key in rules:
        sides = [side.split("@") for side in key.split()]
        if len(sides) != 2 or any(len(side) != 2 or not _is_set(side[1]) for side in sides):
            problems.append(("rules", f"{key}: must be two of CLASS@PORTS, {_SET_TEXT}"))
            continue
        for name, _ in sides:
            if name not in classes:
                problems.append(("rules", f"{key}: class {name} is unknown" + suggestion(name, classes)))
    return problems


PORT_DELAYS = replace(
    _PORT_DELAYS,
    problems=_port_delay_problems,
    ports=lambda v: [ports for r in port_delay_rules(v) for ports in (r.from_ports, r.to_ports)],
)
