"""Port sets by time alone (incc.measuring.ports.study), on cores that are made up and so known."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from incc.measuring.ports.experiments import Experiments, Noise
from incc.measuring.ports.sets import (
    Usage,
    aligned,
    cells,
    confined,
    cycles,
    kind,
    renamed,
    systems,
    total,
    usage_of,
    usages,
)
from incc.measuring.ports.study import Findings, Relative, study
from properties import examples

EXACT = Noise(0.001, 0.001, 0.0)


class Core:
    """A core of which everything is known: an oracle by the port bound, the width, and units that are not pipelined."""

    def __init__(self, truth: Mapping[str, Usage], ports: int, width: int, **more: Any) -> None:
        self.truth = truth
        self.ports = ports
        self.width = width
        self.slots: dict[str, int] = more.get("slots", {})
        self.units: dict[str, tuple[str, float]] = more.get("units", {})
        self.noise: float = more.get("noise", 0.0)

    def __repr__(self) -> str:
        return f"Core({self.truth}, {self.ports}, {self.width})"

    def __call__(self, copies: Mapping[str, int]) -> float:
        uops = [(mask, n * k) for form, k in copies.items() for mask, n in self.truth[form]]
        slots = sum(k * self.slots.get(form, max(1, total(self.truth[form]))) for form, k in copies.items())
        busy: dict[str, float] = {}
        for form, k in copies.items():
            unit, held = self.units.get(form, ("", 0))
            busy[unit] = busy.get(unit, 0) + k * held
        exact = max(cycles(uops, self.ports), slots / self.width, *busy.values())
        chance = random.Random(zlib.crc32(repr(sorted(copies.items())).encode()))
        return exact * (1 + chance.uniform(-self.noise, self.noise))

    def study(self, relative: Mapping[str, Usage] | None = None, noise: Noise = EXACT, **more: Any) -> Findings:
        there = self.truth if relative is None else relative
        names = tuple(f"P{n}" for n in range(self.ports))
        vocabulary = tuple(dict.fromkeys(there.values()))
        known = Relative(ports=names, usages=there, slow=more.pop("slow", frozenset()), vocabulary=vocabulary)
        return study(list(self.truth), self, known, ports=self.ports, issue_width=self.width, noise=noise, **more)


def masks(found: Findings, form: str) -> Usage:
    """What was found of a form, with ports P0, P1 … as bits."""
    m = next(m for m in found.mappings if m.form == form)
    return usage_of((sum(1 << int(p.removeprefix("P")) for p in s.split(",")), n) for s, n in m.uops)


# Eight ports as Intel has had them; four are issued to in a cycle.
P = {
    "nop": (),
    "lea": ((0b100010, 1),),
    "imul": ((0b10, 1),),
    "shuffle": ((0b100000, 1),),
    "divide": ((0b1, 1),),
    "logic": ((0b100011, 1),),
    "fma": ((0b11, 1),),
    "shift": ((0b1000001, 1),),
    "load": ((0b1100, 1),),
    "add": ((0b1100011, 1),),
    "dot": ((0b11, 1), (0b100000, 2)),
    "pair": ((0b1, 1), (0b100000, 1)),
    "fma load": ((0b11, 1), (0b1100, 1)),
}
SLOTS = {"fma load": 1, "nop": 1}


def test_known_core_comes_out_as_its_relative() -> None:
    found = Core(P, 8, 4, slots=SLOTS).study()
    for form, usage in P.items():
        assert masks(found, form) == usage, form
    assert not found.contradictions
    assert ("P2", "P3") in found.alike
    sure = {m.form: m.how for m in found.mappings}
    assert sure["imul"] == sure["fma"] == sure["dot"] == sure["pair"] == "measured"
    # As many ports as are issued to in a cycle are never in short supply: it may as well take none.
    assert sure["add"] == "relative"
    add = next(m for m in found.mappings if m.form == "add")
    assert () in add.others
    assert "no mixture tells" in add.notes[-1]


def test_what_changed_since_the_relative_is_found() -> None:
    relative = {**P, "fma": ((0b10, 1),), "logic": ((0b100010, 1),), "dot": ((0b10, 1), (0b100000, 2)), "pair": ()}
    found = Core(P, 8, 4, slots=SLOTS).study(relative)
    for form, usage in P.items():
        assert masks(found, form) == usage, form


def test_ports_that_the_relative_lacks_have_new_names() -> None:
    relative = {form: usage for form, usage in P.items() if form != "load"}
    truth = {**P, "load": ((0b1100 | 1 << 8, 1),), "fma load": ((0b11, 1), (0b1100 | 1 << 8, 1))}
    core = Core(truth, 9, 6, slots=SLOTS)
    there = Relative(
        ports=tuple(f"P{n}" for n in range(8)),
        usages={**relative, "load": P["load"]},
        slow=frozenset(),
        vocabulary=tuple(P.values()),
    )
    found = study(list(truth), core, there, ports=9, issue_width=6, noise=EXACT)
    load = next(m for m in found.mappings if m.form == "load")
    assert load.uops == (("P2,P3,new0", 1),)
    fused = next(m for m in found.mappings if m.form == "fma load")
    assert ("P2,P3,new0", 1) in fused.uops


def test_forms_without_a_relative_are_found_too() -> None:
    relative = {form: usage for form, usage in P.items() if form not in ("dot", "lea", "fma load")}
    found = Core(P, 8, 4, slots=SLOTS).study(relative)
    assert masks(found, "dot") == P["dot"]
    assert masks(found, "lea") == P["lea"]
    assert masks(found, "fma load") == P["fma load"]


def test_units_that_are_not_pipelined() -> None:
    truth = {**P, "sqrt": ((0b1, 1),), "modulo": ((0b10, 1),)}
    units = {"divide": ("a", 5.0), "sqrt": ("a", 7.0), "modulo": ("b", 6.0)}
    found = Core(truth, 8, 4, slots=SLOTS, units=units).study(slow=frozenset(units))
    unit = {m.form: m.unit for m in found.mappings}
    assert unit["divide"] == unit["sqrt"] == "divide"
    assert unit["modulo"] == "modulo"
    assert unit["imul"] == unit["dot"] == ""
    assert masks(found, "divide") == truth["divide"]


def test_stores_whose_two_uops_are_always_together() -> None:
    store = ((0b10000, 1), (0b10001100, 1))
    truth = {**P, "store": store, "add to memory": ((0b1100, 1), (0b1100011, 1), *store)}
    found = Core(truth, 8, 4, slots={**SLOTS, "store": 1, "add to memory": 2}).study()
    assert masks(found, "store") == usage_of(store)
    assert masks(found, "add to memory") == usage_of(truth["add to memory"])


@pytest.mark.parametrize("noise", [0.01, 0.02])
def test_noise(noise: float) -> None:
    found = Core(P, 8, 4, slots=SLOTS, noise=noise).study(noise=Noise(noise, 0.005, 0.0))
    for form, usage in P.items():
        m = next(m for m in found.mappings if m.form == form)
        if masks(found, form) != usage:
            assert m.how != "measured", m
    right = sum(masks(found, form) == usage for form, usage in P.items())
    assert right >= len(P) - 1


def test_contradictory_figures_are_said() -> None:
    core = Core(P, 8, 4, slots=SLOTS)

    def oracle(copies: Mapping[str, int]) -> float:
        # Nothing runs beside this one, and alone it takes a cycle.
        others = {form: n for form, n in copies.items() if form != "dot"}
        return (core(others) if others else 0) + 1.05 * copies.get("dot", 0) * (3 if others else 1)

    names = tuple(f"P{n}" for n in range(8))
    found = study(
        list(P),
        oracle,
        Relative(ports=names, usages=P, slow=frozenset(), vocabulary=tuple(P.values())),
        ports=8,
        issue_width=4,
        noise=EXACT,
    )
    dot = next(m for m in found.mappings if m.form == "dot")
    assert dot.how == "contradiction"
    assert dot.uops == ()
    assert dot.notes
    assert masks(found, "fma") == P["fma"]


def test_a_relative_that_is_wrong_about_a_blocker_does_not_spoil_the_others() -> None:
    # Here "pair" is one µop on port 0, as the relative has it; in truth it is two.
    relative = {**P, "pair": ((0b1, 1),)}
    found = Core(P, 8, 4, slots=SLOTS).study(relative)
    for form, usage in P.items():
        assert masks(found, form) == usage, form


def test_what_cannot_be_run_is_said() -> None:
    core = Core(P, 8, 4, slots=SLOTS)

    def oracle(copies: Mapping[str, int]) -> float | None:
        return None if "dot" in copies else core(copies)

    names = tuple(f"P{n}" for n in range(8))
    known = Relative(ports=names, usages=P, slow=frozenset(), vocabulary=tuple(P.values()))
    found = study(list(P), oracle, known, ports=8, issue_width=4, noise=EXACT)
    dot = next(m for m in found.mappings if m.form == "dot")
    assert (dot.how, dot.throughput, dot.uops) == ("unmeasured", None, ())
    assert masks(found, "fma") == P["fma"]


def test_the_same_figures_give_the_same_findings() -> None:
    first, second = (Core(P, 8, 4, slots=SLOTS, noise=0.02).study(noise=Noise(0.02, 0.005, 0.0)) for _ in range(2))
    assert first == second


def test_interrupted_runs_go_on(tmp_path: Path) -> None:
    path = str(tmp_path / "kept.jsonl")
    core = Core(P, 8, 4, slots=SLOTS)
    calls = 0

    def failing(copies: Mapping[str, int]) -> float:
        nonlocal calls
        calls += 1
        if calls > 30:
            raise KeyboardInterrupt
        return core(copies)

    names = tuple(f"P{n}" for n in range(8))
    known = Relative(ports=names, usages=P, slow=frozenset(), vocabulary=tuple(P.values()))

    def run(oracle: Callable[[Mapping[str, int]], float]) -> Findings:
        return study(list(P), oracle, known, ports=8, issue_width=4, noise=EXACT, path=path)

    with pytest.raises(KeyboardInterrupt):
        run(failing)
    with open(path, "a", encoding="utf-8") as f:
        f.write('{"copies": {"imul"')
    asked = 0

    def counting(copies: Mapping[str, int]) -> float:
        nonlocal asked
        asked += 1
        return core(copies)

    found = run(counting)
    assert asked == found.experiments - 30
    assert found.mappings == Core(P, 8, 4, slots=SLOTS).study().mappings
    with open(path, encoding="utf-8") as f:
        assert len([json.loads(line) for line in f]) == found.experiments


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text('{"form": "imul"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"other\.jsonl:1: no throughput of forms"):
        Experiments(lambda copies: 1.0, str(path))
    assert path.read_text(encoding="utf-8") == '{"form": "imul"}\n'


def test_impossible_cores_are_refused() -> None:
    with pytest.raises(ValueError, match="a core with 0 ports"):
        study(
            [],
            lambda copies: 1.0,
            Relative(ports=(), usages={}, slow=frozenset(), vocabulary=()),
            ports=0,
            issue_width=4,
        )


# --- properties ------------------------------------------------------------------------------------------------------


@st.composite
def cores(draw: st.DrawFn) -> tuple[Core, dict[str, Usage]]:
    """A core of up to six ports, and what a relative says, which may be wrong of some forms."""
    ports = draw(st.integers(2, 6))
    width = draw(st.integers(2, 7))
    sets = st.integers(1, (1 << ports) - 1)
    usage = st.lists(sets, min_size=0, max_size=3).map(lambda found: usage_of((m, 1) for m in found))
    single = sets.map(lambda mask: ((mask, 1),))
    truth = {f"f{n}": u for n, u in enumerate(draw(st.lists(st.one_of(single, usage), min_size=2, max_size=8)))}
    there = {form: draw(st.one_of(st.just(u), st.just(u), single)) for form, u in truth.items()}
    return Core(truth, ports, width), there


def mixtures(forms: list[str], seed: int, count: int) -> list[dict[str, int]]:
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        chosen = chance.sample(forms, min(len(forms), chance.randint(1, 4)))
        found.append({form: chance.randint(1, 6) for form in chosen})
    return found


def predicts_every_mixture(made: tuple[Core, dict[str, Usage]], seed: int) -> None:
    core, there = made
    found = core.study(there)
    sure = [m.form for m in found.mappings if m.how == "measured"]
    if not sure or found.systems > 1 or not found.systems_complete or found.contradictions:
        return
    slots = {form: max(1, total(u)) for form, u in core.truth.items()}
    guess = Core({form: masks(found, form) for form in sure}, core.ports, core.width, slots=slots)
    for copies in mixtures(sure, seed, 30):
        assert guess(copies) == pytest.approx(core(copies), rel=0.01), (copies, found.mappings)


@given(cores(), st.integers(0, 1000))
@examples(60)
def test_what_is_measured_predicts_every_mixture(made: tuple[Core, dict[str, Usage]], seed: int) -> None:
    """Of forms that are said to be sure, whatever they are mixed with takes the time that was found, or other forms of
    the mixture are not sure. But for forms of which two µops share ports (docs/ports.md): see the next test."""
    assume(not any(one & other for u in made[0].truth.values() for (one, _), (other, _) in combinations(u, 2)))
    predicts_every_mixture(made, seed)


@pytest.mark.xfail(reason="a µop that shares ports with another one of its form may be missed", strict=True)
def test_two_uops_of_a_form_that_share_ports() -> None:
    truth = {"f0": ((1, 1),), "f1": ((1, 1),), "f2": ((4, 1),), "f3": ((1, 1), (5, 1))}
    predicts_every_mixture((Core(truth, 3, 3), {**truth, "f3": ((1, 1),)}), 0)


@given(cores())
@examples(60)
def test_a_relative_that_is_right_is_confirmed_or_equalled(made: tuple[Core, dict[str, Usage]]) -> None:
    core, _ = made
    for m in core.study().mappings:
        usage = usage_of((sum(1 << int(p.removeprefix("P")) for p in s.split(",")), n) for s, n in m.uops)
        others = [
            usage_of((sum(1 << int(p.removeprefix("P")) for p in s.split(",")), n) for s, n in u) for u in m.others
        ]
        assert m.how != "contradiction", m
        if m.how == "measured":
            assert total(usage) <= total(core.truth[m.form])
        assert cycles(usage, 8) <= core({m.form: 1}) * 1.01
        assert all(total(u) <= total(usage) for u in others)


@given(st.lists(st.integers(1, 31), min_size=1, max_size=4))
@examples(60)
def test_systems_contain_the_one_that_the_sizes_come_from(sets: list[int]) -> None:
    shared = {(i, j): ((sets[i] & sets[j]).bit_count(),) * 2 for j in range(len(sets)) for i in range(j)}
    sizes = [mask.bit_count() for mask in sets]
    found = list(systems(sizes, shared, 5, lambda *_: True, 100_000))
    kinds = [kind(s, 5) for s in found]
    assert kind(sets, 5) in kinds
    assert len(set(kinds)) == len(kinds), "each system once, without renamings"
    for s in found:
        assert [m.bit_count() for m in s] == sizes
        assert all((s[i] & s[j]).bit_count() == n for (i, j), (n, _) in shared.items())


@given(st.lists(st.integers(1, 63), min_size=1, max_size=5), st.permutations(range(6)))
@examples(60)
def test_renamed_ports_are_named_back(sets: list[int], order: list[int]) -> None:
    there = [renamed(mask, order) for mask in sets]
    names = aligned(sets, there, 6, 6)
    assert sorted(names) == list(range(6))
    assert [renamed(mask, names) for mask in sets] == there


@given(st.lists(st.integers(1, 15), min_size=0, max_size=3))
@examples(60)
def test_usages_are_the_smallest_that_explain_all_counts(uops: list[int]) -> None:
    right = usage_of((m, 1) for m in uops)
    limits = [(mask, confined(right, mask), confined(right, mask)) for mask in range(1, 15)]
    found = usages(range(1, 16), limits, 4, lambda u: True, lambda u: True, 100_000)
    # µops that can go to all ports are confined to none.
    narrow = usage_of((m, 1) for m in uops if m != 15)
    assert found == [narrow]


def test_cells() -> None:
    assert sorted(cells([0b0011, 0b0110], 4)) == [0b0001, 0b0010, 0b0100, 0b1000]
    assert sorted(cells([0b0011], 4)) == [0b0011, 0b1100]
