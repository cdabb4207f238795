"""Structs for tests, made from dictionaries with a few of their fields."""

from __future__ import annotations

import json
import types
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

T = TypeVar("T")

_EMPTY: dict[Any, Any] = {str: "", int: 0, float: 0.0, bool: False, list: [], dict: {}, Any: None, type(None): None}


def filled(kind: type[T], value: Any) -> T:
    """Return a struct with the fields of a dictionary; all others are empty: 0, "", None, no items.

    Dictionaries and lists within are converted as the fields' types say; structs stay as they are.
    """
    made: T = _converted(kind, value)
    return made


def json_text(value: Any, **layout: Any) -> str:
    """Return the JSON of a struct as `json.dumps` writes it, which has any text and number."""
    return json.dumps(msgspec.to_builtins(value), **layout)


def _converted(kind: Any, value: Any) -> Any:
    kind = _plain(kind)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        if not isinstance(value, dict):
            return value
        hints = get_type_hints(kind, include_extras=True)
        names = dict(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))
        given = {names.get(name, name): item for name, item in value.items()}
        assert not given.keys() - hints.keys(), f"no fields of {kind.__name__}: {given.keys() - hints.keys()}"
        return kind(**{n: _converted(h, given[n]) if n in given else _empty(h) for n, h in hints.items()})
    if value is None:
        return None
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        (inner,) = [a for a in arguments if a is not type(None)][:1]
        return _converted(inner, value)
    if origin is list:
        return [_converted(arguments[0], item) for item in value]
    return value


def _plain(kind: Any) -> Any:
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return kind


def _empty(kind: Any) -> Any:
    kind = _plain(kind)
    origin = get_origin(kind)
    if origin is Literal:
        return get_args(kind)[0]
    if origin in (Union, types.UnionType):
        return None
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _converted(kind, {})
    empty = _EMPTY[origin or kind]
    return empty.copy() if isinstance(empty, list | dict) else empty
