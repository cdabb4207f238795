"""Control-flow graphs of functions: basic blocks and edges, dominators, natural loops, irreducible cycles.

They are made of instructions and jumps between them; whether these come from text or from machine code does not matter.
Instructions are numbered, in the order in which they lie. The graph algorithms take plain successor lists, so they can
be used and tested without any code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from incc.frontends.isa import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# Functions of the C, C++ and Fortran run-time libraries that never come back: what follows a call to one is not
# reached from there.
_NO_RETURN = frozenset(
    words(
        "abort exit _exit _Exit quick_exit pthread_exit longjmp _longjmp siglongjmp __longjmp_chk __stack_chk_fail"
        " __stack_chk_fail_local __chk_fail __fortify_fail __assert_fail __assert_perror_fail __assert __assert_rtn"
        " __cxa_throw __cxa_rethrow __cxa_bad_cast __cxa_bad_typeid __cxa_throw_bad_array_new_length __cxa_pure_virtual"
        " __cxa_call_unexpected __cxa_call_terminate __clang_call_terminate _Unwind_Resume _Unwind_Resume_or_Rethrow"
        " _ZSt9terminatev _ZSt10unexpectedv _gfortran_stop_numeric _gfortran_stop_string _gfortran_error_stop_numeric"
        " _gfortran_error_stop_string _gfortran_runtime_error _gfortran_runtime_error_at _gfortran_os_error"
        " _gfortran_os_error_at for_stop_core"
    )
)


def returns(function: str) -> bool:
    """Whether a call to the function of that name can come back; True if nothing is known about it."""
    if function.startswith("_Z"):
        # std::__throw_length_error and its like.
        return "__throw_" not in function and function not in _NO_RETURN
    return function not in _NO_RETURN


# --- what a graph is made of -----------------------------------------------------------------------------------------


class Jump(msgspec.Struct, frozen=True, kw_only=True):
    """A control transfer: the number of its instruction, its kind, and the numbers of those that it may go to.

    `kind` is "conditional", "unconditional", "indirect", "return" or "stop" (a trap, or a call that does not come
    back); calls that come back are none. `calls` are the targets at which another function begins: a tail call does
    not make two functions one graph.
    """

    at: int
    kind: str
    targets: tuple[int, ...]
    calls: tuple[int, ...] = ()


class Routine(msgspec.Struct, frozen=True, kw_only=True):
    """A function: its name, section, the numbers of its instructions, ascending, and its jumps in their order."""

    name: str
    section: str
    instructions: Sequence[int]
    jumps: Sequence[Jump]


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A basic block: the numbers of its instructions, and where control goes at its end.

    `label` is the label at its start that is jumped to (else any), "" if there is none. `branch` is the kind of its
    last instruction (see `Jump`, "" for none), `taken` the blocks that it jumps to and `fall` the block behind it if
    control can run into that, else -1.
    """

    label: str
    instructions: tuple[int, ...]
    branch: str
    taken: tuple[int, ...]
    fall: int

    @property
    def successors(self) -> tuple[int, ...]:
        return self.taken if self.fall < 0 or self.fall in self.taken else (self.fall, *self.taken)


class ControlFlow(msgspec.Struct, frozen=True, kw_only=True):
    """The control-flow graph of a function together with its cold part and whatever else it jumps into.

    Blocks are in the order of the code; `functions[i]` is the name of the function in which block i stands. `entries`
    are the blocks at which the function can be called.
    """

    name: str
    blocks: tuple[Block, ...]
    functions: tuple[str, ...]
    entries: tuple[int, ...]


def hot_part(name: str) -> str:
    """The function of which `name` is the cold part, else "": `f` for `f.cold`, from older gcc also `f.cold.3`."""
    hot, cold, number = name.rpartition(".cold")
    return hot if cold and (not number or number[1:].isdigit()) else ""


def group(routines: Sequence[Routine], owner: Callable[[int], int]) -> list[list[int]]:
    """Which functions belong together, since one jumps into another (`f` and `f.cold`), as ascending lists of their
    numbers. `owner` says in which function an instruction is, -1 for none."""
    parent = list(range(len(routines)))

    def find(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for number, routine in enumerate(routines):
        for jump in routine.jumps:
            for target in jump.targets:
                other = owner(target)
                if other >= 0 and other != number and target not in jump.calls:
                    parent[find(other)] = find(number)
    groups: dict[int, list[int]] = {}
    for number in range(len(parent)):
        groups.setdefault(find(number), []).append(number)
    return sorted(groups.values())


def main_name(routines: Sequence[Routine], members: Sequence[int]) -> str:
    """The name of a group of functions: of the first that is not a cold part, or else has a name at all."""
    names = [routines[n].name for n in members]
    return next((n for n in names if n and not hot_part(n)), next((n for n in names if n), ""))


def build(routines: Sequence[Routine], members: Sequence[int], label: Callable[[int], str]) -> ControlFlow:
    """The graph of a group of functions; `label` says what stands before the instruction that begins a block."""
    jumps = {jump.at: jump for number in members for jump in routines[number].jumps}
    leaders = {target for jump in jumps.values() for target in jump.targets}
    bodies: list[list[int]] = []
    functions: list[str] = []
    block_at: dict[int, int] = {}
    segment_of: list[int] = []
    entries: list[int] = []
    for number in members:
        routine = routines[number]
        if routine.instructions and not hot_part(routine.name):
            entries.append(len(bodies))
        body: list[int] = []
        fresh = True  # the next instruction starts a block
        for i in routine.instructions:
            if fresh or i in leaders:
                block_at[i] = len(bodies)
                body = []
                bodies.append(body)
                functions.append(routine.name)
                segment_of.append(number)
            body.append(i)
            fresh = i in jumps

    group_members = set(members)
    blocks: list[Block] = []
    for b, body in enumerate(bodies):
        last = jumps.get(body[-1])
        kind = last.kind if last else ""
        taken: tuple[int, ...] = ()
        if last:
            taken = tuple(dict.fromkeys([block_at[t] for t in last.targets if t in block_at]))
        fall = -1
        if kind in ("", "conditional") and b + 1 < len(bodies):
            here, there = segment_of[b], segment_of[b + 1]
            if here == there or _adjacent(routines, here, there, group_members):
                fall = b + 1
        blocks.append(Block(label=label(body[0]), instructions=tuple(body), branch=kind, taken=taken, fall=fall))
    name = main_name(routines, members)
    return ControlFlow(
        name=name, blocks=tuple(blocks), functions=tuple(functions), entries=tuple(entries or ([0] if blocks else []))
    )


def _adjacent(routines: Sequence[Routine], here: int, there: int, members: set[int]) -> bool:
    """Whether control that runs over the end of one function enters another one of the same group."""
    section = routines[here].section
    for number in range(here + 1, there + 1):
        if routines[number].section == section:
            return number == there and number in members
    return False


# --- graphs ----------------------------------------------------------------------------------------------------------


class Loop(msgspec.Struct, frozen=True, kw_only=True):
    """A natural loop: all cycles through `header` over edges from `latches`, which the header dominates.

    `depth` is 1 for an outermost loop; `innermost` says that no other cycle lies inside.
    """

    header: int
    body: frozenset[int]
    latches: tuple[int, ...]
    depth: int
    innermost: bool


class IrreducibleCycle(msgspec.Struct, frozen=True):
    """Nodes that reach each other, without a node among them that dominates the others; `entries` are those at which it
    is entered."""

    nodes: frozenset[int]
    entries: tuple[int, ...]
    innermost: bool


def reverse_postorder(successors: Sequence[Iterable[int]], entry: int) -> list[int]:
    """The nodes reachable from `entry`, each before its successors except along retreating edges."""
    seen = {entry}
    order: list[int] = []
    stack = [(entry, iter(successors[entry]))]
    while stack:
        node, rest = stack[-1]
        for successor in rest:
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(successors[successor])))
                break
        else:
            order.append(node)
            stack.pop()
    order.reverse()
    return order


def dominators(successors: Sequence[Iterable[int]], entry: int) -> list[int]:
    """The immediate dominator of each node; the entry's is itself, that of an unreachable node -1.

    Cooper, Harvey, Kennedy, “A Simple, Fast Dominance Algorithm” (2001).
    """
    order = reverse_postorder(successors, entry)
    return _dominators(successors, order)


def _dominators(successors: Sequence[Iterable[int]], order: list[int]) -> list[int]:
    number = {node: i for i, node in enumerate(order)}
    predecessors: list[list[int]] = [[] for _ in order]
    for i, node in enumerate(order):
        for successor in successors[node]:
            predecessors[number[successor]].append(i)
    immediate = [-1] * len(order)
    immediate[0] = 0
    changed = True
    while changed:
        changed = False
        for i in range(1, len(order)):
            new = -1
            for p in predecessors[i]:
                if immediate[p] < 0:
                    continue
                if new < 0:
                    new = p
                    continue
                a, b = p, new
                while a != b:
                    while a > b:
                        a = immediate[a]
                    while b > a:
                        b = immediate[b]
                new = a
            if immediate[i] != new:
                immediate[i] = new
                changed = True
    result = [-1] * len(successors)
    for i, node in enumerate(order):
        result[node] = order[immediate[i]]
    return result


def loops(successors: Sequence[Sequence[int]], entries: Sequence[int]) -> tuple[list[Loop], list[IrreducibleCycle]]:
    """The natural loops and the irreducible cycles of a graph, ordered by header and by first node.

    Nodes that no path from `entries` reaches (landing pads of exceptions, code behind unresolved jumps) are looked at
    on their own, so that an edge from there into a loop does not spoil it.
    """
    n = len(successors)
    # Without an edge that goes backward in the order of the text there is no cycle: true of most functions.
    if all(t > node for node in range(n) for t in successors[node]):
        return [], []
    found: dict[int, tuple[set[int], list[int]]] = {}
    irregular: list[tuple[set[int], list[int]]] = []
    left = set(range(n))
    for from_entries in (True, False):  # what is reached from there, then the rest
        graph: list[list[int]] = [[t for t in successors[i] if t in left] if i in left else [] for i in range(n)]
        roots = list(entries) if from_entries else _sources(graph, left)
        graph.append(roots)  # a virtual entry
        order = reverse_postorder(graph, n)
        _cycles(graph, order, found, irregular)
        left.difference_update(order)

    if irregular:
        _cycles_inside(successors, found, irregular)
    depth = [0] * n
    for body, _ in found.values():
        for node in body:
            depth[node] += 1
    for nodes, _ in irregular:
        for node in nodes:
            depth[node] += 1
    # Natural loops with different headers are nested or disjoint, so a loop has another inside iff its header.
    natural = [
        Loop(
            header=header,
            body=frozenset(body),
            latches=tuple(sorted(latches)),
            depth=depth[header],
            innermost=not any(node != header and node in found for node in body)
            and not any(nodes <= body for nodes, _ in irregular),
        )
        for header, (body, latches) in sorted(found.items())
    ]
    irreducible = [
        IrreducibleCycle(frozenset(nodes), tuple(sorted(ins)), not any(body <= nodes for body, _ in found.values()))
        for nodes, ins in sorted(irregular, key=lambda cycle: min(cycle[0]))
    ]
    return natural, irreducible


def _cycles_inside(
    successors: Sequence[Sequence[int]],
    found: dict[int, tuple[set[int], list[int]]],
    irregular: list[tuple[set[int], list[int]]],
) -> None:
    """Add the cycles without a header that lie inside natural loops and are parts of larger ones around those."""
    known = [nodes for nodes, _ in irregular]
    for header, (body, _) in found.items():
        if any(node != header and node in found for node in body):
            continue
        inside = {u: [v for v in successors[u] if v in body and v != header] for u in body}
        for component in _components(inside, sorted(body)):
            if len(component) > 1 and component not in known:
                ins = {v for u in body - component for v in inside[u] if v in component}
                irregular.append((component, sorted(ins)))


def _sources(graph: list[list[int]], nodes: set[int]) -> list[int]:
    """Nodes from which all `nodes` can be reached: the first of each component that no other component leads to."""
    components = _components(graph, sorted(nodes))
    number = {node: i for i, component in enumerate(components) for node in component}
    inner = {number[v] for u in nodes for v in graph[u] if number[u] != number[v]}
    return sorted(min(component) for i, component in enumerate(components) if i not in inner)


def _cycles(
    graph: list[list[int]],
    order: list[int],
    found: dict[int, tuple[set[int], list[int]]],
    irregular: list[tuple[set[int], list[int]]],
) -> None:
    """Add the natural loops and irreducible cycles of the part of a graph that `order` (reverse postorder) covers."""
    number = {node: i for i, node in enumerate(order)}
    retreating = [(u, v) for u in order for v in graph[u] if number[v] <= number[u]]
    if not retreating:
        return
    immediate = _dominators(graph, order)
    predecessors: dict[int, list[int]] = {node: [] for node in order}
    for u in order:
        for v in graph[u]:
            predecessors[v].append(u)

    back: set[tuple[int, int]] = set()
    for latch, header in retreating:
        node = latch
        while number[node] > number[header]:
            node = immediate[node]
        if node != header:
            continue
        back.add((latch, header))
        body, latches = found.setdefault(header, ({header}, []))
        latches.append(latch)
        work = [latch]
        while work:
            node = work.pop()
            if node not in body:
                body.add(node)
                work.extend(predecessors[node])
    if len(back) == len(retreating):
        return
    # What is still cyclic without the back edges has no header.
    forward = [[v for v in graph[u] if (u, v) not in back] for u in range(len(graph))]
    for component in _components(forward, order):
        if len(component) > 1:
            ins = [v for v in component if any(p not in component for p in predecessors[v])]
            irregular.append((component, ins))


def _components(successors: list[list[int]] | dict[int, list[int]], nodes: Iterable[int]) -> list[set[int]]:
    """The strongly connected components of the subgraph of `nodes` (Tarjan 1972, without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    result = []
    for root in nodes:
        if root in index:
            continue
        work = [(root, iter(successors[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for successor in rest:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(successors[successor])))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = set()
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.add(member)
                        if member == node:
                            break
                    result.append(component)
    return result
