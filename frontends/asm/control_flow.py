"""Control flow of the functions in assembly text: which labels jumps go to, also through tables, and their graphs."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from incc.frontends.asm.graph import Jump, Routine, build, group, hot_part, main_name, returns
from incc.frontends.asm.parse import DIRECTIVE, INSTRUCTION, LABEL
from incc.frontends.isa import isa, words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from incc.frontends.asm.graph import ControlFlow
    from incc.frontends.asm.parse import Assembly, Function


def control_flow(assembly: Assembly, wanted: Callable[[str], bool] | None = None) -> list[ControlFlow]:
    """The control-flow graphs of all functions, or of those whose name is `wanted`, in the order of the text.

    Instructions are numbered as in `Assembly.statements`. The graphs of all functions are kept with the assembly, since
    several parts of an analysis ask for them.
    """
    if assembly.graphs:
        return [graph for graph in assembly.graphs[0] if wanted is None or wanted(graph.name)]
    resolver = _Resolver(assembly)
    result = []
    for members in group(resolver.routines, resolver.owner.__getitem__):
        if wanted is None or wanted(main_name(resolver.routines, members)):
            result.append(build(resolver.routines, members, resolver.label_of(members)))
    if wanted is None:
        assembly.graphs.append(result)
    return result


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


class _Resolver:
    """Finds the labels that the jumps of a file go to, and in which function a statement is."""

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self.isa = isa(assembly.isa)
        statements = assembly.statements
        self.owner: list[int] = [-1] * len(statements)
        self.entry_names: dict[str, int] = {}
        # The instruction behind each label, and the labels before each instruction that has some.
        self._place: dict[int, int] = {}
        self._labels_at: dict[int, list[int]] = {}
        self._jumped_to: list[set[int]] = []
        self._tables: dict[str, tuple[int, ...]] | None = None
        codes = []
        for number, function in enumerate(assembly.functions):
            code: list[int] = []
            pending: list[int] = []
            for i in function.statements:
                self.owner[i] = number
                if statements[i].kind == LABEL:
                    pending.append(i)
                else:
                    code.append(i)
                    if pending:
                        self._labels_at[i] = pending
                        for label in pending:
                            self._place[label] = i
                        pending = []
            codes.append(code)
            for name in (function.name, *function.aliases):
                if name:
                    self.entry_names[name] = number
        self.routines = [
            Routine(
                name=f.name,
                section=statements[f.statements[0]].section,
                instructions=code,
                jumps=self._jumps(number, f, code),
            )
            for number, (f, code) in enumerate(zip(assembly.functions, codes, strict=True))
        ]

    def label_of(self, members: Sequence[int]) -> Callable[[int], str]:
        """How blocks of a group of functions are called."""
        statements = self.assembly.statements
        jumped_to = set().union(*[self._jumped_to[number] for number in members])

        def label(instruction: int) -> str:
            labels = self._labels_at.get(instruction)
            if labels is None:
                return ""
            return statements[next((i for i in labels if i in jumped_to), labels[-1])].text

        return label

    def _jumps(self, number: int, function: Function, code: Sequence[int]) -> list[Jump]:
        statements = self.assembly.statements
        branch, branch_words = self.isa.branch, self.isa.branch_words
        result: list[Jump] = []
        labels: list[tuple[int, ...]] = []
        indirect: list[int] = []
        for i in code:
            text = statements[i].text
            mnemonic = text.partition(" ")[0]
            # Most instructions are no branches: look no closer at what is plainly spelled and not in the table.
            if mnemonic not in branch_words and mnemonic.isalnum() and mnemonic.islower():
                continue
            what, name = branch(text)
            if what == "":
                continue
            to: tuple[int, ...] = ()
            if what == "call":
                if returns(name):
                    continue
                what = "stop"
            elif what == "indirect":
                indirect.append(len(result))
            elif what not in ("return", "stop"):
                target = label_index(self.assembly, name, i)
                to = (target,) if target >= 0 else ()
            result.append(Jump(at=i, kind=what, targets=()))
            labels.append(to)
        if indirect:
            self._resolve_indirect(function, code, result, labels, indirect)
        self._jumped_to.append({label for to in labels for label in to})
        return [
            self._with_targets(number, function, jump, to) if to else jump
            for jump, to in zip(result, labels, strict=True)
        ]

    def _with_targets(self, number: int, function: Function, jump: Jump, labels: Sequence[int]) -> Jump:
        place = self._place
        calls = []
        for label in labels:
            name = self.assembly.statements[label].text
            # A jump to a function's name is a tail call, unless that function is the cold part of this one.
            if name in self.entry_names and self.owner[label] != number and label in place:
                hot = hot_part(name)
                if not hot or hot != function.name:
                    calls.append(place[label])
        return Jump(
            at=jump.at, kind=jump.kind, targets=tuple([place[i] for i in labels if i in place]), calls=tuple(calls)
        )

    def _resolve_indirect(
        self,
        function: Function,
        code: Sequence[int],
        jumps: Sequence[Jump],
        targets: list[tuple[int, ...]],
        indirect: Sequence[int],
    ) -> None:
        """Find the jump tables of a function's indirect jumps: the labels in `targets`.

        The table is named in the jump itself or in an instruction before it, back to the last branch. Where its address
        was computed further away (hoisted out of a loop), the jump may go wherever the tables of this function lead
        that no other jump has claimed; without any table, wherever the function takes the address of a label.
        """
        statements = self.assembly.statements
        tables = self._jump_tables()
        branch, symbols = self.isa.branch, self.isa.symbols
        mentioned: dict[str, None] = {}
        taken: dict[int, None] = {}
        differences: set[int] = set()
        ends = {jump.at for jump in jumps}
        for i in code:
            text = statements[i].text
            if branch(text)[1]:
                continue  # it names where it goes
            for symbol in symbols(text):
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
            at = bisect_left(code, jumps[number].at)
            name = ""
            for i in range(at, -1, -1):
                if i != at and code[i] in ends:
                    break
                name = next((s for s in symbols(statements[code[i]].text) if s in tables), "")
                if name:
                    break
            if name:
                claimed.add(name)
                targets[number] = tables[name]
            else:
                unclaimed.append(number)
        if unclaimed:
            rest = [name for name in mentioned if name not in claimed] or list(mentioned)
            found = tuple(dict.fromkeys(t for name in rest for t in tables[name])) or tuple(taken)
            for number in unclaimed:
                targets[number] = found

    def _jump_tables(self) -> dict[str, tuple[int, ...]]:
        """All tables of code labels in the file: a table's label to the statements of the labels in it, each once."""
        if self._tables is None:
            self._tables = {}
            labels = self.assembly.labels
            names: list[str] = []
            entries: dict[int, None] = {}
            for each_statement in self.assembly.statements:
                if each_statement.kind == LABEL:
                    if entries:
                        for name in names:
                            self._tables[name] = tuple(entries)
                        names = []
                        entries = {}
                    names.append(each_statement.text)
                elif each_statement.kind == DIRECTIVE and names:
                    directive, _, values = each_statement.text.partition(" ")
                    if directive in _ALIGNMENTS:
                        continue
                    if directive not in _DATA or each_statement.section.startswith(_NOT_TABLES):
                        names = names if entries else []
                        continue
                    for value in values.split(","):
                        symbol = re.match(_FIRST_SYMBOL, value)
                        target = labels.get(symbol.group(1).strip('"'), -1) if symbol else -1
                        if target >= 0 and self.owner[target] >= 0:
                            entries[target] = None
                elif each_statement.kind == INSTRUCTION and not entries:
                    names = []
            if entries:
                for name in names:
                    self._tables[name] = tuple(entries)
        return self._tables


_DATA = frozenset(words(".long .quad .4byte .8byte .word .xword .int .hword .2byte .short .byte .1byte .value .dword"))
_ALIGNMENTS = frozenset((".align", ".p2align", ".balign"))
_NOT_TABLES = (".debug", ".eh_frame", ".gcc_except_table", ".note", ".init_array", ".ctors", ".stack_sizes", ".llvm")
_FIRST_SYMBOL = r'[\s(]*("[^"]+"|[A-Za-z_.$?][\w.$?]*)'
