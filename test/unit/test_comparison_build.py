"""Comparisons put together: rows over several sides, what matters first, conditions, notes."""

from __future__ import annotations

import inspect
import tracemalloc
from typing import Any

import jsonschema
import msgspec
import pytest
from comparison_fixtures import empty_side, loop, make_kernel, make_side, side_of
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import force_setattr, replace

from incc.comparison import merge, types
from incc.comparison.build import ComparisonSettings, compare
from incc.comparison.match import Match, Matching
from incc.report import types as report_types
from incc.report.where import kernel_values, parse
from incc.views.schemas import schema

SCHEMA = jsonschema.Draft202012Validator(schema("comparison/comparison"))
PARTS: dict[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...]]] = {}


@pytest.fixture(autouse=True)
def by_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are matched by their kernel_id, or by content if there is no such kernel: how well is no matter here."""
    monkeypatch.setattr(merge, "match", match)
    PARTS.clear()


def match(a: Any, b: Any, same_text: bool = False) -> Matching:
    by_id = {entry.kernel.kernel_id: n for n, entry in enumerate(a)}
    numbers_b = {entry.kernel.kernel_id: n for n, entry in enumerate(b)}
    matches, used, part_b = [], set(), set()
    for n, entry in enumerate(b):
        name = entry.kernel.kernel_id
        parts_a, parts_b = PARTS.get((name, "ab"), ((), ()))
        if name in by_id:
            parts = tuple(by_id[p] for p in parts_a), tuple(numbers_b[p] for p in parts_b)
            matches.append(Match(a=by_id[name], b=n, by="identity", confidence=1.0, parts_a=parts[0], parts_b=parts[1]))
            used |= {by_id[name], *parts[0]}
            part_b |= set(parts[1])
    matched = {m.b for m in matches} | part_b
    return Matching(
        tuple(m for m in matches if m.b not in part_b),
        tuple(n for n in range(len(a)) if n not in used),
        tuple(n for n in range(len(b)) if n not in matched),
    )


def compared(*sides: Any, where: str = "", fail_if: str = "", assembly: bool = False) -> Any:
    """The comparison, which fits the schema."""
    wanted = ComparisonSettings(
        where=(where and parse(where, pairs=True)) or None,
        fail_if=(fail_if and parse(fail_if, pairs=True)) or None,
        assembly=assembly,
    )
    found = compare(sides, wanted)
    SCHEMA.validate(msgspec.to_builtins(found))
    return found


def side(label: str, *kernels: Any, **unit: Any) -> Any:
    """A side of kernels given as (kernel_id, cycles) or made."""
    made = [
        make_kernel(k[0], cycles=k[1], texts=(f"nop {k[0]} {k[1]}", "jne .L3")) if isinstance(k, tuple) else k
        for k in kernels
    ]
    return make_side(made, label, **unit)


def names(found: Any) -> list[str]:
    return [next(m for m in row.members if m).kernel_id for row in found.rows]


def outcomes(found: Any, number: int = 1) -> list[str | None]:
    return [row.changes[number] and row.changes[number].outcome for row in found.rows]


def test_types_have_names_of_their_own() -> None:
    """The schema refers to them by name."""
    reports, comparisons = (dict(inspect.getmembers(m, inspect.isclass)) for m in (report_types, types))
    names = [kind.__name__ for kind in {*reports.values(), *comparisons.values()}]
    assert len(names) == len(set(names))


def test_two_sides() -> None:
    a = side("a", ("f/loop1", 4.0), ("g/loop1", 2.0), ("h/loop1", 1.0), ("old/loop1", 1.0))
    b = side("b", ("f/loop1", 5.0), ("g/loop1", 2.0), ("h/loop1", 0.5), ("new/loop1", 1.0))
    found = compared(a, b)
    assert names(found) == ["f/loop1", "h/loop1", "g/loop1", "new/loop1", "old/loop1"]
    assert outcomes(found) == ["slower", "faster", "same", None, None]
    assert [row.weight for row in found.rows] == [1.0, 0.5, 0.0, 0.0, 0.0]
    assert [row.best for row in found.rows] == [[0], [1], [0, 1], [], []]
    assert [row.base for row in found.rows] == [0, 0, 0, 1, 0]
    assert found.totals == [
        None,
        types.PairTotals(
            same=1,
            moved=0,
            equal=0,
            faster=1,
            slower=1,
            unknown=0,
            only_a=1,
            only_b=1,
            speedup=pytest.approx((1.25 * 0.5) ** (1 / 3), abs=1e-6),
        ),
    ]
    assert (found.gate, found.notes, found.where) == (None, [], "")


def test_the_opposite_has_the_same_rows_in_the_same_order() -> None:
    a = side("a", ("f/loop1", 4.0), ("g/loop1", 2.0), ("h/loop1", 1.0), ("old/loop1", 1.0))
    b = side("b", ("f/loop1", 5.0), ("g/loop1", 2.0), ("h/loop1", 0.5), ("new/loop1", 1.0))
    one, other = compared(a, b), compared(b, a)
    assert names(one) == names(other)
    assert [row.weight for row in one.rows] == [row.weight for row in other.rows]
    assert [row.members for row in one.rows] == [row.members[::-1] for row in other.rows]
    assert one.totals[1].speedup == pytest.approx(1 / other.totals[1].speedup, abs=1e-6)


def test_a_side_with_itself() -> None:
    a = side("a", ("f/loop1", 4.0), ("g/loop1", 2.0))
    found = compared(a, a, fail_if="cycles > +0%")
    assert outcomes(found) == ["same", "same"]
    assert found.totals[1].speedup == 1.0
    assert found.gate.offenders == []
    assert [row.best for row in found.rows] == [[0, 1], [0, 1]]


def test_three_sides() -> None:
    """Each is compared with the first that has the kernel."""
    a = side("a", ("f/loop1", 4.0))
    b = side("b", ("f/loop1", 2.0), ("g/loop1", 3.0))
    c = side("c", ("g/loop1", 6.0), ("f/loop1", 4.0))
    found = compared(a, b, c)
    assert names(found) == ["g/loop1", "f/loop1"]
    g, f = found.rows
    assert (g.base, [bool(m) for m in g.members]) == (1, [False, True, True])
    assert [change and change.ratio for change in g.changes] == [None, None, 2.0]
    assert [change and change.ratio for change in f.changes] == [None, 0.5, 1.0]
    assert (g.best, f.best) == ([1], [1])
    assert [totals and (totals.only_a, totals.only_b) for totals in found.totals] == [None, (0, 1), (0, 0)]


def test_a_side_without_kernels() -> None:
    found = compared(side("a", ("f/loop1", 4.0)), empty_side("b"), side("c", ("f/loop1", 4.0)))
    assert [bool(m) for m in found.rows[0].members] == [True, False, True]
    assert found.totals[1].speedup is None
    assert compared(empty_side("a"), empty_side("b")).rows == []


def test_a_split_loop_is_one_row() -> None:
    PARTS["f/loop1", "ab"] = ((), ("f/loop2",))
    a, b = side("a", ("f/loop1", 4.0)), side("b", ("f/loop1", 3.0), ("f/loop2", 3.0))
    found = compared(a, b, fail_if="cycles > +5%")
    (row,) = found.rows
    assert row.members[1].parts == ["f/loop2"]
    assert (row.changes[1].cycles_b, row.changes[1].outcome) == (6.0, "slower")
    assert found.totals[1].only_b == 0
    assert "cycles 4 → 6 (+50 %)" in found.gate.offenders[0].text
    PARTS["f/loop1", "ab"] = (("f/loop2",), ())
    found = compared(b, a)
    (row,) = found.rows
    assert row.members[0].parts == ["f/loop2"]
    assert found.totals[1].only_a == 0
    assert row.changes[1].outcome == "faster"


def test_deep_main_loops_matter_more() -> None:
    deep = [make_kernel("d/loop1", cycles=c, depth=3, texts=(f"nop {c}",)) for c in (4.0, 5.0)]
    rest = {"name": "remainder", "of": "r/loop0", "instead": False, "basis": "inferred", "text": ""}
    few = [make_kernel("r/loop1", cycles=c, role=rest, texts=(f"nop {c}",)) for c in (4.0, 9.0)]
    plain = [("p/loop1", 4.0), ("p/loop1", 6.0)]
    found = compared(side("a", few[0], plain[0], deep[0]), side("b", few[1], plain[1], deep[1]))
    assert names(found) == ["d/loop1", "p/loop1", "r/loop1"]
    assert [row.weight for row in found.rows] == [64.0, 2.0, 0.3125]


# --- conditions -------------------------------------------------------------------------------------------------------


def test_where() -> None:
    a = side("a", ("gemm/loop1", 4.0), ("f/loop1", 4.0), ("old/loop1", 1.0))
    b = side("b", ("gemm/loop1", 5.0), ("f/loop1", 5.0), ("new/loop1", 1.0))
    assert names(compared(a, b, where='cycles_b > 1.1*cycles_a and function like "gemm*"')) == ["gemm/loop1"]
    assert names(compared(a, b, where='outcome == "slower"')) == ["f/loop1", "gemm/loop1"]
    assert names(compared(a, b, where='outcome in ("added", "removed")')) == ["new/loop1", "old/loop1"]
    assert names(compared(a, b, where="cycles < 2")) == ["new/loop1", "old/loop1"]
    assert names(compared(a, b, where="cycles_b < 2")) == ["new/loop1"]
    assert names(compared(a, b, where="cycles_a < 2")) == ["old/loop1"]
    assert names(compared(a, b, where='causes like "*chain*" and matched_by == "identity"')) == [
        "f/loop1",
        "gemm/loop1",
    ]
    assert compared(a, b, where="cycles < 2").where == "cycles < 2"


def test_iterations_that_do_more() -> None:
    """Per as much work: twice the cycles for four times the elements is no offence."""
    a = side("a", make_kernel("f/loop1", cycles=4.0, elements=3.0, texts=("nop",)))
    b = side("b", make_kernel("f/loop1", cycles=8.0, elements=12.0, texts=("jne .L3",)))
    assert compared(a, b, fail_if="cycles > +5%").gate.offenders == []
    assert compared(a, b, fail_if="cycles < -49%").gate.offenders != []
    assert names(compared(a, b, where="cycles_a == 16 and cycles_b == 8 and elements_a == 12")) == ["f/loop1"]
    unknown = side("b", make_kernel("f/loop1", cycles=8.0, elements=None, texts=("jne .L3",), memory=_no_step()))
    assert compared(a, unknown, fail_if="cycles > +5%").gate.offenders == []
    assert names(compared(a, unknown, where="cycles_a > 0 or ratio > 0")) == []


def test_what_cannot_be_compared_passes() -> None:
    """The baseline calls a function of unknown time, so the comparison of the two loops has no result."""
    call = "contains a call to exp, whose time is not counted"
    a = side("a", make_kernel("f/loop1", cycles=4.0, texts=("call exp", "jne .L3"), notes=[call], at_least=True))
    b = side("b", make_kernel("f/loop1", cycles=9.0))
    found = compared(a, b, fail_if="cycles > +5% or cycles_per_element > +5% or bound > +5%")
    assert [change.outcome for row in found.rows for change in row.changes if change] == ["unknown"]
    assert found.gate.offenders == []
    assert compared(a, b, fail_if="cycles > 8").gate.offenders != []


def _no_step() -> Any:
    return replace(make_kernel().memory, step=0, bytes_loaded=0)


def test_fail_if() -> None:
    a = side("a", ("f/loop1", 4.0), ("g/loop1", 4.0), ("old/loop1", 9.0))
    b = side("b", ("f/loop1", 6.0), ("g/loop1", 4.1), ("new/loop1", 9.0))
    found = compared(a, b, fail_if="cycles > +5%").gate
    assert found.condition == "cycles > +5%"
    assert [(o.row, o.side, o.text) for o in found.offenders] == [(0, 1, "f at x.c:3: cycles 4 → 6 (+50 %)")]
    found = compared(a, b, fail_if='cycles > 8 or role == "none"').gate
    assert [o.text for o in found.offenders] == ["new at x.c:3: cycles 9, role main"]
    found = compared(a, b, fail_if='outcome == "removed"').gate
    assert [o.text for o in found.offenders] == ["old at x.c:3: outcome removed"]
    found = compared(a, b, side("c", ("f/loop1", 6.0)), fail_if="ratio >= 1.5").gate
    assert [(o.side, o.text) for o in found.offenders] == [
        (1, "f at x.c:3 in b: ratio 1.5"),
        (2, "f at x.c:3 in c: ratio 1.5"),
    ]


def test_the_same_code_is_no_offence() -> None:
    """Wherever it lies: its cycles are those of its place."""
    kernels = [make_kernel("f/loop1", cycles=c, source=("x.c", line)) for c, line in ((4.0, 3), (5.0, 30))]
    found = compared(side("a", kernels[0]), side("b", kernels[1]), fail_if="cycles > +0% or port > +0%")
    assert outcomes(found) == ["moved"]
    assert found.gate.offenders == []
    assert found.totals[1].speedup == 1.0
    assert found.rows[0].best == [0, 1]


# --- assembly ---------------------------------------------------------------------------------------------------------


def test_assembly() -> None:
    body = "\tvaddsd (%rdi,%rax,8), %xmm0, %xmm0\n\tincq %rax\n\tcmpq %rdx, %rax\n"
    a, b = side_of(loop(body)), side_of(loop("\tvmulsd %xmm1, %xmm0, %xmm0\n" + body), "b")
    found = compared(a, b, assembly=True)
    (row,) = found.rows
    assert [len(m.instructions) for m in row.members] == [4, 5]
    assert [r.name for r in row.members[0].resources][:2] == ["0", "1"]
    assert row.changes[1].alignment[0] == types.Aligned(a=None, b=0, change="added")
    assert "+1 floating-point multiplication on the LCD: +4 cycles" in row.changes[1].text
    plain = compared(a, b).rows[0]
    assert plain.changes[1].alignment is None
    assert plain.members[0].instructions is None


# --- notes ------------------------------------------------------------------------------------------------------------


def test_notes() -> None:
    def of(label: str, name: str, version: str) -> Any:
        kernel = make_kernel("f/loop1")
        made = {"name": name, "title": name, "version": version, "isa": "x86", "chosen_by": "", "note": ""}
        return make_side([kernel], label, model=made)

    found = compared(of("gcc.json", "skylake", "1"), of("clang.json", "znver4", "1"))
    assert found.notes == ["gcc.json is of skylake, clang.json of znver4: cycles are of different cores"]
    found = compared(of("skylake", "skylake", "1"), of("znver4", "znver4", "1"))
    assert found.notes == ["skylake and znver4: cycles are of different cores"]
    found = compared(of("old", "skylake", "1"), of("new", "skylake", "2"))
    assert found.notes == ["the model of skylake changed (versions 1 and 2): so may cycles of the same code"]
    # Figures that were borrowed for instructions that the model lacks are no change.
    assert compared(of("old", "skylake", "1~abc"), of("new", "skylake", "1")).notes == []
    found = compared(side("a", ("f/loop1", 4.0)), side("b", ("g/loop1", 4.0)))
    assert found.notes == ["no kernel of b was found in a"]
    old = side("a", ("f/loop1", 4.0))
    old = replace(old, info=replace(old.info, notes=["written by an older incc"]))
    failed = empty_side("b")
    failed = replace(failed, info=replace(failed.info, problem="gcc: error: x.c"))
    assert compared(old, failed).notes == ["a: written by an older incc", "b: gcc: error: x.c"]


def test_notes_on_what_is_not_counted() -> None:
    refused = [{"line": 5, "text": "vfoo %xmm0", "message": "no such instruction: vfoo"}] * 2
    unknown = [{"index": 0, "line": 7, "text": "tdpbssd\t%tmm0, %tmm1, %tmm2", "form": "TDPBSSD"}]
    kernels = [make_kernel("f/loop1", refused=refused), make_kernel("g/loop1", unknown_instructions=unknown)]
    notes = side("a", *kernels).info.notes
    file = make_side(kernels, "a").entries[0].unit.assembly_file
    assert notes == [
        f"Not counted: 2 statements that could not be decoded, {file}:5: no such instruction: vfoo.",
        f"Not counted: an instruction that the model lacks, {file}:7: tdpbssd %tmm0, %tmm1, %tmm2.",
    ]


# --- in general -------------------------------------------------------------------------------------------------------

KERNELS = st.dictionaries(st.sampled_from("fghij"), st.sampled_from([1.0, 2.0, 4.0, 4.01]), max_size=5)


@pytest.mark.long
@given(st.lists(KERNELS, min_size=2, max_size=4))
def test_every_kernel_is_in_one_row(given: list[dict[str, float]]) -> None:
    sides = [side(f"s{n}", *((f"{k}/loop1", c) for k, c in kernels.items())) for n, kernels in enumerate(given)]
    found = compared(*sides)
    for n, kernels in enumerate(given):
        ids = [row.members[n].kernel_id for row in found.rows if row.members[n]]
        assert sorted(ids) == sorted(f"{k}/loop1" for k in kernels)
    weights = [row.weight for row in found.rows]
    assert weights == sorted(weights, reverse=True)
    for row in found.rows:
        assert row.members[row.base] is not None
        assert all(member is None for member in row.members[: row.base])
        for n, (member, change) in enumerate(zip(row.members, row.changes, strict=True)):
            assert (change is not None) == (member is not None and n != row.base)
    for n, totals in enumerate(found.totals):
        changes = [row.changes[n] for row in found.rows if row.changes[n]]
        if totals:
            assert sum(getattr(totals, o) for o in ("same", "moved", "equal", "faster", "slower", "unknown")) == len(
                changes
            )


@pytest.mark.long
def test_many_kernels_need_little_memory() -> None:
    """Of those that did not change no instruction is looked at, and rows have no copies of what is in kernels."""
    kernels = [make_kernel(f"f{n}/loop1", texts=("nop", f"nop {n}")) for n in range(1000)]
    a, b = side("a", *kernels), side("b", *kernels)
    for entry in (*a.entries, *b.entries):
        force_setattr(entry, "packed", b"")  # which cannot be unpacked
    tracemalloc.start()
    try:
        found = compare([a, b])
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.totals[1].same == 1000  # type: ignore[union-attr]
    assert most < 20 << 20


@given(KERNELS, KERNELS)
def test_the_opposite_is_the_mirror(first: dict[str, float], second: dict[str, float]) -> None:
    a, b = (
        side(label, *((f"{k}/loop1", c) for k, c in given.items())) for label, given in (("a", first), ("b", second))
    )
    one, other = compared(a, b), compared(b, a)
    assert [row.members for row in one.rows] == [row.members[::-1] for row in other.rows]
    assert [row.weight for row in one.rows] == [row.weight for row in other.rows]
    turned = {"faster": "slower", "slower": "faster"}
    for row, opposite in zip(one.rows, other.rows, strict=True):
        assert row.best == sorted(1 - side for side in opposite.best)
        change, back = row.changes[1], opposite.changes[1]
        assert (change is None) == (back is None)
        if change:
            assert (change.cycles_a, change.cycles_b) == (back.cycles_b, back.cycles_a)
            assert back.outcome == turned.get(change.outcome, change.outcome)


def test_names_need_nothing_that_entries_have_not() -> None:
    (entry,) = side_of(loop("\tvaddsd (%rdi,%rax,8), %xmm0, %xmm0\n\tincq %rax\n\tcmpq %rdx, %rax\n")).entries
    values = kernel_values(entry.unit, entry.kernel)
    assert (values["cycles"], values["loads"], values["spills"]) == (4.0, 1, 0)
