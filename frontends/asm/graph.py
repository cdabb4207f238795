"""Control-flow graphs of functions: basic blocks and edges, dominators, natural loops, irreducible cycles.

They consist of instructions, numbered in their order, and jumps between them, from text or from machine code. The graph
algorithms take plain successor lists, so they can be used and tested without any code.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise

import msgspec

from incc.frontends.isa import word_set

# Functions of the C, C++ and Fortran run-time libraries that never return: code after a call is not reached from it.
_NO_RETURN = word_set(
    "abort exit _exit _Exit quick_exit pthread_exit longjmp _longjmp siglongjmp __longjmp_chk __stack_chk_fail"
    " __stack_chk_fail_local __chk_fail __fortify_fail __assert_fail __assert_perror_fail __assert __assert_rtn"
    " __cxa_throw __cxa_rethrow __cxa_bad_cast __cxa_bad_typeid __cxa_throw_bad_array_new_length __cxa_pure_virtual"
    " __cxa_call_unexpected __cxa_call_terminate __clang_call_terminate _Unwind_Resume _Unwind_Resume_or_Rethrow"
    " _ZSt9terminatev _ZSt10unexpectedv _gfortran_stop_numeric _gfortran_stop_string _gfortran_error_stop_numeric"
    " _gfortran_error_stop_string _gfortran_runtime_error _gfortran_runtime_error_at _gfortran_os_error"
    " _gfortran_os_error_at for_stop_core"
)


def returns(function: str) -> bool:
    """Return False if the function of this name is known never to return."""
    if function.startswith("_Z"):
        # std::__throw_length_error and its like.
        return "__throw_" not in function and function not in _NO_RETURN
    return function not in _NO_RETURN


# --- records of a graph ----------------------------------------------------------------------------------------------


class Jump(msgspec.Struct, frozen=True, kw_only=True):
    """A control transfer other than a call that returns."""

    at: int
    """The number of its instruction."""
    kind: str
    """One of "conditional", "unconditional", "indirect", "return" and "stop" (a trap, or a call that never returns)."""
    targets: tuple[int, ...]
    """The numbers of the instructions that it may go to."""
    calls: tuple[int, ...] = ()
    """The targets at which another function begins: a tail call does not make two functions one graph."""


class Routine(msgspec.Struct, frozen=True, kw_only=True):
    """A function."""

    name: str
    section: str
    instructions: Sequence[int]
    """The numbers of its instructions, ascending."""
    jumps: Sequence[Jump]
    """In their order."""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A basic block."""

    label: str
    """The label at its start that is jumped to, else any label there, "" if there is none."""
    instructions: tuple[int, ...]
    """The numbers of its instructions."""
    branch: str
    """The kind of its last instruction (see `Jump`), "" for none."""
    taken: tuple[int, ...]
    """The blocks that it jumps to."""
    fall: int
    """The block after it if control can run into that, else -1."""

    @property
    def successors(self) -> tuple[int, ...]:
        """The blocks that control can go to, the one after it first."""
        return self.taken if self.fall < 0 or self.fall in self.taken else (self.fall, *self.taken)


class ControlFlow(msgspec.Struct, frozen=True, kw_only=True):
    """The control-flow graph of a function with its cold part and other functions that it jumps into."""

    name: str
    blocks: tuple[Block, ...]
    """In the order of the code."""
    functions: tuple[str, ...]
    """The name of each block's function."""
    entries: tuple[int, ...]
    """The blocks at which the function can be called."""


def hot_part(name: str) -> str:
    """Return the function whose cold part `name` is, else "": `f` for `f.cold`, and older gcc's `f.cold.3`."""
    hot, cold, number = name.rpartition(".cold")
    return hot if cold and (not number or number[1:].isdigit()) else ""


def group(routines: Sequence[Routine], owner: Callable[[int], int]) -> list[list[int]]:
    """Return groups of functions that jump into each other (`f` and `f.cold`), as ascending lists of their numbers.

    `owner` returns the function of an instruction, -1 for none.
    """
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
    """Return the name of a group of functions: of the first that is no cold part, else of the first with a name."""
    names = [routines[n].name for n in members]
    return next((n for n in names if n and not hot_part(n)), next((n for n in names if n), ""))


def build(routines: Sequence[Routine], members: Sequence[int], label: Callable[[int], str]) -> ControlFlow:
    """Return the graph of a group of functions. `label` returns the label before the first instruction of a block."""
    jumps = {jump.at: jump for number in members for jump in routines[number].jumps}
    leaders = sorted({target for jump in jumps.values() for target in jump.targets})
    bodies: list[Sequence[int]] = []
    functions: list[str] = []
    block_at: dict[int, int] = {}
    segment_of: list[int] = []
    entries: list[int] = []
    for number in members:
        routine = routines[number]
        instructions = routine.instructions
        if not instructions:
            continue
        if not hot_part(routine.name):
            entries.append(len(bodies))
        starts = {0, len(instructions), *[bisect_right(instructions, jump.at) for jump in routine.jumps]}
        for target in leaders[bisect_right(leaders, instructions[0]) : bisect_right(leaders, instructions[-1])]:
            at = bisect_left(instructions, target)
            if instructions[at] == target:
                starts.add(at)
        for start, end in pairwise(sorted(starts)):
            block_at[instructions[start]] = len(bodies)
            bodies.append(instructions[start:end])
            functions.append(routine.name)
            segment_of.append(number)

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
    """Return True if control that runs past the end of one function enters another one of the same group."""
    section = routines[here].section
    for number in range(here + 1, there + 1):
        if routines[number].section == section:
            return number == there and number in members
    return False


# --- graphs ----------------------------------------------------------------------------------------------------------


class LoopBody(Set[int]):
    """The nodes of a natural loop: a run of an order that all loops of a graph share, so nested loops take no space."""

    __slots__ = ("_end", "_first", "_order", "_place")

    def __init__(self, order: Sequence[int], place: Sequence[int], first: int, end: int) -> None:
        """Args: nodes in an order; the place of each node in it, -1 for none; the first place, and that after it."""
        self._order = order
        self._place = place
        self._first = first
        self._end = end

    def __contains__(self, node: object) -> bool:
        return isinstance(node, int) and self._first <= self._place[node] < self._end

    def __iter__(self) -> Iterator[int]:
        return iter(self._order[self._first : self._end])

    def __len__(self) -> int:
        return self._end - self._first

    @classmethod
    def _from_iterable(cls, it: Iterable[int]) -> frozenset[int]:  # type: ignore[override]
        """Return the result of an operator on sets."""
        return frozenset(it)

    def spans(self, nodes: Iterable[int]) -> bool:
        """Return True if all of these nodes are in the loop."""
        return all(self._first <= self._place[node] < self._end for node in nodes)


class NaturalLoop(msgspec.Struct, frozen=True, kw_only=True):
    """A natural loop: all cycles through `header` over edges from `latches`, which the header dominates."""

    header: int
    body: Set[int]
    latches: tuple[int, ...]
    depth: int
    """1 for an outermost loop."""
    innermost: bool
    """There is no other cycle inside."""
    outer: int = -1
    """The header of the natural loop directly around this one, -1 for none."""


class IrreducibleCycle(msgspec.Struct, frozen=True):
    """Nodes that reach each other, none of which dominates the others."""

    nodes: frozenset[int]
    entries: tuple[int, ...]
    """The nodes at which it is entered."""
    innermost: bool
    depth: int
    """As of a natural loop."""


def reverse_postorder(successors: Sequence[Iterable[int]], entry: int) -> list[int]:
    """Return the nodes reachable from `entry`, each before its successors except along retreating edges."""
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
    """Return the immediate dominator of each node: for the entry itself, for an unreachable node -1.

    Lengauer, Tarjan, “A Fast Algorithm for Finding Dominators in a Flowgraph” (1979), the simple version.
    """
    nodes, parent = _depth_first(successors, entry)
    number = {node: i for i, node in enumerate(nodes)}
    predecessors: list[list[int]] = [[] for _ in nodes]
    for i, node in enumerate(nodes):
        for successor in successors[node]:
            predecessors[number[successor]].append(i)
    semi = list(range(len(nodes)))
    least = list(range(len(nodes)))
    above = [-1] * len(nodes)  # in the forest of nodes that have been processed
    immediate = [0] * len(nodes)
    waiting: list[list[int]] = [[] for _ in nodes]

    def evaluate(v: int) -> int:
        """Return the node with the least semidominator on the way from `v` up, and shorten the way."""
        if above[v] < 0:
            return v
        way = [v]
        while above[above[way[-1]]] >= 0:
            way.append(above[way[-1]])
        for u in reversed(way):
            top = above[u]
            if above[top] >= 0:
                if semi[least[top]] < semi[least[u]]:
                    least[u] = least[top]
                above[u] = above[top]
        return least[v]

    for w in range(len(nodes) - 1, 0, -1):
        for v in predecessors[w]:
            semi[w] = min(semi[w], semi[evaluate(v)])
        waiting[semi[w]].append(w)
        above[w] = p = parent[w]
        for v in waiting[p]:
            u = evaluate(v)
            immediate[v] = u if semi[u] < semi[v] else p
        waiting[p].clear()
    for w in range(1, len(nodes)):
        if immediate[w] != semi[w]:
            immediate[w] = immediate[immediate[w]]
    result = [-1] * len(successors)
    for w, node in enumerate(nodes):
        result[node] = nodes[immediate[w]]
    return result


def _depth_first(successors: Sequence[Iterable[int]], entry: int) -> tuple[list[int], list[int]]:
    """Return the nodes reachable from `entry` in the order of a depth-first search, and the number of each's parent."""
    number = {entry: 0}
    nodes, parent = [entry], [0]
    stack = [(0, iter(successors[entry]))]
    while stack:
        at, rest = stack[-1]
        for successor in rest:
            if successor not in number:
                number[successor] = len(nodes)
                nodes.append(successor)
                parent.append(at)
                stack.append((number[successor], iter(successors[successor])))
                break
        else:
            stack.pop()
    return nodes, parent


class _Nest:
    """The natural loops of a graph, how they are nested, and the cycles without a header."""

    def __init__(self, size: int) -> None:
        self.latches: dict[int, list[int]] = {}
        """By the headers of the loops."""
        self.around = [-1] * size
        """The header of the innermost loop around each node; for a header of that around its own loop."""
        self.irregular: list[tuple[set[int], list[int]]] = []
        """The nodes of each cycle without a header, and those at which it is entered."""
        self._outermost = list(range(size))

    def add_loop(self, header: int, latches: list[int], predecessors: Mapping[int, Sequence[int]]) -> None:
        """Add a loop around those that have been added. Inner loops come first."""
        self.latches[header] = latches
        work = [self._top(latch) for latch in latches]
        while work:
            node = work.pop()
            if node != header and self.around[node] < 0:
                self.around[node] = self._outermost[node] = header
                work.extend([self._top(p) for p in predecessors[node]])

    def _top(self, node: int) -> int:
        """Return the header of the outermost loop around a node that has been added, else the node."""
        outermost = self._outermost
        while outermost[node] != node:
            outermost[node] = node = outermost[outermost[node]]
        return node

    def bodies(self) -> dict[int, LoopBody]:
        """Return the body of each loop by its header, inner loops before those around them."""
        inside: dict[int, list[int]] = {header: [] for header in self.latches}
        for node, header in enumerate(self.around):
            if header >= 0:
                inside[header].append(node)
        order: list[int] = []
        place = [-1] * len(self.around)
        bodies: dict[int, LoopBody] = {}
        for outermost in [header for header in self.latches if self.around[header] < 0]:
            stack = [(outermost, len(order), iter(inside[outermost]))]
            place[outermost] = len(order)
            order.append(outermost)
            while stack:
                header, first, rest = stack[-1]
                for node in rest:
                    place[node] = len(order)
                    order.append(node)
                    if node in inside:
                        stack.append((node, place[node], iter(inside[node])))
                        break
                else:
                    stack.pop()
                    bodies[header] = LoopBody(order, place, first, len(order))
        return bodies


def loops(
    successors: Sequence[Sequence[int]], entries: Sequence[int]
) -> tuple[list[NaturalLoop], list[IrreducibleCycle]]:
    """Return the natural loops of a graph by their headers, and the irreducible cycles by their first nodes.

    Nodes that no path from `entries` reaches (landing pads of exceptions, code after unresolved jumps) are analysed
    separately, so that an edge from there into a loop does not make it irreducible.
    """
    n = len(successors)
    # Most functions have no edge that goes backward in the order of the text, and thus no cycle.
    if all(t > node for node in range(n) for t in successors[node]):
        return [], []
    nest = _Nest(n + 1)
    left = set(range(n))
    for from_entries in (True, False):  # nodes that entries reach, then the rest
        graph: list[list[int]] = [[t for t in successors[i] if t in left] if i in left else [] for i in range(n)]
        roots = list(entries) if from_entries else _sources(graph, left)
        graph.append(roots)  # a virtual entry
        order = reverse_postorder(graph, n)
        _cycles(graph, order, nest)
        left.difference_update(order)

    bodies = nest.bodies()
    containing = {nest.around[header] for header in bodies}  # loops with loops inside
    leaves = {header: body for header, body in bodies.items() if header not in containing}
    if nest.irregular:
        _cycles_inside(successors, leaves, nest)
    loops_around = dict.fromkeys(bodies, 1)
    for header in reversed(bodies):
        loops_around[header] += loops_around.get(nest.around[header], 0)
    cycles_around = Counter(node for nodes, _ in nest.irregular for node in nodes)

    def innermost_loop(node: int) -> int:
        return node if node in bodies else nest.around[node]

    def depth(node: int) -> int:
        return loops_around.get(innermost_loop(node), 0) + cycles_around[node]

    for nodes, _ in nest.irregular:
        header = innermost_loop(min(nodes))
        if header >= 0 and bodies[header].spans(nodes):
            containing.add(header)
    natural = [
        NaturalLoop(
            header=header,
            body=bodies[header],
            latches=tuple(sorted(latches)),
            depth=depth(header),
            innermost=header not in containing,
            outer=nest.around[header],
        )
        for header, latches in sorted(nest.latches.items())
    ]
    irreducible = [
        IrreducibleCycle(
            frozenset(nodes),
            tuple(sorted(ins)),
            not any(nodes.issuperset(leaves[node]) for node in nodes if node in leaves),
            depth(min(nodes)),
        )
        for nodes, ins in sorted(nest.irregular, key=lambda cycle: min(cycle[0]))
    ]
    return natural, irreducible


def with_header(successors: Sequence[Sequence[int]], cycle: IrreducibleCycle) -> NaturalLoop | None:
    """Return an irreducible cycle as a loop from a node that each round passes, None if there is no such node.

    Compilers that jump into the middle of a loop at its start make such cycles. The result has no cycle but those
    through its header, like an innermost natural loop.
    """
    if not cycle.innermost:
        return None
    nodes = sorted(cycle.nodes)
    number = {node: n for n, node in enumerate(nodes)}
    inside = [[number[v] for v in successors[u] if v in number] for u in nodes]
    passed = _on_each_round(inside, number[cycle.entries[0]])
    if not passed:
        return None
    header = min([nodes[n] for n in passed], key=lambda node: (node not in cycle.entries, node))
    latches = tuple(sorted(u for u in nodes if header in successors[u]))
    return NaturalLoop(header=header, body=cycle.nodes, latches=latches, depth=cycle.depth, innermost=True)


def _on_each_round(successors: Sequence[Sequence[int]], start: int) -> list[int]:
    """Return the nodes that all cycles of a graph pass, whose nodes all reach each other.

    Cycles through `start` pass those nodes, in this order, that dominate it if it is divided into a beginning and an
    end. Each other node belongs to the last of these that dominates it. From there control comes to no later one than
    the next, so a way back from one to an earlier one makes a cycle that passes exactly those from here to there.
    """
    divided = [*[[len(successors) if v == start else v for v in following] for following in successors], []]
    immediate = dominators(divided, start)
    passed = _dominators_of(len(successors), immediate)
    place = {node: n for n, node in enumerate(passed)}
    others = {u: [v for v in following if v not in place] for u, following in enumerate(successors) if u not in place}
    components = _components(others, others)  # each after those that it leads to
    if len(components) < len(others) or any(u in following for u, following in others.items()):
        return []
    belongs = dict(place)
    for node in reverse_postorder(divided, start):
        belongs.setdefault(node, belongs.get(immediate[node], 0))

    # To which of the passed nodes each node leads past no others: the last of those up to its own, and the one after
    # its own.
    back: dict[int, int] = {}
    leads_on: set[int] = set()
    for u in [*[node for component in components for node in component], *passed]:
        ends = [-1]
        for v in successors[u]:
            ends += [place[v]] if v in place else [back[v], belongs[v] + 1 if v in leads_on else -1]
        back[u] = max(n for n in ends if n <= belongs[u])
        if max(ends) > belongs[u]:
            leads_on.add(u)
    first = max(back[u] for u in passed)
    last = min(n for n, u in enumerate(passed) if back[u] >= 0)
    return passed[first : last + 1]


def _dominators_of(node: int, immediate: Sequence[int]) -> list[int]:
    """Return the nodes that dominate another one, from the entry on, by the immediate dominator of each."""
    way: list[int] = []
    while immediate[node] != node:
        node = immediate[node]
        way.append(node)
    way.reverse()
    return way


def without_inner(successors: Sequence[Sequence[int]], loop: NaturalLoop, inner: Set[int]) -> NaturalLoop | None:
    """Return the part of a loop from which its header can be reached without entering a loop inside, None without one.

    Like an innermost loop, the part has no cycle but those through its header.

    Args:
        successors: those of each node.
        loop: the loop.
        inner: the headers of the natural loops and the nodes of the irreducible cycles of the graph.
    """
    body, header = loop.body, loop.header
    forward = _reached(header, lambda u: [v for v in successors[u] if v in body and (v not in inner or v == header)])
    predecessors: dict[int, list[int]] = {node: [] for node in forward}
    for u in forward:
        for v in successors[u]:
            if v in forward:
                predecessors[v].append(u)
    if not predecessors[header]:
        return None
    part = frozenset(_reached(header, predecessors.__getitem__))
    latches = tuple(sorted(predecessors[header]))
    return NaturalLoop(header=header, body=part, latches=latches, depth=loop.depth, innermost=True, outer=loop.outer)


def _reached(start: int, following: Callable[[int], Iterable[int]]) -> set[int]:
    reached = {start}
    work = [start]
    while work:
        new = [v for v in following(work.pop()) if v not in reached]
        reached.update(new)
        work += new
    return reached


def _cycles_inside(successors: Sequence[Sequence[int]], bodies: Mapping[int, Set[int]], nest: _Nest) -> None:
    """Add the cycles without a header that are inside these natural loops and parts of larger ones around those."""
    larger = {frozenset(nodes) for nodes, _ in nest.irregular}
    for header, body in bodies.items():
        inside = {u: [v for v in successors[u] if v in body and v != header] for u in body}
        for component in _components(inside, sorted(body)):
            if len(component) > 1 and component not in larger:
                ins = {v for u in body - component for v in inside[u] if v in component}
                nest.irregular.append((component, sorted(ins)))


def _sources(graph: list[list[int]], nodes: set[int]) -> list[int]:
    """Return nodes that reach all `nodes`: the first of each component that no other component leads to."""
    components = _components(graph, sorted(nodes))
    number = {node: i for i, component in enumerate(components) for node in component}
    inner = {number[v] for u in nodes for v in graph[u] if number[u] != number[v]}
    return sorted(min(component) for i, component in enumerate(components) if i not in inner)


def _cycles(graph: list[list[int]], order: list[int], nest: _Nest) -> None:
    """Add the natural loops and irreducible cycles of the part of a graph that `order` (reverse postorder) covers."""
    number = {node: i for i, node in enumerate(order)}
    retreating = [(u, v) for u in order for v in graph[u] if number[v] <= number[u]]
    if not retreating:
        return
    dominates = _dominance(dominators(graph, order[0]), order)
    predecessors: dict[int, list[int]] = {node: [] for node in order}
    for u in order:
        for v in graph[u]:
            predecessors[v].append(u)

    back = {(latch, header) for latch, header in retreating if dominates(header, latch)}
    latches: dict[int, list[int]] = {}
    for latch, header in retreating:
        if (latch, header) in back:
            latches.setdefault(header, []).append(latch)
    for header in sorted(latches, key=number.__getitem__, reverse=True):
        nest.add_loop(header, latches[header], predecessors)
    if len(back) == len(retreating):
        return
    # Cycles without a back edge have no header.
    forward = [[v for v in graph[u] if (u, v) not in back] for u in range(len(graph))]
    for component in _components(forward, order):
        if len(component) > 1:
            ins = [v for v in component if any(p not in component for p in predecessors[v])]
            nest.irregular.append((component, ins))


def _dominance(immediate: Sequence[int], order: Sequence[int]) -> Callable[[int, int], bool]:
    """Return a function that tells whether a node dominates another one, by their places in the tree of dominators.

    `order` has each node after its dominators.
    """
    below = dict.fromkeys(order, 1)  # the size of each subtree
    for node in reversed(order[1:]):
        below[immediate[node]] += below[node]
    place = {order[0]: 0}
    following = {order[0]: 1}
    for node in order[1:]:
        above = immediate[node]
        place[node] = following[above]
        following[node] = place[node] + 1
        following[above] += below[node]
    return lambda node, other: place[node] <= place[other] < place[node] + below[node]


def _components(successors: list[list[int]] | dict[int, list[int]], nodes: Iterable[int]) -> list[set[int]]:
    """Return the strongly connected components of the subgraph of `nodes` (Tarjan 1972, without recursion)."""
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
