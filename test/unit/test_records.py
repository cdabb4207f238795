"""Records behave as `typing.NamedTuple`, before and after their constructors are compiled."""

from __future__ import annotations

import copy
import keyword
import pickle
import typing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.frontends import records
from properties import examples

MANY = 300
"""Calls after which every constructor is compiled."""


class Point(records.NamedTuple):
    """A point."""

    x: int
    y: int = 2
    label: str = ""

    def far(self) -> int:
        return self.x + self.y

    def __str__(self) -> str:
        return f"<{self.x}>"


class Usual(typing.NamedTuple):
    """A point."""

    x: int
    y: int = 2
    label: str = ""


def classes(fields: list[str], defaults: dict[str, int]) -> tuple[Any, Any]:
    """A class of each kind with these fields, the last of which have defaults."""
    made = []
    for base in (records.NamedTuple, typing.NamedTuple):
        text = "".join(f"    {f}: int{f' = {defaults[f]}' if f in defaults else ''}\n" for f in fields)
        namespace: dict[str, Any] = {"Base": base, "__name__": __name__}
        exec(f"from __future__ import annotations\nclass Made(Base):\n{text or '    pass'}\n", namespace)
        made.append(namespace["Made"])
    return made[0], made[1]


names = st.from_regex(r"[a-z][a-z_0-9]{0,3}", fullmatch=True).filter(lambda n: not keyword.iskeyword(n))


@st.composite
def layouts(draw: st.DrawFn) -> tuple[list[str], dict[str, int]]:
    fields = draw(st.lists(names, unique=True, max_size=6))
    count = draw(st.integers(0, len(fields)))
    return fields, {f: draw(st.integers(0, 9)) for f in fields[len(fields) - count :]}


def outcome(make: Any, values: list[int], named: dict[str, int]) -> object:
    """What a call gives, as plain data, or the message of its TypeError."""
    try:
        result = make(*values, **named)
    except TypeError as error:
        return str(error)
    return tuple(result), repr(result), result._asdict(), hash(result)


@examples(100)
@given(layouts(), st.data())
def test_constructor_is_that_of_a_named_tuple(layout: tuple[list[str], dict[str, int]], data: st.DataObject) -> None:
    ours, usual = classes(*layout)
    values = data.draw(st.lists(st.integers(0, 9), max_size=7))
    named = data.draw(st.dictionaries(st.sampled_from(layout[0]) | names if layout[0] else names, st.integers(0, 9)))
    expected = outcome(usual, values, named)
    for _ in range(MANY):
        assert outcome(ours, values, named) == expected
    assert ours.__new__.__code__.co_filename == "<string>", "it was not compiled"


@examples(50)
@given(layouts(), st.lists(st.integers(0, 9), min_size=7, max_size=7), st.data())
def test_the_rest_is_that_of_a_named_tuple(
    layout: tuple[list[str], dict[str, int]], values: list[int], data: st.DataObject
) -> None:
    ours, usual = classes(*layout)
    fields = layout[0]
    assert (ours._fields, ours._field_defaults, ours.__match_args__) == (
        usual._fields,
        usual._field_defaults,
        usual.__match_args__,
    )
    a, b = ours._make(values[: len(fields)]), usual._make(values[: len(fields)])
    assert a == b == tuple(values[: len(fields)])
    assert repr(a) == repr(b)
    assert [getattr(a, f) for f in fields] == [getattr(b, f) for f in fields]
    changes = data.draw(st.dictionaries(st.sampled_from(fields), st.integers(0, 9)) if fields else st.just({}))
    assert a._replace(**changes) == b._replace(**changes)
    assert type(a._replace(**changes)) is ours
    if len(fields) < 7:
        with pytest.raises(TypeError) as ours_says:
            ours._make(values)
        with pytest.raises(TypeError) as usual_says:
            usual._make(values)
        assert str(ours_says.value) == str(usual_says.value)
    with pytest.raises(ValueError, match="unexpected field names"):
        a._replace(**{"not a field": 1})
    with pytest.raises(AttributeError):
        a.nothing = 1
    assert not hasattr(a, "__dict__")


def test_methods_docstrings_pickles_and_copies() -> None:
    p = Point(1)
    assert (p.far(), str(p), repr(p)) == (3, "<1>", "Point(x=1, y=2, label='')")
    assert Point.__doc__ == "A point."
    assert Point.__module__ == __name__
    assert isinstance(p, tuple)
    assert p == Usual(1) == (1, 2, "")
    assert hash(p) == hash(Usual(1))
    assert p < Point(2)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(p, protocol))
        assert (again, type(again)) == (p, Point)
    assert type(copy.deepcopy(p)) is Point
    match p:
        case Point(x, y):
            assert (x, y) == (1, 2)
    with pytest.raises(AttributeError):
        p.x = 3  # type: ignore[misc]
    assert typing.get_type_hints(Point) == {"x": int, "y": int, "label": str}


def test_subclasses() -> None:
    class Sub(Point):
        __slots__ = ()

    for _ in range(MANY):
        made = Sub(1, label="a")
        assert (type(made), made) == (Sub, (1, 2, "a"))
    assert type(Point(1)) is Point


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("_a: int", ValueError),
        ("a: int = 1\n    b: int", TypeError),
        ("a: int\n    def __new__(cls): pass", AttributeError),
        ("a: int\n    def _replace(self): pass", AttributeError),
    ],
)
def test_what_a_class_must_not_be(body: str, error: type[Exception]) -> None:
    for base in (records.NamedTuple, typing.NamedTuple):
        with pytest.raises(error):
            exec(f"class Made(Base):\n    {body}\n", {"Base": base, "__name__": __name__})


def test_other_bases() -> None:
    for base in (records.NamedTuple, typing.NamedTuple):
        with pytest.raises(TypeError):
            exec("class Made(Base, Exception):\n    a: int\n", {"Base": base, "__name__": __name__})
