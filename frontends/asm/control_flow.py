"""The control-flow graphs of the functions in assembly text, with jumps through tables."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence

from incc.frontends.asm.graph import ControlFlow, Jump, Routine, build, group, hot_part, main_name, returns
from incc.frontends.asm.parse import DIRECTIVE, INSTRUCTION, LABEL, AsmFunction, Assembly
from incc.frontends.isa import isa, word_set


def control_flow(assembly: Assembly, wanted: Callable[[str], bool] | None = None) -> list[ControlFlow]:
    """Return the control-flow graphs of all functions, or of those whose name is `wanted`, in the order of the text.

    Instructions are numbered as in `Assembly.statements`. The graphs of all functions are cached in the assembly.
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
    """Return the index of the label's statement that `name` means at statement `at`, -1 if there is no such label.

    The place matters for `1b` and `1f`.
    """
    if name in assembly.labels:
        return assembly.labels[name]
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
    """The targets of the jumps in a file, and the functions of its statements."""

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self.isa = isa(assembly.isa)
        statements = assembly.statements
        self.owner: list[int] = [-1] * len(statements)
        """The number of each statement's function, -1 for none."""
        self.entry_names: dict[str, int] = {}
        """The numbers of functions by their names."""
        self._place: dict[int, int] = {}
        """The instruction after each label."""
        self._labels_at: dict[int, list[int]] = {}
        """The labels directly before instructions."""
        self._jumped_to: list[set[int]] = []
        """The labels that the jumps of each function go to."""
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
        """Return a function that names the blocks of a group of functions."""
        statements = self.assembly.statements
        jumped_to = set().union(*[self._jumped_to[number] for number in members])

        def label(instruction: int) -> str:
            labels = self._labels_at.get(instruction)
            if labels is None:
                return ""
            return statements[next((i for i in labels if i in jumped_to), labels[-1])].text

        return label

    def _jumps(self, number: int, function: AsmFunction, code: Sequence[int]) -> list[Jump]:
        statements = self.assembly.statements
        branch, branch_words = self.isa.branch, self.isa.branch_words
        result: list[Jump] = []
        labels: list[tuple[int, ...]] = []
        indirect: list[int] = []
        for i in code:
            text = statements[i].text
            mnemonic = text.partition(" ")[0]
            # A quick test, because most instructions are no branches. Unusual spellings are looked at more closely.
            if mnemonic not in branch_words and mnemonic.isalnum() and mnemonic.islower():
                continue
            kind, name = branch(text)
            if kind == "":
                continue
            to: tuple[int, ...] = ()
            if kind == "call":
                if returns(name):
                    continue
                kind = "stop"
            elif kind == "indirect":
                indirect.append(len(result))
            elif kind not in ("return", "stop"):
                target = label_index(self.assembly, name, i)
                to = (target,) if target >= 0 else ()
            result.append(Jump(at=i, kind=kind, targets=()))
            labels.append(to)
        if indirect:
            self._resolve_indirect(function, code, result, labels, indirect)
        self._jumped_to.append({label for to in labels for label in to})
        return [
            self._with_targets(number, function, jump, to) if to else jump
            for jump, to in zip(result, labels, strict=True)
        ]

    def _with_targets(self, number: int, function: AsmFunction, jump: Jump, labels: Sequence[int]) -> Jump:
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
        function: AsmFunction,
        code: Sequence[int],
        jumps: Sequence[Jump],
        targets: list[tuple[int, ...]],
        indirect: Sequence[int],
    ) -> None:
        """Set the `targets` of a function's indirect jumps to the labels in their jump tables.

        The table is named in the jump itself or in an instruction before it, back to the last branch. If its address
        is computed further away (hoisted out of a loop), the jump may go wherever those tables of the function lead
        that no other jump has claimed. Without any table, it may go to all labels whose address the function takes.
        """
        tables = self._jump_tables()
        ends = {jump.at for jump in jumps}
        claimed: set[str] = set()
        unclaimed = []
        for number in indirect:
            name = self._table_of(code, bisect_left(code, jumps[number].at), ends)
            if name:
                claimed.add(name)
                targets[number] = tables[name]
            else:
                unclaimed.append(number)
        if unclaimed:
            mentioned, addresses = self._mentioned(code)
            rest = [name for name in mentioned if name not in claimed] or mentioned
            labels = tuple(dict.fromkeys(t for name in rest for t in tables[name])) or addresses
            for number in unclaimed:
                targets[number] = labels

    def _table_of(self, code: Sequence[int], at: int, ends: set[int]) -> str:
        """Return the table that the indirect jump at a position of `code` uses, "" if it is unknown."""
        tables = self._jump_tables()
        for i in range(at, -1, -1):
            if i != at and code[i] in ends:
                break
            name = next((s for s in self.isa.symbols(self.assembly.statements[code[i]].text) if s in tables), "")
            if name:
                return name
        return ""

    def _mentioned(self, code: Sequence[int]) -> tuple[list[str], tuple[int, ...]]:
        """Return the jump tables that instructions name, and the labels whose addresses they take."""
        tables = self._jump_tables()
        mentioned: dict[str, None] = {}
        taken: dict[int, None] = {}
        differences: set[int] = set()
        for i in code:
            text = self.assembly.statements[i].text
            if self.isa.branch(text)[1]:
                continue  # it names its target
            for symbol in self.isa.symbols(text):
                if symbol in tables:
                    mentioned[symbol] = None
                elif symbol in self.assembly.labels and symbol not in self.entry_names:
                    label = self.assembly.labels[symbol]
                    if "-" + symbol in text:
                        differences.add(label)  # position-independent code measures distances from it
                    elif self.owner[label] >= 0:
                        taken[label] = None
        return list(mentioned), tuple(label for label in taken if label not in differences)

    def _jump_tables(self) -> dict[str, tuple[int, ...]]:
        """Return the tables of code labels in the file: for a table's label the statements of its labels, each once."""
        if self._tables is None:
            tables: dict[str, dict[int, None]] = {}
            labels = self.assembly.labels
            names: list[str] = []
            entries: dict[int, None] = {}
            for each_statement in self.assembly.statements:
                if each_statement.kind == LABEL:
                    if entries:
                        names, entries = [], {}
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
                            tables.update(dict.fromkeys(names, entries))
                elif each_statement.kind == INSTRUCTION and not entries:
                    names = []
            self._tables = {name: tuple(labels_of) for name, labels_of in tables.items()}
        return self._tables


_DATA = word_set(".long .quad .4byte .8byte .word .xword .int .hword .2byte .short .byte .1byte .value .dword")
_ALIGNMENTS = frozenset((".align", ".p2align", ".balign"))
_NOT_TABLES = (".debug", ".eh_frame", ".gcc_except_table", ".note", ".init_array", ".ctors", ".stack_sizes", ".llvm")
_FIRST_SYMBOL = r'[\s(]*("[^"]+"|[A-Za-z_.$?][\w.$?]*)'
