"""What became of a kernel, and why: on pairs of which one is the other with a known change."""

from __future__ import annotations

from typing import Any

import pytest
from comparison_fixtures import entry_of, loop, make_entry, make_kernel, make_report, make_unit
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import force_setattr, replace

from incc.comparison.change import change, figures
from incc.comparison.match import Match
from incc.comparison.side import SideKernel, in_memory
from incc.frontends.asm.loops import call_notes
from properties import examples

MATCH = Match(a=0, b=0, by="identity", confidence=1.0)
COUNT = "\tincq %rax\n\tcmpq %rdx, %rax\n"
SUM = f"\tvaddsd (%rdi,%rax,8), %xmm0, %xmm0\n{COUNT}"


def became(a: SideKernel, b: SideKernel, parts_a: Any = (), parts_b: Any = ()) -> Any:
    """The change, which is checked against its opposite."""
    found: Any = change(a, b, MATCH, parts_a, parts_b)
    opposite: Any = change(b, a, MATCH, parts_b, parts_a)
    turned = {"faster": "slower", "slower": "faster"}
    assert opposite.outcome == turned.get(found.outcome, found.outcome)
    assert (opposite.cycles_a, opposite.cycles_b) == (found.cycles_b, found.cycles_a)
    assert opposite.basis == found.basis
    assert (opposite.scale_a, opposite.scale_b) == (found.scale_b, found.scale_a)
    assert (found.scale_a is None) == (found.basis == "")
    if found.ratio:
        assert opposite.ratio == pytest.approx(1 / found.ratio)
    assert [cause.kind for cause in opposite.causes] == [cause.kind for cause in found.causes]
    for one, other in zip(found.causes, opposite.causes, strict=True):
        assert (one.a, one.b) == (other.b, other.a)
        assert one.evidence.get("a") == other.evidence.get("b")
        assert one.cycles == (None if other.cycles is None else -other.cycles)
    return found


def of(found: Any) -> list[tuple[str, float | None]]:
    """The kinds of the causes and their cycles."""
    return [(cause.kind, cause.cycles) for cause in found.causes]


def texts(found: Any) -> list[str]:
    return [cause.text for cause in found.causes]


def loops(a: str, b: str, **given: Any) -> Any:
    """What became of one loop's body."""
    return became(entry_of(loop(a, line=3), **given), entry_of(loop(b, line=3), **given))


def adds_up(found: Any) -> bool:
    """Whether causes account for the difference, but for what is too little to be one."""
    whole = found.cycles_b - found.cycles_a
    return abs(sum(cause.cycles or 0.0 for cause in found.causes) - whole) <= 0.05 * abs(whole) + 1e-5


# --- outcome and basis ------------------------------------------------------------------------------------------------


def test_nothing_changed() -> None:
    entry = entry_of(loop(SUM, line=3))
    found = became(entry, entry_of(loop(SUM, line=3)))
    assert (found.outcome, found.ratio, found.causes) == ("same", 1.0, [])
    assert found.text == "nothing changed, 4 cycles per element"


def test_the_same_code_elsewhere() -> None:
    a, b = entry_of(loop(SUM, line=3)), entry_of(loop(SUM, line=30))
    assert became(a, b).outcome == "moved"
    c = entry_of(loop(SUM, line=3, function="g"))
    found = became(a, c)
    assert (found.outcome, found.text) == (
        "moved",
        "the same code in another function (f → g), 4 cycles per element",
    )


def test_the_same_code_is_never_slower() -> None:
    """Where it lies, or what is known of the pointers, may change the prediction: that is no doing of the code."""
    a, b = make_entry(cycles=4.0), make_entry(cycles=5.0, source=("x.c", 30))
    found = became(a, b)
    assert found.outcome == "moved"
    assert of(found) == [("alignment", 1.0)]
    assert "4 → 5 cycles" in found.text


def test_code_placement_is_averaged() -> None:
    hint = {
        "rule": "code-placement",
        "text": "",
        "evidence": {"cycles_at": {"0": 4.0, "32": 6.0}},
        "flags": [],
        "source_change": "",
    }
    a, b = make_entry(cycles=4.0, hints=[hint], texts=("nop",)), make_entry(cycles=4.0, texts=("nop", "jne .L3"))
    found = became(b, a)
    assert (found.cycles_a, found.cycles_b) == (4.0, 5.0)
    assert of(found)[0] == ("alignment", 1.0)


def test_other_code_as_fast() -> None:
    found = loops(SUM, SUM.replace("%rax", "%rcx"))
    assert (found.outcome, found.ratio) == ("equal", 1.0)
    assert found.text == "4 → 4 cycles per element: other code, equally fast"


def test_less_than_one_percent_is_nothing() -> None:
    assert became(make_entry(cycles=100.0), make_entry(cycles=100.9, texts=("nop",))).outcome == "equal"
    assert became(make_entry(cycles=100.0), make_entry(cycles=101.1, texts=("nop",))).outcome == "slower"


def test_the_work_of_an_iteration() -> None:
    a = make_entry(cycles=4.0, elements=None)
    memory = a.kernel.memory
    b = make_entry(cycles=6.0, elements=None, texts=("nop",), memory=replace(memory, step=16, bytes_loaded=16))
    found = became(a, b)
    assert (found.basis, found.work, found.cycles_a, found.cycles_b) == ("work", 2.0, 8.0, 6.0)
    assert found.outcome == "faster"


def test_work_by_arithmetic_and_bytes() -> None:
    """Where nothing moves on by a known step, operations say it if bytes bear them out."""
    a = make_entry(cycles=4.0, elements=None)
    none: Any = replace(a.kernel.memory, step=0)
    more: Any = replace(a.kernel.arithmetic, flop=4)
    a = make_entry(cycles=4.0, elements=None, memory=none)
    b = make_entry(cycles=8.0, elements=None, texts=("nop",), memory=replace(none, bytes_loaded=32), arithmetic=more)
    assert became(a, b).work == 4.0
    b = make_entry(cycles=8.0, elements=None, texts=("nop",), memory=replace(none, bytes_loaded=16), arithmetic=more)
    found = became(a, b)
    assert (found.outcome, found.basis, found.work, found.ratio) == ("unknown", "", None, None)
    assert found.text == "how much of the source's loop an iteration does is not known"


def test_elements_of_one_kernel_tell_those_of_the_other() -> None:
    """Code that moves data between lanes often has no elements, but it moves on by so many bytes."""
    a = make_entry(cycles=4.0)
    known = a.kernel.elements
    assert known
    memory: Any = replace(a.kernel.memory, step=8)
    a = make_entry(cycles=4.0, memory=memory)
    b = make_entry(cycles=6.0, elements=None, texts=("nop",), memory=replace(memory, step=16))
    found, turned = became(a, b), became(b, a)
    each = known.per_iteration
    assert (found.basis, found.work) == ("element", 2.0)
    assert (found.cycles_a, found.cycles_b) == (4.0 / each, 3.0 / each)
    assert (turned.basis, turned.work) == ("element", 0.5)
    assert (turned.cycles_a, turned.cycles_b) == (3.0 / each, 4.0 / each)


def test_elements_of_a_loop_that_was_unrolled_by_hand() -> None:
    """An iteration of its source does more: steps, bytes and operations say so together, and none of them alone."""
    a = make_entry(cycles=4.0)
    elements = a.kernel.elements
    assert elements
    memory: Any = replace(a.kernel.memory, step=8, bytes_loaded=8, bytes_stored=8, unsized_accesses=0)
    arithmetic: Any = replace(a.kernel.arithmetic, flop=2, integer_operations=0)
    more_memory: Any = replace(memory, step=32, bytes_loaded=32, bytes_stored=32)
    a = make_entry(cycles=4.0, memory=memory, arithmetic=arithmetic)
    b = make_entry(cycles=8.0, texts=("nop",), memory=more_memory, arithmetic=replace(arithmetic, flop=8))
    found, turned = became(a, b), became(b, a)
    each = elements.per_iteration
    assert (found.basis, found.work, found.outcome) == ("element", 4.0, "faster")
    assert (found.cycles_a, found.cycles_b) == (4.0 / each, 2.0 / each)
    assert (turned.cycles_a, turned.cycles_b, turned.work) == (2.0 / each, 4.0 / each, 0.25)
    for other in (
        make_entry(
            cycles=8.0, texts=("nop",), memory=replace(memory, step=32), arithmetic=arithmetic
        ),  # another layout
        make_entry(cycles=8.0, texts=("nop",), memory=more_memory, arithmetic=arithmetic),  # another type
        make_entry(cycles=8.0, texts=("nop",), memory=memory, arithmetic=replace(arithmetic, flop=8)),  # computes more
    ):
        assert became(a, other).work == 1.0


def test_equal_code_needs_no_elements() -> None:
    found = became(make_entry(elements=None), make_entry(elements=None))
    assert (found.basis, found.outcome) == ("iteration", "same")


def test_what_is_not_counted() -> None:
    unknown = [{"index": 0, "line": 10, "text": "vfoo", "form": "VFOO"}]
    a = make_entry(cycles=4.0)
    less = make_entry(cycles=3.0, texts=("vfoo",), at_least=True, unknown_instructions=unknown)
    more = make_entry(cycles=6.0, texts=("vfoo", "nop"), at_least=True, unknown_instructions=unknown)
    assert became(a, less).outcome == "unknown"
    found = became(a, more)
    assert found.outcome == "slower"
    assert ("unknown-instructions", None) in of(found)
    assert became(less, more).outcome == "slower"


def test_a_call_that_came() -> None:
    call = "contains a call to exp, whose time is not counted"
    a, b = make_entry(cycles=9.0), make_entry(cycles=4.0, texts=("call exp",), notes=[call], at_least=True)
    found = became(a, b)
    assert found.outcome == "unknown"
    assert "with a call to exp" in texts(found)
    assert "excluding called functions; it is unknown which is faster, since the uncounted work differs" in found.text


def test_calls_of_overloaded_functions_are_told_apart() -> None:
    a, b = (
        make_entry(cycles=cycles, texts=(f"call {n}",), notes=call_notes([f"foo(int, {argument})"]), at_least=True)
        for n, (cycles, argument) in enumerate([(9.0, "double"), (4.0, "long")])
    )
    found = became(a, b)
    assert found.outcome == "unknown"
    assert {"with a call to foo(int, long)", "without a call to foo(int, double)"} <= {*texts(found)}


def test_a_loop_in_two() -> None:
    """A split loop takes what all its loops take."""
    a = make_entry(cycles=4.0)
    b, part = (
        make_entry(cycles=3.0, texts=("nop",)),
        make_entry("f/loop2", cycles=6.0, elements=2.0, texts=("nop", "nop")),
    )
    found = became(a, b, (), [part])
    assert (found.cycles_a, found.cycles_b, found.outcome) == (4.0, 6.0, "slower")
    assert found.causes[0].text == "1 loop → 2 loops: +3 cycles in the other loops"
    assert adds_up(found)
    unknown = make_entry("f/loop2", elements=None, texts=("nop", "nop"))
    assert became(a, b, (), [unknown]).outcome == "unknown"


def test_another_core() -> None:
    text = loop(SUM, line=3)
    found = became(entry_of(text, mcpu="skylake"), entry_of(text, mcpu="znver4"))
    whole = found.cycles_b - found.cycles_a
    assert of(found) == [("core", pytest.approx(whole))]
    assert "skylake → znver4" in found.text
    other = became(entry_of(text, mcpu="skylake"), entry_of(loop(SUM * 2, line=3), mcpu="znver4"))
    assert of(other)[0] == ("core", None)
    assert all(cycles is None for _, cycles in of(other))


def test_another_model_of_the_same_core() -> None:
    kernel = make_kernel(cycles=5.0)
    old = make_entry(cycles=4.0)
    model = replace(old.unit.model, version="2")
    new = in_memory(make_report(make_unit([kernel], model=model)), "b").entries[0]
    found = became(old, new)
    assert found.outcome == "slower"
    assert texts(found) == ["another model of skylake-avx512: version 1 → 2: +1 cycle"]
    same = in_memory(make_report(make_unit([make_kernel(cycles=4.0)], model=model)), "b").entries[0]
    assert (became(old, same).outcome, became(old, same).causes) == ("same", [])
    other = in_memory(
        make_report(make_unit([make_kernel(cycles=4.0)], model=replace(model, name="znver4"))), "b"
    ).entries[0]
    assert became(old, other).text == "4 → 4 cycles per element: another core, equally fast"


def test_no_cycles_at_all() -> None:
    nothing = {"loop_carried": 0.0, "port": 0.0, "front_end": 0.0, "retire": 0.0}
    a, b = make_entry(cycles=0.0, bounds=nothing, texts=()), make_entry(cycles=4.0)
    assert became(a, b).ratio is None
    assert became(a, b).outcome == "slower"
    other = make_entry(cycles=0.0, bounds=nothing, texts=("nop",))
    assert became(a, other).outcome == "equal"


# --- figures ----------------------------------------------------------------------------------------------------------


def test_figures() -> None:
    entry = entry_of(loop("\tmovq 8(%rsp), %rcx\n\tvmovupd (%rcx,%rax), %ymm0\n\tmovq %rcx, -8(%rbp)\n" + COUNT))
    found = figures(entry)
    assert (found.loads, found.stores, found.reloads, found.spills) == (2, 1, 1, 1)
    assert (found.vector_bits, found.instructions) == (256, 6)


def test_arrays_and_pointers_are_no_spills() -> None:
    body = "\tmovsd (%rsp,%rax,8), %xmm1\n\tmovsd 8(%rbp), %xmm2\n\tcall g\n"
    found = figures(entry_of(loop(body + COUNT)))
    assert (found.reloads, found.spills) == (0, 0)


@given(st.data())
@examples(40)
def test_reports_say_what_each_term_of_ports_does(data: Any) -> None:
    for instruction in entry_of(loop(data.draw(BODIES))).instructions():
        terms = instruction.ports.split("+") if instruction.ports else [""]
        assert len(instruction.work) == len(terms)
        assert all(instruction.work)
        assert not instruction.frame or "(%rsp)" in instruction.text


# --- causes -----------------------------------------------------------------------------------------------------------


@given(st.integers(1, 4))
@examples(20)
def test_reloads_in_the_chain(count: int) -> None:
    """So many times through the stack cost what the core says, and are named."""
    through = "".join(f"\tvmovsd %xmm0, {8 * n}(%rsp)\n\tvmovsd {8 * n}(%rsp), %xmm0\n" for n in range(count))
    a, b = entry_of(loop(SUM, line=3)), entry_of(loop(through + SUM, line=3))
    found = became(a, b)
    reloads = f"+{count} {'reload' if count == 1 else 'reloads'} on the LCD"
    (cause,) = [cause for cause in found.causes if cause.kind == "chain-memory"]
    assert cause.text.startswith(reloads)
    assert cause.cycles == pytest.approx(b.kernel.bounds.loop_carried.cycles - 4.0)
    assert cause.b == [2 * n + 1 for n in range(count)]
    assert adds_up(found)
    assert f"{count} fewer {'reload' if count == 1 else 'reloads'} on the LCD" in change(b, a, MATCH).causes[0].text


@given(st.integers(1, 6))
@examples(20)
def test_more_operations_in_the_chain(count: int) -> None:
    found = loops(SUM, "\tvmulsd %xmm1, %xmm0, %xmm0\n" * count + SUM)
    (cause,) = [cause for cause in found.causes if cause.cycles is not None]
    words = "floating-point multiplication" + "s" * (count > 1)
    assert (cause.kind, cause.text) == ("chain", f"+{count} {words} on the LCD: +{4 * count} cycles")


def test_a_slower_operation_in_the_chain() -> None:
    found = loops(SUM, "\tvdivsd (%rdi,%rax,8), %xmm0, %xmm0\n" + COUNT)
    assert texts(found)[:2] == [
        "+1 division on the LCD: +13 cycles",
        "1 fewer floating-point addition on the LCD: -4 cycles",
    ] or [cause[0] for cause in of(found)[:2]] == ["chain", "chain"]
    assert adds_up(found)


def test_the_same_work_in_several_chains() -> None:
    other = "".join(f"\tvaddsd {8 * n}(%rdi,%rax,8), %xmm{n}, %xmm{n}\n" for n in range(4))
    found = loops(SUM, other + "\taddq $4, %rax\n\tcmpq %rdx, %rax\n")
    assert (found.basis, found.work, found.cycles_a, found.cycles_b) == ("element", 4.0, 4.0, 1.0)
    assert texts(found)[0] == "more parallel chains: 0.75 fewer floating-point additions on the LCD: -3 cycles"


STREAM = "\tvmovsd (%rdi,%rax,8), %xmm1\n\tvaddsd %xmm1, %xmm2, %xmm3\n\tvmovsd %xmm3, (%rsi,%rax,8)\n" + COUNT


@given(st.integers(2, 8))
@examples(20)
def test_more_work_for_one_port(count: int) -> None:
    """Shuffles have one port on this core: what is above what limited the loop without them is theirs."""
    shuffles = "".join(f"\tvpermilpd $1, %xmm{4 + n}, %xmm{4 + n}\n" for n in range(count))
    found = loops(STREAM, shuffles + STREAM)
    whole = found.cycles_b - found.cycles_a
    ports = [cause for cause in found.causes if cause.kind == "ports" and "shuffle" in cause.text]
    assert adds_up(found)
    if count > 3:  # else the front end limits it as well
        assert ports[0].text.startswith(f"+{count} shuffles on port 5")
        assert ports[0].cycles == pytest.approx(whole, rel=0.1)
        assert ports[0].b == list(range(count))


@given(st.integers(4, 16))
@examples(20)
def test_more_to_issue(count: int) -> None:
    found = loops(STREAM, "\tnop\n" * count + STREAM)
    front = [cause for cause in found.causes if cause.kind == "front-end"]
    assert front[0].text.startswith(f"+{count} no-operations to issue")
    assert front[0].cycles == pytest.approx(count / 4, abs=0.3)
    assert adds_up(found)


def test_spills_beside_the_chain() -> None:
    """Those that cost slots or ports, but no latency."""
    spills = "".join(f"\tmovq %r{8 + n}, {64 + 8 * n}(%rsp)\n" for n in range(6))
    found = loops(STREAM, spills + STREAM)
    assert of(found)[0][0] == "spills"
    assert found.causes[0].text.startswith("+6 spills on port 4: +")
    assert adds_up(found)
    hidden = loops(SUM, "\tvmovsd %xmm5, 8(%rsp)\n\tvmovsd 16(%rsp), %xmm7\n" + SUM)
    assert hidden.outcome == "equal"
    assert texts(hidden) == ["+1 spill", "+1 reload"]


def test_what_computes_with_a_reload_is_no_reload_where_it_computes() -> None:
    """A folded reload takes a load port, and no slot of its own; ports and slots of the sum are those of a sum."""
    folded = "".join(f"\tvaddsd {64 + 8 * n}(%rsp), %xmm1, %xmm{2 + n}\n" for n in range(8))
    folded += "".join(f"\tvaddsd %xmm1, %xmm{10 + n}, %xmm{10 + n}\n" for n in range(4))
    found = loops(COUNT, folded + COUNT)
    assert found.causes[0].text.startswith("+12 floating-point additions on ports 0 and 1: +")
    assert not any("reload" in cause.text and cause.cycles for cause in found.causes)
    assert adds_up(found)
    # All of their slots are the divisions', but one for each of those that load beside it.
    found = loops(COUNT, "\tidivl 8(%rsp)\n" + COUNT)
    assert all(abs(cause.cycles or 0.0) <= 0.5 for cause in found.causes if "reload" in cause.text)
    # The address and the data of one spill are two µops.
    spills = "".join(f"\tmovq %r{8 + n}, {64 + 8 * n}(%rsp)\n" for n in range(6))
    for found in (loops(STREAM, spills + STREAM), loops(COUNT, spills + COUNT)):
        assert any(text.startswith("+6 spills") for text in texts(found))


def test_unrolled_is_not_said_where_nobody_knows() -> None:
    """Operations that are packed within an iteration leave it an iteration."""
    scalar = (
        "\tvaddsd (%rdi,%rax,8), %xmm1, %xmm2\n\tvaddsd 8(%rdi,%rax,8), %xmm1, %xmm3\n\tvmulsd %xmm3, %xmm2, %xmm4\n"
    )
    mixed = "\tvaddpd (%rdi,%rax,8), %xmm1, %xmm2\n\tvmulsd %xmm3, %xmm2, %xmm4\n"
    found = loops(scalar + COUNT, mixed + COUNT)
    assert ("unrolled", None) not in of(found)
    found = loops(SUM, "\tvaddsd 8(%rdi,%rax,8), %xmm0, %xmm0\n" + SUM.replace("incq %rax", "addq $2, %rax"))
    assert "unroll factor ×2" in texts(found)


def test_changes_in_sentences_are_those_of_the_table() -> None:
    from incc.report.wording import relative

    found = became(make_entry(cycles=1.0), make_entry(cycles=9.09, texts=("vdivsd %xmm0, %xmm1, %xmm1",)))
    assert "(×9.09)" in found.text
    found = became(make_entry(cycles=6.306), make_entry(cycles=6.4, texts=("vdivsd %xmm0, %xmm1, %xmm1",)))
    assert "(+1.5 %)" in found.text
    assert (relative(1e300), relative(1e-300), relative(2.0), relative(0.5)) == ("×1e+300", "÷1e+300", "×2.00", "÷2.00")


def test_what_is_lost_above_the_bounds_is_said_by_what_takes_it() -> None:
    """As the report says it: the microcode of a division keeps the front end from delivering."""
    found = loops(COUNT, "\tcltd\n\tidivl %ecx\n" + COUNT.replace("rdx", "rsi"))
    assert adds_up(found)
    assert not any("simulation" in text for text in texts(found))


def test_a_report_that_contradicts_itself_is_no_accident() -> None:
    longer = "\tvaddsd %xmm1, %xmm0, %xmm0\n" + SUM
    a, b = entry_of(loop(SUM, line=3)), entry_of(loop(longer, line=3))
    for chain in b.kernel.chains:
        force_setattr(chain, "instructions", [10**6])
        for step in chain.steps:
            force_setattr(step, "to", 10**6)
    assert became(a, b).outcome == "slower"


def test_the_divider() -> None:
    divide = STREAM.replace("vaddsd", "vdivsd")
    found = loops(STREAM, divide)
    assert of(found)[0][0] == "divider"
    assert found.causes[0].text.startswith("+1 division on the divider of port 0")
    wide = loops(divide.replace("sd", "pd"), divide)
    assert wide.basis == "element"


PACKED = (
    "\tvmovupd (%rdi,%rax,8), %ymm1\n\tvaddpd %ymm1, %ymm2, %ymm3\n\tvmovupd %ymm3, (%rsi,%rax,8)\n"
    "\taddq $4, %rax\n\tcmpq %rdx, %rax\n"
)


def test_vectors() -> None:
    found = loops(STREAM, PACKED)
    assert found.causes[0].kind == "vectorised"
    assert found.causes[0].text.startswith("256-bit vectors instead of scalar code: -")
    assert adds_up(found)
    assert loops(PACKED, STREAM).causes[0].text.startswith("scalar code instead of 256-bit vectors: +")


def test_wider_vectors() -> None:
    wide = PACKED.replace("ymm", "zmm").replace("$4", "$8")
    found = loops(PACKED, wide)
    assert found.causes[0].kind == "vector-width"
    assert found.causes[0].text.startswith("512-bit vectors instead of 256-bit vectors: -")
    assert adds_up(found)


def test_vectors_that_explain_nothing() -> None:
    """A sum in order takes as long with vectors: they are mentioned, without cycles."""
    found = loops(SUM, SUM)
    assert found.causes == []
    added = "\tvaddsd %xmm1, %xmm0, %xmm0\n\tvunpckhpd %xmm1, %xmm1, %xmm2\n\tvaddsd %xmm2, %xmm0, %xmm0\n"
    packed = (
        f"\tvmovupd (%rdi,%rax,8), %xmm1\n\tvaddpd %xmm1, %xmm5, %xmm1\n{added}\taddq $2, %rax\n\tcmpq %rdx, %rax\n"
    )
    found = loops(SUM, packed + COUNT.removeprefix("\tincq %rax\n"))
    assert found.outcome == "equal"
    assert ("vectorised", None) in of(found)


def test_unrolled() -> None:
    """Loop overhead shared by twice as many elements."""
    body = STREAM.removesuffix(COUNT)
    twice = body + body.replace("(%rdi", "8(%rdi").replace("(%rsi", "8(%rsi")
    found = loops(STREAM, twice + "\taddq $2, %rax\n\tcmpq %rdx, %rax\n")
    assert found.outcome == "faster"
    assert any(kind == "unrolled" for kind, _ in of(found))
    assert adds_up(found)


def test_a_branch_inside() -> None:
    found = loops(STREAM, "\ttestq %rbx, %rbx\n\tje .L9\n" + STREAM)
    assert any(cause.kind == "branches" and "+1 branch inside" in cause.text for cause in found.causes)


INSTRUCTIONS = st.sampled_from(
    [
        "vaddsd (%rdi,%rax,8), %xmm0, %xmm0",
        "vmulsd %xmm1, %xmm0, %xmm0",
        "vmovsd %xmm0, 8(%rsp)",
        "vmovsd 8(%rsp), %xmm0",
        "vmovupd (%rdi,%rax,8), %ymm4",
        "vmovupd %ymm4, (%rsi,%rax,8)",
        "vpermilpd $1, %ymm4, %ymm5",
        "vdivsd %xmm6, %xmm7, %xmm8",
        "leaq (%rcx,%rcx,2), %rbx",
        "movq %rbx, %rcx",
        "nop",
    ]
)
BODIES = st.lists(INSTRUCTIONS, min_size=1, max_size=10).map(lambda body: "".join(f"\t{i}\n" for i in body) + COUNT)


@given(BODIES, BODIES)
@examples(60)
def test_causes_add_up(a: str, b: str) -> None:
    found = loops(a, b)
    if found.outcome in ("faster", "slower"):
        assert adds_up(found)
        for cause in found.causes:
            assert cause.cycles is None or abs(cause.cycles) > 0
    n = [a.count("\n") + 1, b.count("\n") + 1]
    for cause in found.causes:
        assert all(i < n[0] for i in cause.a)
        assert all(i < n[1] for i in cause.b)


@given(st.sampled_from([0.25, 1.0, 3.0]), st.integers(2, 8))
@examples(20)
def test_as_much_more_work_in_as_much_more_time_is_no_change(elements: float, times: int) -> None:
    a = make_entry(cycles=4.0, elements=elements)
    found = became(a, make_entry(cycles=4.0 * times, elements=elements * times, texts=("nop",)))
    assert (found.outcome, found.basis, found.work) == ("equal", "element", pytest.approx(times))
