"""Named tuples whose classes cost a tenth of `typing.NamedTuple`'s, for what is imported whenever a command starts.

A run on one kernel makes sixty such classes. `typing.NamedTuple` compiles a constructor for each, 0.2 ms, and is itself
4 ms of imports; here a constructor is compiled when it has been called so often that it pays.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    # What this module has is what type checkers know of `typing.NamedTuple`.
    from typing import NamedTuple as NamedTuple
else:
    import sys

    try:
        from _collections import _tuplegetter
    except ImportError:  # not CPython
        from operator import itemgetter

        def _tuplegetter(index, doc):
            return property(itemgetter(index), doc=doc)

    _OFTEN = 100
    """Calls of a constructor after which it is compiled, which takes as long as some hundred calls save."""

    _new = tuple.__new__

    class _Record(tuple):
        """What all records do."""

        __slots__ = ()
        _fields = ()
        _field_defaults = {}  # noqa: RUF012 -- as named tuples have it

        @classmethod
        def _make(cls, iterable):
            result = _new(cls, iterable)
            if len(result) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(result)}")
            return result

        def _replace(self, /, **changes):
            result = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return result

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            fields = ", ".join([f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)])
            return f"{self.__class__.__name__}({fields})"

        def __getnewargs__(self):
            return tuple(self)

    def _compiled(name, fields, defaults):
        """The constructor that `collections.namedtuple` would have made."""
        arguments = "".join([f"{field}, " for field in fields])
        namespace = {"_new": _new, "__builtins__": {}, "__name__": f"namedtuple_{name}"}
        new = eval(f"lambda _cls, {arguments}: _new(_cls, ({arguments}))", namespace)
        new.__name__, new.__qualname__ = "__new__", f"{name}.__new__"
        new.__defaults__ = tuple(defaults.values()) or None
        return new

    def _constructor(name, fields, defaults):
        """A `__new__` for a class of that name, and a function that tells it the class."""
        count = len(fields)
        calls = 0
        own = None

        def __new__(_cls, /, *values, **named):
            nonlocal calls
            calls += 1
            if calls >= _OFTEN:
                own.__new__ = new = _compiled(name, fields, defaults)
                return new(_cls, *values, **named)
            if named or len(values) != count:
                given = {**defaults, **named}
                try:
                    rest = tuple([given.pop(field) for field in fields[len(values) :]])
                except KeyError:
                    rest = ()
                if len(values) + len(rest) != count or not named.keys() <= set(fields[len(values) :]):
                    # Says in the usual words what is wrong.
                    return _compiled(name, fields, defaults)(_cls, *values, **named)
                values += rest
            return _new(_cls, values)

        def belongs_to(made):
            nonlocal own
            own = made

        return __new__, belongs_to

    _OURS = frozenset(("__new__", "__init__", "__slots__", "__getnewargs__", "_fields", "_field_defaults", "_make",
                       "_replace", "_asdict"))  # fmt: skip

    class _Meta(type):
        """Makes plain subclasses of tuple; none of them has this metaclass."""

        def __new__(meta, name, bases, namespace):
            if any(type(base) is not _Meta for base in bases):
                raise TypeError("a record has no other bases than NamedTuple")
            fields = tuple(namespace.get("__annotations__", ()))
            defaults = {field: namespace[field] for field in fields if field in namespace}
            if "_" in [field[0] for field in fields]:
                field = next(field for field in fields if field[0] == "_")
                raise ValueError(f"Field names cannot start with an underscore: {field!r}")
            last = fields[len(fields) - len(defaults) :]
            if last != tuple(defaults):
                field = next(field for field in reversed(last) if field not in defaults)
                before = ", ".join([each for each in fields[: fields.index(field)] if each in defaults])
                raise TypeError(f"Non-default namedtuple field {field} cannot follow default fields {before}")
            if not _OURS.isdisjoint(namespace):
                raise AttributeError(f"Cannot overwrite NamedTuple attribute {min(_OURS & namespace.keys())}")
            while len(_GETTERS) < len(fields):
                _GETTERS.append(_tuplegetter(len(_GETTERS), _ALIAS))
            new, belongs_to = _constructor(name, fields, defaults)
            # What the class says itself, its docstring and methods, goes before.
            if "__doc__" not in namespace:
                namespace["__doc__"] = f"{name}({', '.join(fields)})"
            namespace["__slots__"] = ()
            namespace["__match_args__"] = namespace["_fields"] = fields
            namespace["_field_defaults"] = defaults
            namespace["__new__"] = new
            namespace.update(zip(fields, _GETTERS))  # noqa: B905 -- there are more of these
            made = type.__new__(type, name, (_Record,), namespace)
            belongs_to(made)
            return made

    _ALIAS = sys.intern("A field of a record.")
    _GETTERS = []

    NamedTuple = type.__new__(_Meta, "NamedTuple", (), {"__doc__": "Base of records, as `typing.NamedTuple`."})
