"""The pairs of every two of several builds, merged into rows."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from comparison_fixtures import make_entry, make_kernel, make_side, make_unit
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import force_setattr, replace

from incc.comparison import merge
from incc.comparison.build import compare
from incc.comparison.match import Match, Matching
from incc.comparison.match import match as real_match
from incc.comparison.merge import groups
from incc.comparison.side import SideKernel
from incc.comparison.types import SideVariant

Pairs = dict[tuple[str, str], float]
"""The confidence of each pair of kernels, which are named like f0: loop f of build 0."""


def builds(*names: str) -> list[list[SideKernel]]:
    """Kernels of these functions; a function that a build has twice is one loop with two copies."""
    return [
        [
            make_entry(f"{name[0]}/loop{n}", source=("x.c", ord(name[0])), texts=(f"nop {name}", "jne .L"))
            for n, name in enumerate(functions.split())
        ]
        for functions in names
    ]


def merged(monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], pairs: Pairs) -> dict[str, list[str]]:
    """The groups of kernels by their first one, if every two builds are paired like this."""
    numbers = [{name: n for n, name in enumerate(functions.split())} for functions in names]
    both = combinations(range(len(names)), 2)

    def match(a: Any, b: Any, same_text: bool) -> Matching:
        one, other = next(both)
        matches = [
            Match(a=numbers[one][x[:-1]], b=numbers[other][y[:-1]], by="function", confidence=confidence)
            for (x, y), confidence in pairs.items()
            if (int(x[-1]), int(y[-1])) == (one, other)
        ]
        return Matching(tuple(matches), (), ())

    monkeypatch.setattr(merge, "match", match)
    result = {}
    for group in groups(builds(*names)):
        named = [f"{list(numbers[build])[n]}{build}" for build, n in group.kernels.items()]
        sure = [f"{group.matches[build].confidence:g}" for build in list(group.kernels)[1:]]
        result[named[0]] = [f"{name} {confidence}" for name, confidence in zip(named[1:], sure, strict=True)]
    return result


def test_pairs_of_two_builds_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = {("f0", "f1"): 0.3, ("g0", "h1"): 0.99}
    assert merged(monkeypatch, ("f g k", "f h"), pairs) == {"f0": ["f1 0.3"], "g0": ["h1 0.99"], "k0": []}


def test_a_third_build_joins_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """The confidence of a kernel without a pair of its own is that of the way to the first."""
    pairs = {("f0", "g1"): 0.9, ("g1", "h2"): 0.9}
    assert merged(monkeypatch, ("f", "g", "h"), pairs) == {"f0": ["g1 0.9", "h2 0.79"]}


def test_surer_pairs_prevail(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unsure pair of the first build gives way to what the others agree on."""
    pairs = {("f0", "f1"): 0.99, ("f1", "f2"): 0.99, ("f0", "g2"): 0.6}
    assert merged(monkeypatch, ("f", "f", "f g"), pairs) == {"f0": ["f1 0.99", "f2 0.98"], "g2": []}


def test_many_pairs_outvote_a_sure_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = {(f"{f}{a}", f"{f}{b}"): 0.95 for f in "fg" for a, b in combinations(range(4), 2)}
    del pairs["g2", "g3"], pairs["f2", "f3"]
    pairs["f2", "g3"] = pairs["g2", "f3"] = 0.9
    assert merged(monkeypatch, ("f g",) * 4, pairs) == {
        f"{f}0": [f"{f}1 0.95", f"{f}2 0.95", f"{f}3 0.95"] for f in "fg"
    }


def test_a_contradiction_keeps_groups_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = {("f0", "f1"): 0.98, ("f1", "f2"): 0.7, ("f0", "g2"): 0.97}
    assert merged(monkeypatch, ("f", "f", "f g"), pairs) == {"f0": ["f1 0.98", "g2 0.97"], "f2": []}


def test_copies_are_no_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not matter which copy of a loop is which, as long as each is in one row."""
    pairs = {("fa0", "fa1"): 0.9, ("fb0", "fb1"): 0.9, ("fa1", "fb2"): 0.9, ("fb1", "fa2"): 0.9, ("fa0", "fa2"): 0.9}
    assert merged(monkeypatch, ("fa fb",) * 3, pairs) == {
        "fa0": ["fa1 0.9", "fa2 0.9"],
        "fb0": ["fb1 0.9", "fb2 0.79"],
    }


@given(st.data())
def test_each_kernel_is_in_one_group(data: st.DataObject) -> None:
    names = [" ".join(sorted(data.draw(st.sets(st.sampled_from("fghk"), min_size=1)))) for _ in range(4)]
    pairs: Pairs = {}
    for one, other in combinations(range(4), 2):
        columns = data.draw(st.permutations(names[other].split()))
        for a, b in zip(names[one].split(), columns, strict=False):
            pairs[f"{a}{one}", f"{b}{other}"] = data.draw(st.sampled_from((0.3, 0.5, 0.8, 0.99, 1.0)))
    with pytest.MonkeyPatch.context() as patch:
        rows = merged(patch, tuple(names), pairs)
    kernels = [row.split()[0] for first, others in rows.items() for row in (first, *others)]
    assert sorted(kernels) == sorted(f"{name}{build}" for build, of in enumerate(names) for name in of.split())
    assert all(
        len({name.split()[0][-1] for name in (first, *others)}) == 1 + len(others) for first, others in rows.items()
    )


def unit_for(core: str) -> dict[str, Any]:
    return {"model": replace(make_unit([]).model, name=core)}


def test_cores_of_other_builds_do_not_matter() -> None:
    """Kernels that only an earlier build for the same core has leave the others to be found in the first build."""
    sides = [
        [make_entry(f"{f}/loop1", unit=unit_for(core), texts=(f"nop {f}", "jne .L")) for f in of]
        for of, core in (("fgh", "znver4"), ("fk", "haswell"), ("fgh", "haswell"))
    ]
    assert [dict(group.kernels) for group in groups(sides)] == [{0: 0, 1: 0, 2: 0}, {0: 1, 2: 1}, {0: 2, 2: 2}, {1: 1}]
    assert [m.confidence for group in groups(sides) for m in group.matches.values()] == [1.0] * 4
    assert len(real_match(sides[0], sides[2]).matches) == 3


def test_in_processes() -> None:
    sides = builds("f g h", "g h", "f h", "g k")
    assert groups(sides, (), 2) == groups(sides)


def test_variants_of_one_command_are_of_one_text(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = []

    def match(a: Any, b: Any, same_text: bool) -> Matching:
        texts.append(same_text)
        return Matching((), (), ())

    monkeypatch.setattr(merge, "match", match)
    report, *variants = [make_side([make_kernel()], label) for label in "abc"]
    force_setattr(report.info, "variant", None)
    for side in variants:
        force_setattr(side.info, "variant", SideVariant(compiler="gcc", flags=[], mcpu=""))
        force_setattr(side.info, "compilers", ["gcc 12"])
    compare([report, *variants])
    assert texts == [False, False, True]
