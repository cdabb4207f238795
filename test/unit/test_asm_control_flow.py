"""Control flow: branches, blocks, jump tables, dominators and loops."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import networkx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incc.driver.pipeline import kernel_places
from incc.frontends.asm import graph as graph_module
from incc.frontends.asm.control_flow import control_flow
from incc.frontends.asm.graph import ControlFlow, NaturalLoop, dominators, loops
from incc.frontends.asm.parse import Assembly, parse
from incc.frontends.asm.regions import innermost_loops
from incc.frontends.isa import isa
from properties import examples


@pytest.mark.parametrize(
    ("text", "kind", "target"),
    [
        ("jne .L3", "conditional", ".L3"),
        ("jne,pn .L3", "conditional", ".L3"),
        ("JB ..B1.2", "conditional", "..B1.2"),
        ("loopne 1b", "conditional", "1b"),
        ("jrcxz .L1", "conditional", ".L1"),
        ("jmp .L4", "unconditional", ".L4"),
        ("jmp SHORT .L4", "unconditional", ".L4"),
        ("bnd jmp foo@PLT", "unconditional", "foo"),
        ("{disp32} jmp foo", "unconditional", "foo"),
        ('jmp "operator new"', "unconditional", "operator new"),
        ("jmp *%rax", "indirect", ""),
        ("notrack jmp *%rax", "indirect", ""),
        ("jmpq *.L4(,%rax,8)", "indirect", ""),
        ("jmp rax", "indirect", ""),
        ("jmp [QWORD PTR .L4[0+rax*8]]", "indirect", ""),
        ("call foo@PLT", "call", "foo"),
        ("callq *8(%rax)", "call", ""),
        ("call [QWORD PTR [rax]]", "call", ""),
        ("ret", "return", ""),
        ("rep ret", "return", ""),
        ("repz retq", "return", ""),
        ("ud2", "stop", ""),
        ("rep movsb", "", ""),
        ("lock incl (%rax)", "", ""),
        ("cmovne %eax, %ebx", "", ""),
        ("jmpfoo", "", ""),
    ],
)
def test_branches_of_x86(text: str, kind: str, target: str) -> None:
    assert isa("x86").branch(text) == (kind, target)


@pytest.mark.parametrize(
    ("text", "kind", "target"),
    [
        ("b .L3", "unconditional", ".L3"),
        ("b.ne .L3", "conditional", ".L3"),
        ("bne .L3", "conditional", ".L3"),
        ("b.first .L3", "conditional", ".L3"),
        ("cbz w0, .L3", "conditional", ".L3"),
        ("tbnz x1, #3, .L3", "conditional", ".L3"),
        ("bl printf", "call", "printf"),
        ("blr x8", "call", ""),
        ("br x8", "indirect", ""),
        ("ret", "return", ""),
        ("bic x0, x1, x2", "", ""),
    ],
)
def test_branches_of_aarch64(text: str, kind: str, target: str) -> None:
    assert isa("aarch64").branch(text) == (kind, target)


def blocks(graph: ControlFlow, assembly: Assembly) -> list[tuple[list[int], tuple[int, ...], int]]:
    return [([assembly.statements[i].line for i in b.instructions], b.taken, b.fall) for b in graph.blocks]


def graph_of(text: str) -> tuple[ControlFlow, Assembly]:
    assembly = parse(text)
    (graph,) = control_flow(assembly)
    return graph, assembly


def test_blocks_and_edges() -> None:
    graph, assembly = graph_of(
        "f: test %edi, %edi\n je .L2\n.L3: dec %edi\n call g\n jne .L3\n.L2: ret\n nop\n jmp other\n"
    )
    assert blocks(graph, assembly) == [
        ([1, 2], (2,), 1),
        ([3, 4, 5], (1,), 2),
        ([6], (), -1),
        ([7, 8], (), -1),  # not reached, but kept
    ]
    assert [b.label for b in graph.blocks] == ["f", ".L3", ".L2", ""]


def test_numeric_labels_mean_the_nearest() -> None:
    graph, assembly = graph_of("1: nop\n1: dec %eax\n jne 1b\n jmp 1f\n1: ret\n")
    assert blocks(graph, assembly) == [([1], (), 1), ([2, 3], (1,), 2), ([4], (3,), -1), ([5], (), -1)]


def test_labels_that_nothing_jumps_to_split_no_block() -> None:
    graph, _ = graph_of("f: nop\n.LVL1: nop\n.LBB3: ret\n")
    assert len(graph.blocks) == 1


def test_control_does_not_return_from_abort() -> None:
    for callee in ("abort", "abort@PLT", "_ZSt17__throw_bad_allocv", "_gfortran_stop_string", "__stack_chk_fail"):
        graph, assembly = graph_of(f"f: je .L1\n call {callee}\n.L1: ret\n")
        assert blocks(graph, assembly)[1] == ([2], (), -1), callee
    graph, assembly = graph_of("f: je .L1\n call g\n.L1: ret\n")
    assert blocks(graph, assembly)[1] == ([2], (), 2)


def test_alias_of_a_label() -> None:
    graph, _ = graph_of(".set again, .L1\nf: nop\n.L1: dec %eax\n jne again\n ret\n")
    assert graph.blocks[1].taken == (1,)


def test_tail_calls_leave() -> None:
    graphs = control_flow(parse(".type f,@function\n.type g,@function\nf: je g\n jmp g\n.size f,.-f\ng: ret\n"))
    assert [g.name for g in graphs] == ["f", "g"]
    assert graphs[0].blocks[0].successors == (1,)
    assert graphs[0].blocks[1].successors == ()


def test_a_function_and_its_cold_part_are_one_graph() -> None:
    text = (
        ".text\n.type f,@function\nf: nop\n.L2: dec %eax\n js .L5\n.L3: jne .L2\n ret\n.section .text.unlikely\n"
        ".type f.cold,@function\nf.cold:\n.L5: neg %eax\n jmp .L3\n.text\n.size f,.-f\n"
    )
    assembly = parse(text)
    (graph,) = control_flow(assembly)
    assert graph.name == "f"
    assert graph.functions == ("f", "f", "f", "f", "f.cold")
    assert graph.entries == (0,)
    (loop,), irreducible = loops([b.successors for b in graph.blocks], graph.entries)
    assert loop.body == {1, 2, 4}
    assert not irreducible


@pytest.mark.parametrize(
    ("jump", "entry"),
    [
        (" jmp *.L4(,%rax,8)\n", ".quad {}"),
        (" leaq .L4(%rip), %rdx\n movslq (%rdx,%rax,4), %rax\n addq %rdx, %rax\n notrack jmp *%rax\n", ".long {}-.L4"),
        (" lea rdx, .L4[rip]\n movsx rax, DWORD PTR [rdx+rax*4]\n add rax, rdx\n jmp rax\n", ".long {}-.L4"),
        (" jmp [QWORD PTR .L4[0+rax*8]]\n", ".quad {}"),
    ],
)
def test_jump_tables(jump: str, entry: str) -> None:
    table = "".join(f"\t{entry.format(t)}\n" for t in (".L1", ".L2", ".L1"))
    text = f"f:\n{jump}\t.section .rodata\n\t.align 4\n.L4:\n{table}\t.text\n.L1: nop\n.L2: jmp .L1\n"
    graph, _ = graph_of(text)
    assert graph.blocks[0].taken == (1, 2)


def test_jump_table_of_aarch64() -> None:
    graph, _ = graph_of(
        "f: adrp x0, .L4\n add x0, x0, :lo12:.L4\n ldrb w0, [x0, w1, uxtw]\n adr x1, .Lrtx4\n add x0, x1, w0, sxtb #2\n"
        " br x0\n.Lrtx4:\n.section .rodata\n.L4: .byte (.L1 - .Lrtx4) / 4\n .byte (.L2 - .Lrtx4) / 4\n.text\n"
        ".L1: nop\n.L2: ret\n"
    )
    assert graph.blocks[0].taken == (1, 2)


def test_hoisted_table_and_computed_goto() -> None:
    hoisted = (
        "f: leaq .LJTI0_0(%rip), %rcx\n.L0: movslq (%rcx,%rax,4), %rdx\n addq %rcx, %rdx\n jmpq *%rdx\n.L1: jmp .L0\n"
        ".L2: ret\n.section .rodata\n.LJTI0_0:\n .long .L1-.LJTI0_0\n .long .L2-.LJTI0_0\n"
    )
    graph, _ = graph_of(hoisted)
    assert graph.blocks[1].taken == (2, 3)
    address_taken = "f: leaq .L1(%rip), %rax\n cmove %rbx, %rax\n jmp *%rax\n nop\n.L1: ret\n"
    graph, _ = graph_of(address_taken)
    assert graph.blocks[0].taken == (2,)


def test_indirect_tail_call_goes_nowhere() -> None:
    text = "f:\n.L10$pb: leaq .L10$pb(%rip), %rbx\n movabsq $_GLOBAL_OFFSET_TABLE_-.L10$pb, %rax\n jmp *%rax\n"
    graph, _ = graph_of(text)
    assert [b.successors for b in graph.blocks] == [()]


def test_only_wanted_functions() -> None:
    assembly = parse(".type f,@function\n.type g,@function\nf: ret\n.size f,.-f\ng: ret\n")
    assert [g.name for g in control_flow(assembly, lambda name: name == "g")] == ["g"]


# --- graphs ----------------------------------------------------------------------------------------------------------


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    n = draw(st.integers(1, 14))
    return [draw(st.lists(st.integers(0, n - 1), max_size=3, unique=True)) for _ in range(n)]


def networkx_graph(successors: list[list[int]]) -> networkx.DiGraph:
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(successors)))
    graph.add_edges_from((u, v) for u, vs in enumerate(successors) for v in vs)
    return graph


def dominates(immediate: dict[int, int], a: int, b: int) -> bool:
    while True:
        if a == b:
            return True
        if b not in immediate or immediate[b] in (None, b):
            return False
        b = immediate[b]


@given(graphs())
def test_dominators_are_those_of_networkx(successors: list[list[int]]) -> None:
    expected = networkx.immediate_dominators(networkx_graph(successors), 0)
    found = dominators(successors, 0)
    assert {i: d for i, d in enumerate(found) if d >= 0 and i != 0} == {k: v for k, v in expected.items() if k != 0}


@given(graphs())
@example([[2, 4], [0, 3], [0, 4], [0, 7, 1], [9], [3, 0, 1], [], [2, 4], [], [5]])
def test_loops_are_those_of_the_definition(successors: list[list[int]]) -> None:
    graph = networkx_graph(successors)
    reachable = graph.subgraph({0} | networkx.descendants(graph, 0))
    immediate = networkx.immediate_dominators(reachable, 0)
    expected: dict[int, set[int]] = {}
    for latch, header in reachable.edges:
        if dominates(immediate, header, latch):
            without = reachable.subgraph(set(reachable) - {header})
            body = {header, latch} | (networkx.ancestors(without, latch) if latch != header else set())
            expected[header] = expected.get(header, set()) | body
    natural, irreducible = loops(successors, [0])
    assert {loop.header: set(loop.body) for loop in natural if loop.header in reachable} == expected

    rest = networkx.DiGraph(reachable)
    rest.remove_edges_from([(u, v) for u, v in reachable.edges if dominates(immediate, v, u)])
    cycles = {frozenset(c) for c in networkx.strongly_connected_components(rest) if len(c) > 1}
    # Those of parts of it are inside natural loops.
    found = {c.nodes for c in irreducible if c.nodes <= set(reachable)}
    assert cycles <= found
    assert all(any(c < loop.body for loop in natural) for c in found - cycles)

    for loop in natural:
        if loop.innermost and loop.header in reachable:
            inside = networkx.DiGraph(graph.subgraph(loop.body))
            inside.remove_edges_from([(latch, loop.header) for latch in loop.latches])
            assert networkx.is_directed_acyclic_graph(inside)


@given(graphs())
def test_every_cycle_is_reported(successors: list[list[int]]) -> None:
    natural, irreducible = loops(successors, [0])
    found = [set(loop.body) for loop in natural] + [set(c.nodes) for c in irreducible]
    graph = networkx_graph(successors)
    for component in networkx.strongly_connected_components(graph):
        if len(component) > 1 or any(n in successors[n] for n in component):
            assert any(body & component for body in found)
    assert any(loop.innermost for loop in natural) or any(c.innermost for c in irreducible) or not found


@given(graphs())
@example([[3, 1], [3], [3, 2], [2, 1, 3]])
def test_parts_of_loops_and_irreducible_loops_have_one_header(successors: list[list[int]]) -> None:
    natural, irreducible = loops(successors, [0])
    inner = {loop.header for loop in natural}.union(*(cycle.nodes for cycle in irreducible))
    graph = networkx_graph(successors)

    def leads_back(loop: NaturalLoop) -> bool:
        inside = networkx.DiGraph(graph.subgraph(loop.body))
        inside.remove_edges_from([(u, loop.header) for u in loop.body])
        ways = networkx.is_directed_acyclic_graph(inside)
        return ways and all(loop.latches and loop.body & set(successors[node]) for node in loop.body)

    for loop in natural:
        part = graph_module.without_inner(successors, loop, inner)
        if part is not None:
            assert part.body <= loop.body
            assert part.body & inner == {loop.header}
            assert leads_back(part)
    for cycle in irreducible:
        entered = graph_module.with_header(successors, cycle)
        common = [
            node for node in cycle.nodes if networkx.is_directed_acyclic_graph(graph.subgraph(cycle.nodes - {node}))
        ]
        assert (entered is not None) == bool(common and cycle.innermost)
        if entered is not None:
            assert entered.header == min(common, key=lambda node: (node not in cycle.entries, node))
            assert leads_back(entered)


@given(graphs(), st.integers(0, 9))
def test_nodes_on_each_round_are_those_without_which_no_cycle_is_left(successors: list[list[int]], start: int) -> None:
    n = len(successors)
    round_trip = [list(dict.fromkeys([*following, (u + 1) % n])) for u, following in enumerate(successors)]
    graph = networkx_graph(round_trip)
    expected = [u for u in graph if networkx.is_directed_acyclic_graph(graph.subgraph(set(graph) - {u}))]
    assert sorted(graph_module._on_each_round(round_trip, start % n)) == expected


def steps_of(work: Callable[[], object]) -> int:
    """Return the number of lines of Python that some work takes."""
    count = 0

    def trace(frame: object, event: str, argument: object) -> Callable[..., object]:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


GROWING: dict[str, Callable[[int], list[str]]] = {
    "rounds without a common block": lambda n: [
        f"je .L{n // 2}", *[f".L{i}: nop; je .L{(i + 2) % n}" for i in range(n)], "jmp .L0"
    ],
    "many irreducible cycles": lambda n: [f"je .B{i}; .A{i}: nop; .B{i}: nop; jne .A{i}" for i in range(n)],
    "no line of the source for the first half": lambda n: [
        '.file 1 "a.c"', *["je .Z; nop"] * n, ".loc 1 4", *[f".A{i}: nop; jne .A{i}" for i in range(n)], ".Z:"
    ],
}  # fmt: skip


@pytest.mark.parametrize("shape", GROWING)
def test_finding_loops_takes_time_in_proportion_to_the_code(shape: str) -> None:
    texts = ["f: " + "\n".join([*GROWING[shape](n), "ret\n"]) for n in (100, 200)]
    small, large = (steps_of(partial(innermost_loops, parse(text))) for text in texts)
    assert large < 2.5 * small


def test_places_of_kernels_take_time_in_proportion_to_the_code() -> None:
    """Loops that are inlined from another file, in a function with one line of its own file."""
    head = '\t.file 1 "a.c"\n\t.file 2 "b.h"\nf:\n\t.loc 1 1 1\n\tnop\n\t.loc 2 9 3\n'

    def work(loops: int) -> Callable[[], object]:
        text = head + "".join(f".A{n}:\n\tnop\n\tjne .A{n}\n" for n in range(loops))
        parsed = parse(text)
        kernels: list[Any] = [SimpleNamespace(region=region) for region in innermost_loops(parsed)[0]]
        selection: Any = SimpleNamespace(places=())
        places = kernel_places(parsed, selection, kernels, text)
        assert {str(place.near) for place in places} == {"a.c:1"}
        assert {*places[0].columns.values()} == {(9, 3)}
        return partial(kernel_places, parsed, selection, kernels, text)

    small, large = steps_of(work(100)), steps_of(work(200))
    assert large < 2.5 * small


@examples(30)
@given(st.integers(1, 6), st.integers(1, 6))
def test_nesting_depth(depth: int, length: int) -> None:
    # depth loops around each other, each with `length` nodes before the inner one, latch behind it.
    successors: list[list[int]] = []
    headers = []
    for _ in range(depth):
        headers.append(len(successors))
        for _ in range(length):
            successors.append([len(successors) + 1])
    for header in reversed(headers):
        successors.append([header, len(successors) + 1])
    successors.append([])
    natural, irreducible = loops(successors, [0])
    assert [loop.depth for loop in natural] == list(range(1, depth + 1))
    assert [loop.innermost for loop in natural] == [False] * (depth - 1) + [True]
    assert not irreducible


def test_a_landing_pad_does_not_spoil_a_loop() -> None:
    # 0 -> 1 -> 2 -> 1; 4 (reached by the unwinder only) -> 2
    natural, irreducible = loops([[1], [2], [1, 3], [], [2]], [0])
    assert [(loop.header, set(loop.body)) for loop in natural] == [(1, {1, 2})]
    assert not irreducible


def test_unreachable_loops_are_found() -> None:
    natural, _ = loops([[], [2], [1, 3], []], [0])
    assert [(loop.header, set(loop.body)) for loop in natural] == [(1, {1, 2})]


def test_components_of_a_long_chain_need_no_recursion() -> None:
    n = 50_000
    natural, irreducible = loops([*([i + 1] for i in range(n)), [0]], [0])
    assert len(natural) == 1
    assert not irreducible
    assert graph_module.reverse_postorder([[1], []], 0) == [0, 1]
