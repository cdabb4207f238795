"""Patterns of forms match what shell patterns match."""

from __future__ import annotations

from fnmatch import fnmatchcase

from hypothesis import example, given
from hypothesis import strategies as st

from incc.models import loading
from incc.models.patterns import matches

_TEXT = st.text(st.sampled_from("AB_]"), max_size=6)
_PATTERN = st.text(st.sampled_from("AB_*?[]!"), max_size=6)


@given(_TEXT, st.lists(_PATTERN, max_size=3))
@example("A", ["A*A"])
@example("A]", ["[A]]"])
@example("AB", ["[AB"])
@example("", [""])
def test_the_same_as_fnmatch(form: str, patterns: list[str]) -> None:
    written = " ".join(patterns)
    assert matches(form, written) == any(fnmatchcase(form, p) for p in written.split())


def test_the_forms_of_a_model() -> None:
    model = loading.load("sapphirerapids")
    classes = model.parameters["port_delays"]["classes"]
    assert classes
    for patterns in classes.values():
        found = {form for form in model.forms() if matches(form, patterns)}
        assert found == {form for form in model.forms() if any(fnmatchcase(form, p) for p in patterns.split())}
        assert found
