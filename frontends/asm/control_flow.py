"""Control flow of functions in assembly text: basic blocks and edges, dominators, natural loops, irreducible cycles.

The graph algorithms take plain successor lists, so they can be used and tested without any assembly.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from incc.frontends.asm.parse import DIRECTIVE, INSTRUCTION, LABEL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from incc.frontends.asm.parse import Assembly, Function

# --- branches --------------------------------------------------------------------------------------------------------


def _words(text: str) -> list[str]:
    return text.split()


_X86_BRANCHES: dict[str, str] = {
    **dict.fromkeys(
        _words(
            "ja jae jb jbe jc je jg jge jl jle jna jnae jnb jnbe jnc jne jng jnge jnl jnle jno jnp jns jnz jo jp jpe"
            " jpo js jz jcxz jecxz jrcxz loop loope loopne loopnz loopz xbegin"
        ),
        "conditional",
    ),
    **dict.fromkeys(_words("jmp jmpq jmpl jmpw ljmp ljmpl ljmpq"), "unconditional"),
    **dict.fromkeys(_words("call callq calll callw lcall lcalll lcallq"), "call"),
    **dict.fromkeys(
        _words(
            "ret retq retl retw retn retf retfq lret lretq lretl lretw iret iretd iretq iretl sysret sysretq sysretl"
            " sysexit sysexitq sysexitl uiret"
        ),
        "return",
    ),
    # Not branches, but control does not go on behind them.
    **dict.fromkeys(_words("ud0 ud1 ud2 ud2a ud2b"), "stop"),
}
_X86_PREFIXES = frozenset(
    _words(
        "notrack bnd rep repe repz repne repnz lock data16 data32 addr16 addr32 cs ds es fs gs ss rex64 rex.w"
        " xacquire xrelease"
    )
)
_X86_REGISTERS = frozenset(
    _words("rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 eax ebx ecx edx esi edi ebp esp")
)
_X86_OPERAND_WORDS = r"(?i)(?:(?:short|near|far|ptr|offset|[dqf]word)\s+)+"

_AARCH64_CONDITIONS = _words("eq ne cs hs cc lo mi pl vs vc hi ls ge lt gt le")
_SVE_CONDITIONS = _words("none any nlast last first nfrst pmore plast tcont tstop")
_AARCH64_BRANCHES: dict[str, str] = {
    **{prefix + c: "conditional" for c in (*_AARCH64_CONDITIONS, *_SVE_CONDITIONS) for prefix in ("b.", "bc.", "b")},
    **dict.fromkeys(_words("cbz cbnz tbz tbnz"), "conditional"),
    **dict.fromkeys(_words("b b.al b.nv bal"), "unconditional"),
    **dict.fromkeys(_words("br braa brab braaz brabz"), "indirect"),
    **dict.fromkeys(_words("bl blr blraa blrab blraaz blrabz"), "call"),
    **dict.fromkeys(_words("ret retaa retab eret eretaa eretab"), "return"),
    **dict.fromkeys(_words("udf brk"), "stop"),
}

# Functions of the C, C++ and Fortran run-time libraries that never come back: what follows a call to one is not
# reached from there.
_NO_RETURN = frozenset(
    _words(
        "abort exit _exit _Exit quick_exit pthread_exit longjmp _longjmp siglongjmp __longjmp_chk __stack_chk_fail"
        " __stack_chk_fail_local __chk_fail __fortify_fail __assert_fail __assert_perror_fail __assert __assert_rtn"
        " __cxa_throw __cxa_rethrow __cxa_bad_cast __cxa_bad_typeid __cxa_throw_bad_array_new_length __cxa_pure_virtual"
        " __cxa_call_unexpected __cxa_call_terminate __clang_call_terminate _Unwind_Resume _Unwind_Resume_or_Rethrow"
        " _ZSt9terminatev _ZSt10unexpectedv _gfortran_stop_numeric _gfortran_stop_string _gfortran_error_stop_numeric"
        " _gfortran_error_stop_string _gfortran_runtime_error _gfortran_runtime_error_at _gfortran_os_error"
        " _gfortran_os_error_at for_stop_core"
    )
)


def branch(text: str, isa: str) -> tuple[str, str]:
    """How an instruction transfers control, and where to.

    The kind is "" (it does not), "conditional", "unconditional", "indirect", "call", "return" or "stop" (a trap); the
    target is the label or symbol as written, "" where a register or memory holds it or there is none.
    """
    mnemonic, _, operand = text.partition(" ")
    if isa == "x86":
        mnemonic = mnemonic.lower()
        kind = _X86_BRANCHES.get(mnemonic, "")
        if not kind:
            while mnemonic in _X86_PREFIXES or mnemonic[:1] == "{":
                mnemonic, _, operand = operand.partition(" ")
                mnemonic = mnemonic.lower()
                kind = _X86_BRANCHES.get(mnemonic, "")
            if "," in mnemonic:  # `jne,pn`: a branch hint
                kind = _X86_BRANCHES.get(mnemonic.split(",", 1)[0], "")
        if kind in ("", "return", "stop"):
            return kind, ""
        operand = operand.strip()
        if operand[:1] in ("*", "%") or "[" in operand or operand.lower() in _X86_REGISTERS:
            return ("call" if kind == "call" else "indirect"), ""
        if " " in operand and operand[0] != '"':
            operand = re.sub(_X86_OPERAND_WORDS, "", operand)
    else:
        kind = _AARCH64_BRANCHES.get(mnemonic, "") or _AARCH64_BRANCHES.get(mnemonic.lower(), "")
        if kind in ("", "return", "stop", "indirect"):
            return kind, ""
        operand = operand.rpartition(",")[2].strip()
        if kind == "call" and mnemonic.lower() != "bl":
            return kind, ""
    if operand[:1] == '"':
        return kind, operand[1 : operand.find('"', 1)]
    return kind, operand.partition("@")[0]


def label_index(assembly: Assembly, name: str, at: int) -> int:
    """The index of the label's statement that `name` means at statement `at`, -1 if the file has none.

    Where it is asked matters for `1b` and `1f`.
    """
    found = assembly.labels.get(name, -1)
    if found >= 0:
        return found
    if name[-1:] in ("b", "f") and name[:-1].isdigit():
        places = assembly.numeric_labels.get(name[:-1], [])
        following = bisect_left(places, at)
        if name[-1] == "b":
            return places[following - 1] if following else -1
        return places[following] if following < len(places) else -1
    seen = set()
    while name in assembly.aliases and name not in seen:
        seen.add(name)
        name = assembly.aliases[name]
        if name in assembly.labels:
            return assembly.labels[name]
    return -1


def returns(function: str) -> bool:
    """Whether a call to the function of that name can come back; True if nothing is known about it."""
    if function.startswith("_Z"):
        # std::__throw_length_error and its like.
        return "__throw_" not in function and function not in _NO_RETURN
    return function not in _NO_RETURN


# --- blocks ----------------------------------------------------------------------------------------------------------


class Block(NamedTuple):
    """A basic block: the indices of its instructions in `Assembly.statements`, and where control goes at its end.

    `label` is the label at its start that is jumped to (else any), "" if there is none. `branch` is the kind of its
    last instruction (see `branch`), `taken` the blocks that it jumps to and `fall` the block behind it if control can
    run into that, else -1.
    """

    label: str
    instructions: tuple[int, ...]
    branch: str
    taken: tuple[int, ...]
    fall: int

    @property
    def successors(self) -> tuple[int, ...]:
        return self.taken if self.fall < 0 or self.fall in self.taken else (self.fall, *self.taken)


class ControlFlow(NamedTuple):
    """The control-flow graph of a function together with its cold part and whatever else it jumps into.

    Blocks are in the order of the text; `functions[i]` is the name of the function in which block i stands. `entries`
    are the blocks at which the function can be called.
    """

    name: str
    blocks: tuple[Block, ...]
    functions: tuple[str, ...]
    entries: tuple[int, ...]


def control_flow(assembly: Assembly, wanted: Callable[[str], bool] | None = None) -> list[ControlFlow]:
    """The control-flow graphs of all functions, or of those whose name is `wanted`, in the order of the text."""
    if _LATEST and _LATEST[0][0] is assembly:
        return [graph for graph in _LATEST[0][1] if wanted is None or wanted(graph.name)]
    resolver = _Resolver(assembly)
    result = []
    for group in _group(assembly, resolver):
        name = _main_name(assembly, group)
        if wanted is None or wanted(name):
            result.append(_build(assembly, group, name, resolver))
    if wanted is None:
        _LATEST[:] = [(assembly, result)]
    return result


# The graphs of the file at hand, which several parts of an analysis ask for.
_LATEST: list[tuple[Assembly, list[ControlFlow]]] = []


class _Jump(NamedTuple):
    """A control transfer: the index of its statement, its kind, and the indices of the labels that it may go to."""

    statement: int
    kind: str
    targets: tuple[int, ...]


class _Resolver:
    """Finds the labels that the jumps of a file go to, and in which function a statement is."""

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self.owner: list[int] = [-1] * len(assembly.statements)
        self.entry_names: dict[str, int] = {}
        for number, function in enumerate(assembly.functions):
            for i in function.statements:
                self.owner[i] = number
            for name in (function.name, *function.aliases):
                if name:
                    self.entry_names[name] = number
        self._tables: dict[str, tuple[int, ...]] | None = None
        self.jumps: list[list[_Jump]] = [self._jumps(function) for function in assembly.functions]

    def _jumps(self, function: Function) -> list[_Jump]:
        statements = self.assembly.statements
        isa = self.assembly.isa
        table = _X86_BRANCHES if isa == "x86" else _AARCH64_BRANCHES
        result = []
        indirect: list[int] = []
        for i in function.statements:
            kind, _, text, _, _ = statements[i]
            if kind != INSTRUCTION:
                continue
            mnemonic = text.partition(" ")[0]
            # Most instructions are no branches: look no closer at what is plainly spelled and not in the table.
            if mnemonic not in table and mnemonic.isalnum() and mnemonic.islower() and mnemonic not in _X86_PREFIXES:
                continue
            what, name = branch(text, isa)
            if what == "":
                continue
            if what == "call":
                if returns(name):
                    continue
                result.append(_Jump(i, "stop", ()))
            elif what in ("return", "stop"):
                result.append(_Jump(i, what, ()))
            elif what == "indirect":
                indirect.append(len(result))
                result.append(_Jump(i, what, ()))
            else:
                target = label_index(self.assembly, name, i)
                result.append(_Jump(i, what, (target,) if target >= 0 else ()))
        if indirect:
            self._resolve_indirect(function, result, indirect)
        return result

    def _resolve_indirect(self, function: Function, jumps: list[_Jump], indirect: list[int]) -> None:
        """Find the jump tables of a function's indirect jumps.

        The table is named in the jump itself or in an instruction before it, back to the last branch. Where its address
        was computed further away (hoisted out of a loop), the jump may go wherever the tables of this function lead
        that no other jump has claimed; without any table, wherever the function takes the address of a label.
        """
        statements = self.assembly.statements
        tables = self._jump_tables()
        code = [i for i in function.statements if statements[i].kind == INSTRUCTION]
        mentioned: dict[str, None] = {}
        taken: dict[int, None] = {}
        differences: set[int] = set()
        ends = {jump.statement for jump in jumps}
        for i in code:
            text = statements[i].text
            if branch(text, self.assembly.isa)[1]:
                continue  # it names where it goes
            for symbol in re.findall(_SYMBOLS, text):
                if symbol in tables:
                    mentioned[symbol] = None
                elif symbol in self.assembly.labels and symbol not in self.entry_names:
                    label = self.assembly.labels[symbol]
                    if "-" + symbol in text:
                        differences.add(label)  # position-independent code measures distances from it
                    elif self.owner[label] >= 0:
                        taken[label] = None
        for label in differences:
            taken.pop(label, None)
        claimed: set[str] = set()
        unclaimed = []
        for number in indirect:
            at = bisect_left(code, jumps[number].statement)
            name = ""
            for i in range(at, -1, -1):
                if i != at and code[i] in ends:
                    break
                name = next((s for s in re.findall(_SYMBOLS, statements[code[i]].text) if s in tables), "")
                if name:
                    break
            if name:
                claimed.add(name)
                jumps[number] = jumps[number]._replace(targets=tables[name])
            else:
                unclaimed.append(number)
        if unclaimed:
            rest = [name for name in mentioned if name not in claimed] or list(mentioned)
            targets = tuple(dict.fromkeys(t for name in rest for t in tables[name])) or tuple(taken)
            for number in unclaimed:
                jumps[number] = jumps[number]._replace(targets=targets)

    def _jump_tables(self) -> dict[str, tuple[int, ...]]:
        """All tables of code labels in the file: a table's label to the statements of the labels in it, each once."""
        if self._tables is None:
            self._tables = {}
            labels = self.assembly.labels
            names: list[str] = []
            entries: dict[int, None] = {}
            for kind, _, text, section, _ in self.assembly.statements:
                if kind == LABEL:
                    if entries:
                        for name in names:
                            self._tables[name] = tuple(entries)
                        names = []
                        entries = {}
                    names.append(text)
                elif kind == DIRECTIVE and names:
                    directive, _, values = text.partition(" ")
                    if directive in _ALIGNMENTS:
                        continue
                    if directive not in _DATA or section.startswith(_NOT_TABLES):
                        names = names if entries else []
                        continue
                    for value in values.split(","):
                        symbol = re.match(_FIRST_SYMBOL, value)
                        target = labels.get(symbol.group(1).strip('"'), -1) if symbol else -1
                        if target >= 0 and self.owner[target] >= 0:
                            entries[target] = None
                elif kind == INSTRUCTION and not entries:
                    names = []
            if entries:
                for name in names:
                    self._tables[name] = tuple(entries)
        return self._tables


_DATA = frozenset(_words(".long .quad .4byte .8byte .word .xword .int .hword .2byte .short .byte .1byte .value .dword"))
_ALIGNMENTS = frozenset((".align", ".p2align", ".balign"))
_NOT_TABLES = (".debug", ".eh_frame", ".gcc_except_table", ".note", ".init_array", ".ctors", ".stack_sizes", ".llvm")
_SYMBOLS = r"(?<![%\w$.])\$?:?(?:lo12:)?([A-Za-z_.][\w.$]*)"
_FIRST_SYMBOL = r'[\s(]*("[^"]+"|[A-Za-z_.$?][\w.$?]*)'


def _hot_part(name: str) -> str:
    """The function of which `name` is the cold part, else "": `f` for `f.cold`, from older gcc also `f.cold.3`."""
    hot, cold, number = name.rpartition(".cold")
    return hot if cold and (not number or number[1:].isdigit()) else ""


def _group(assembly: Assembly, resolver: _Resolver) -> list[list[int]]:
    """Which functions belong together, since one jumps to labels inside of the other (`f` and `f.cold`), as ascending
    lists of numbers in `Assembly.functions`."""
    parent = list(range(len(assembly.functions)))

    def find(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    statements = assembly.statements
    owner = resolver.owner
    for number, jumps in enumerate(resolver.jumps):
        for jump in jumps:
            for target in jump.targets:
                other = owner[target]
                if other >= 0 and other != number:
                    name = statements[target].text
                    hot = _hot_part(name)
                    # A jump to a function's name is a tail call, unless that function is the cold part of this one.
                    if name not in resolver.entry_names or (hot and hot == assembly.functions[number].name):
                        parent[find(other)] = find(number)
    groups: dict[int, list[int]] = {}
    for number in range(len(parent)):
        groups.setdefault(find(number), []).append(number)
    return sorted(groups.values())


def _main_name(assembly: Assembly, group: Sequence[int]) -> str:
    """The name of a group of functions: of the first that is not a cold part, or else has a name at all."""
    names = [assembly.functions[n].name for n in group]
    return next((n for n in names if n and not _hot_part(n)), next((n for n in names if n), ""))


def _build(assembly: Assembly, group: Sequence[int], name: str, resolver: _Resolver) -> ControlFlow:
    statements = assembly.statements
    jumps: dict[int, _Jump] = {}
    for number in group:
        for jump in resolver.jumps[number]:
            jumps[jump.statement] = jump
    leaders = {target for jump in jumps.values() for target in jump.targets}
    names: list[str] = []
    bodies: list[list[int]] = []
    functions: list[str] = []
    block_at: dict[int, int] = {}
    segment_of: list[int] = []
    entries: list[int] = []

    members = set(group)
    for number in group:
        function = assembly.functions[number]
        fresh = True  # the next instruction starts a block
        pending: list[int] = []
        first = True
        for i in function.statements:
            if statements[i].kind == LABEL:
                pending.append(i)
                if i in leaders:
                    fresh = True
                continue
            if fresh:
                block = len(bodies)
                label = next((statements[p].text for p in pending if p in leaders), "")
                names.append(label or (statements[pending[-1]].text if pending else ""))
                bodies.append([])
                functions.append(function.name)
                segment_of.append(number)
                if first and not _hot_part(function.name):
                    entries.append(block)
                first = False
                for p in pending:
                    block_at[p] = block
                fresh = False
            pending.clear()
            bodies[-1].append(i)
            if i in jumps:
                fresh = True

    blocks: list[Block] = []
    for b, body in enumerate(bodies):
        last_jump = jumps.get(body[-1])
        kind = last_jump.kind if last_jump else ""
        taken: tuple[int, ...] = ()
        if last_jump:
            taken = tuple(dict.fromkeys(block_at[t] for t in last_jump.targets if t in block_at))
        fall = -1
        if kind in ("", "conditional") and b + 1 < len(bodies):
            here, there = segment_of[b], segment_of[b + 1]
            if here == there or _adjacent(assembly, here, there, members):
                fall = b + 1
        blocks.append(Block(names[b], tuple(body), kind, taken, fall))
    return ControlFlow(name, tuple(blocks), tuple(functions), tuple(entries or ([0] if blocks else [])))


def _adjacent(assembly: Assembly, here: int, there: int, members: set[int]) -> bool:
    """Whether control that runs over the end of one function enters another one of the same group."""
    statements = assembly.statements
    section = statements[assembly.functions[here].statements[0]].section
    for number in range(here + 1, there + 1):
        if statements[assembly.functions[number].statements[0]].section == section:
            return number == there and number in members
    return False


# --- graphs ----------------------------------------------------------------------------------------------------------


class Loop(NamedTuple):
    """A natural loop: all cycles through `header` over edges from `latches`, which the header dominates.

    `depth` is 1 for an outermost loop; `innermost` says that no other cycle lies inside.
    """

    header: int
    body: frozenset[int]
    latches: tuple[int, ...]
    depth: int
    innermost: bool


class IrreducibleCycle(NamedTuple):
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
            header,
            frozenset(body),
            tuple(sorted(latches)),
            depth[header],
            not any(node != header and node in found for node in body)
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
        inside = [
            [v for v in successors[u] if v in body and v != header] if u in body else [] for u in range(len(successors))
        ]
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


def _components(successors: list[list[int]], nodes: Iterable[int]) -> list[set[int]]:
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
