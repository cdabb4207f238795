"""Conditions on kernels, as users write them: `--where` selects kernels, `--fail-if` makes a run fail.

docs/filters.md describes the language. A condition is parsed once, its names and the kinds of its operands are checked,
and then it is evaluated for any number of kernels.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from incc.frontends.marks import parentheses
from incc.report import types as t
from incc.report.types import BoundName
from incc.support.errors import nearest

if TYPE_CHECKING:
    import pyparsing as pp

    _Values = Mapping[str, "Value"]
    _Evaluate = Callable[[_Values, _Values | None], "Value"]


Value = float | str | bool | None
"""The value of a name; None if unknown."""

NUMBER, TEXT, TRUTH = "number", "text", "yes or no"

MAX_LENGTH = 4000
"""The most characters of a condition. Parsing takes proportional time: 0.15 s at this length."""

MAX_DEPTH = 20
"""The deepest nesting of parentheses: each level takes 21 of the 1,000 nested calls that Python allows."""


# --- names ------------------------------------------------------------------------------------------------------------


class Name(msgspec.Struct, frozen=True):
    """A name that conditions may use."""

    kind: str
    """The kind of its value: NUMBER, TEXT or TRUTH."""
    meaning: str
    """Its description."""
    of: Callable[[t.UnitReport, t.KernelReport], Value]
    """The function that reads the value from a report's unit and kernel."""


class PairName(msgspec.Struct, frozen=True):
    """A name whose value is not in a single kernel's report, such as one of two kernels together."""

    kind: str
    """The kind of its value."""
    meaning: str
    """Its description."""


_BOUNDS: tuple[BoundName, ...] = ("port", "divider", "front_end", "retire", "loop_carried")


def place(unit: t.UnitReport, kernel: t.KernelReport) -> tuple[str, int]:
    """Return file and line of a kernel: in the source or, if that is unknown, in the assembly."""
    source = kernel.source
    return (source.file, source.line) if source else (unit.assembly_file, kernel.first_line)


def _field(kind: str, meaning: str, path: str) -> Name:
    """Return a name whose value is a field of a kernel's report."""
    field = operator.attrgetter(path)
    return Name(kind, meaning, lambda unit, kernel: field(kernel))


def _from(level: str) -> Name:
    """Return a name for the prediction with data in a level."""

    def cycles(unit: t.UnitReport, kernel: t.KernelReport) -> Value:
        levels = kernel.data.levels if kernel.data else []
        return next((each.cycles for each in levels if each.name == level), None)

    return Name(NUMBER, f"cycles per iteration with data in {level}; unknown without such a prediction", cycles)


def _stride(unit: t.UnitReport, kernel: t.KernelReport) -> Value:
    """Return the largest known stride; None if there are only unknown ones."""
    strided = [access.stride for access in kernel.accesses if access.pattern == "strided"]
    return max((stride for stride in strided if stride is not None), default=None if strided else 0)


NAMES: dict[str, Name] = {
    "cycles": _field(NUMBER, "cycles per iteration: simulated, or the largest bound", "cycles"),
    "bound": Name(
        NUMBER, "the largest of the five bounds", lambda u, k: max(k.bounds.of(name).cycles for name in _BOUNDS)
    ),
    "port": _field(NUMBER, "bound by the execution ports", "bounds.port.cycles"),
    "divider": _field(NUMBER, "bound by dividers and similar units", "bounds.divider.cycles"),
    "front_end": _field(NUMBER, "bound by the width of the front end", "bounds.front_end.cycles"),
    "retire": _field(NUMBER, "bound by the width of retirement", "bounds.retire.cycles"),
    "loop_carried": _field(NUMBER, "bound by loop-carried dependencies", "bounds.loop_carried.cycles"),
    "critical_path": _field(NUMBER, "latency of one iteration on its own, in cycles", "critical_path.cycles"),
    "cycles_least": Name(
        NUMBER, "lower end of the range of `cycles`; `cycles` without a range", lambda u, k: _ends(k)[0]
    ),
    "cycles_most": Name(NUMBER, "upper end of the range of `cycles`; infinite if unlimited", lambda u, k: _ends(k)[1]),
    "cycles_l2": _from("L2"),
    "cycles_l3": _from("L3"),
    "cycles_memory": _from("memory"),
    "measured": Name(
        NUMBER,
        "measured cycles per iteration; unknown without a measurement",
        lambda u, k: k.measured.cycles if k.measured else None,
    ),
    "at_least": _field(TRUTH, "true if cycles are a lower bound, since some work is not counted", "at_least"),
    "elements": Name(
        NUMBER,
        "elements of the source loop per iteration of the compiled loop; may be unknown",
        lambda u, k: k.elements.per_iteration if k.elements else None,
    ),
    "cycles_per_element": Name(
        NUMBER, "cycles divided by elements; may be unknown", lambda u, k: k.elements.cycles if k.elements else None
    ),
    "role": _field(
        TEXT, "main, remainder, prologue, fallback, outer or partial; empty for other code than loops", "role.name"
    ),
    "ipc": _field(NUMBER, "instructions per cycle", "summary.ipc"),
    "instructions": _field(NUMBER, "instructions", "size.instructions"),
    "uops": _field(NUMBER, "fused-domain µops, as the front end issues them", "size.issue_slots"),
    "port_uops": _field(NUMBER, "unfused-domain µops, as ports execute them", "size.uops"),
    "bytes": _field(NUMBER, "bytes of code", "size.bytes"),
    "bytes_loaded": _field(NUMBER, "bytes loaded by accesses of known size", "memory.bytes_loaded"),
    "bytes_stored": _field(NUMBER, "bytes stored by accesses of known size", "memory.bytes_stored"),
    "loads": _field(NUMBER, "instructions that load", "memory.loads"),
    "stores": _field(NUMBER, "instructions that store", "memory.stores"),
    "spills": _field(NUMBER, "stores to fixed offsets in the stack frame", "memory.spills"),
    "reloads": _field(NUMBER, "loads from fixed offsets in the stack frame", "memory.reloads"),
    "line_crossings": _field(
        NUMBER, "loads that cross a cache line at the best array alignment", "memory.line_crossings"
    ),
    "patterns": Name(
        TEXT,
        "the patterns of its accesses: `contiguous, strided, indirect`; also fixed, chased, unknown",
        lambda u, k: ", ".join(dict.fromkeys(access.pattern for access in k.accesses)),
    ),
    "stride": Name(NUMBER, "largest stride of a strided access in bytes; 0 without any; may be unknown", _stride),
    "line_use": Name(
        NUMBER,
        "least share of the lines that an access touches which is used, 0 to 1; may be unknown",
        lambda u, k: min((access.line_use for access in k.accesses if access.line_use is not None), default=None),
    ),
    "flop": _field(NUMBER, "floating-point operations, one per element", "arithmetic.flop"),
    "integer_operations": _field(
        NUMBER, "integer operations in vector registers, one per element", "arithmetic.integer_operations"
    ),
    "flop_per_byte": _field(NUMBER, "flop per byte loaded or stored; may be unknown", "arithmetic.flop_per_byte"),
    "packed_share": _field(
        NUMBER,
        "share of flop and integer_operations in packed instructions, 0 to 1; unknown without either",
        "arithmetic.packed_share",
    ),
    "vector_bits": _field(NUMBER, "bits of the widest packed arithmetic; 0 without any", "arithmetic.vector_bits"),
    "unknown": Name(NUMBER, "instructions that the model lacks", lambda u, k: len(k.unknown_instructions)),
    "refused": Name(NUMBER, "statements that could not be decoded", lambda u, k: len(k.refused)),
    "hints": Name(NUMBER, "number of hints", lambda u, k: len(k.hints)),
    "depth": _field(NUMBER, "nesting depth: 1 for an outermost loop, 0 for other code", "depth"),
    "is_loop": _field(TRUTH, "true for a loop; other code is analysed as if it were repeated", "is_loop"),
    "simulated": Name(TRUTH, "true if cycles are simulated", lambda u, k: k.simulated is not None),
    "function": _field(TEXT, "the function's symbol", "function"),
    "function_name": _field(TEXT, "the function as the source writes it", "function_name"),
    "name": _field(TEXT, "the kernel's name", "name"),
    "kernel_id": _field(TEXT, "identifier that does not depend on line numbers", "kernel_id"),
    "content_hash": _field(TEXT, "hash of the code; equal for equal code", "content_hash"),
    "kind": _field(TEXT, "loop, marker, file or code", "kind"),
    "label": _field(TEXT, "the label at its start", "label"),
    "file": Name(TEXT, "the source file, or the assembly file if the source is unknown", lambda u, k: place(u, k)[0]),
    "line": Name(NUMBER, "the line in that file; may be unknown", lambda u, k: place(u, k)[1] or None),
    "source": Name(
        TEXT,
        "the compiled file, or the linked file for code generated at link time; empty for assembly input",
        lambda u, k: u.source,
    ),
    "assembly_file": Name(TEXT, "the assembly file", lambda u, k: u.assembly_file),
    "assembly_line": Name(NUMBER, "the first line in that file; may be unknown", lambda u, k: k.first_line or None),
    "compiler": Name(TEXT, "the compiler; empty for assembly input", lambda u, k: u.compiler),
    "model": Name(TEXT, "the core, by its -mcpu name", lambda u, k: u.model.name),
    "isa": _field(TEXT, "the instruction set", "isa"),
    "verdict": _field(TEXT, "the verdict, one sentence", "verdict"),
    "limited_by": Name(
        TEXT,
        "the bounds that limit the kernel: `loop_carried, port`; empty if the simulation exceeds all bounds",
        lambda u, k: ", ".join(k.bounds.prediction.limited_by),
    ),
    "rules": Name(
        TEXT, "the rules of the hints: `sum-chain, memory-chain`", lambda u, k: ", ".join(h.rule for h in k.hints)
    ),
}
"""The names in conditions on a kernel; numbers are per iteration where that makes sense."""


TIMES = frozenset(
    (
        *("cycles", "bound", "port", "divider", "front_end", "retire", "loop_carried", "cycles_least", "cycles_most"),
        *("cycles_l2", "cycles_l3", "cycles_memory"),
    )
)
"""Names of predicted times, which exclude uncounted work."""

OF_WORK = TIMES.union(
    (
        "measured",
        *("elements", "instructions", "uops", "port_uops", "bytes_loaded", "bytes_stored"),
        *("loads", "stores", "spills", "reloads", "line_crossings", "flop", "integer_operations"),
    )
)
"""Names of quantities that are proportional to the work of an iteration."""

PAIR_NAMES: dict[str, PairName] = {
    "outcome": PairName(TEXT, "same, moved, equal, faster, slower, unknown, added or removed"),
    "ratio": PairName(NUMBER, "cycles of the second kernel relative to the first, for equal work; may be unknown"),
    "work": PairName(NUMBER, "work of an iteration of the second kernel relative to the first; may be unknown"),
    "basis": PairName(TEXT, "unit of the comparison: element, work or iteration; empty if not comparable"),
    "matched_by": PairName(TEXT, "content, identity, function or similarity; empty if one kernel is missing"),
    "confidence": PairName(NUMBER, "confidence that both are the same loop, 0 to 1"),
    "causes": PairName(TEXT, "the kinds of causes of the change: `chain-memory, ports`"),
}
"""The names in conditions on two kernels together."""

RANKED_NAMES: dict[str, PairName] = {
    "headroom": PairName(NUMBER, "share of its cycles that the best simulated change saves, 0 to 1"),
    "hot": PairName(TRUTH, "true if the profile has samples or counts of it; false without a profile"),
    "weight": PairName(NUMBER, "share of the program's time, 0 to 1; unknown without a profile"),
    "saved": PairName(NUMBER, "share of the program's time that its advice would save; unknown without a profile"),
    "iterations": PairName(NUMBER, "iterations; known if the profile counts executions"),
    "copies": PairName(NUMBER, "number of kernels of the build with this code"),
    "variants": PairName(NUMBER, "number of different codes of the same source loop"),
}
"""Additional names in conditions on a kernel of a whole build (incc-report, docs/builds.md)."""


def _ends(kernel: t.KernelReport) -> tuple[float, float]:
    """Return both ends of a prediction."""
    ends = kernel.range
    if ends is None:
        return kernel.cycles, kernel.cycles
    return ends.least, math.inf if ends.most is None else ends.most


def kernel_values(unit: t.UnitReport, kernel: t.KernelReport) -> dict[str, Value]:
    """Return the values of the names in one kernel of a unit's report."""
    return {name: entry.of(unit, kernel) for name, entry in NAMES.items()}


def pair_values(a: Mapping[str, Value], b: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values of names in a pair of kernels, such as one before and one after a change.

    Each name has b's value; with `_a` and `_b` appended it has that of the respective kernel.
    """
    return {**b, **{f"{name}_a": v for name, v in a.items()}, **{f"{name}_b": v for name, v in b.items()}}


# --- conditions -------------------------------------------------------------------------------------------------------


class Condition:
    """A parsed condition: its text, its names, and whether it compares with a baseline."""

    __slots__ = ("_test", "names", "needs_baseline", "text")

    def __init__(self, text: str, names: frozenset[str], needs_baseline: bool, test: _Evaluate) -> None:
        self.text = text
        self.names = names
        self.needs_baseline = needs_baseline
        self._test = test

    def holds(self, values: Mapping[str, Value], baseline: Mapping[str, Value] | None = None) -> bool:
        """Return True if the condition holds for these values; `+5%` is relative to `baseline`.

        A comparison with an unknown value (None, a value computed from it, or a division by zero) is false. Raises
        ValueError for a name without a value, a value of another kind than the name's, and a missing baseline.
        """
        if self.needs_baseline and baseline is None:
            raise ValueError(f"{self.text!r} needs a baseline, but there is none")
        return self._test(values, baseline) is True


def parse(text: str, pairs: bool = False, names: Mapping[str, Name] = NAMES, ranked: bool = False) -> Condition:
    """Parse a condition.

    Args:
        text: the condition.
        names: the names that it may use.
        pairs: the condition is on two kernels, so names may end in `_a` and `_b`.
        ranked: the condition is on a kernel among all of a build.

    Raises:
        ValueError: with the column (from 1) and the mistake there.
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"a condition has at most {MAX_LENGTH} characters, not {len(text)}")
    for i, depth in parentheses(text, 0, len(text)):
        if depth > MAX_DEPTH:
            raise _error(i, f"more than {MAX_DEPTH} nested parentheses")
    checker = _Checker({**names, **RANKED_NAMES} if ranked else names, PAIR_NAMES if pairs else None)
    kind, test = checker.check(_tree(text))
    if kind != TRUTH:
        raise ValueError(f"{text.strip()!r} is {_described(kind)}, not a condition; compare it with a value")
    return Condition(text, frozenset(checker.used), checker.needs_baseline, test)


def _error(at: int, message: str) -> ValueError:
    return ValueError(f"column {at + 1}: {message}")


# --- from text to a tree ----------------------------------------------------------------------------------------------


class _Node(msgspec.Struct, frozen=True):
    """A node of the syntax tree: an operation (or `name`, `text` …), its column, and its parts."""

    operation: str
    at: int
    parts: tuple[Any, ...]


def _tree(text: str) -> _Node:
    import pyparsing as pp

    try:
        (tree,) = _grammar().parse_string(text)
    except pp.ParseBaseException as failure:
        raise _syntax_error(text, failure.loc, failure.msg) from None
    except RecursionError:
        raise ValueError("the condition is nested too deeply") from None
    assert isinstance(tree, _Node)
    return tree


_WORDS = ("and", "or", "not", "in", "like", "true", "false")

# Operators of other languages, and their equivalents here.
_FOREIGN = {"=": "==", "&": "and", "|": "or", "!": "not", "~": "like", "^": "a product", "[": "("}


def _syntax_error(text: str, at: int, message: str) -> ValueError:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    rest = text[at:]
    expected = message[:1].lower() + message[1:]
    if not rest:
        return _error(at, f"{expected}, found the end")
    if rest[0] in "\"'" and rest[0] not in rest[1:]:
        return _error(at, "the closing quote is missing")
    if rest[0] == "%":
        return _error(at, "a relative change needs a sign and must stand alone on the right, as in cycles > +5%")
    length = 1
    while length < min(len(rest), 20) and (rest[length - 1 : length + 1].replace("_", "a").isalnum()):
        length += 1
    foreign = f" (write {_FOREIGN[rest[0]]})" if rest[0] in _FOREIGN else ""
    return _error(at, f"{expected}, found {rest[:length]!r}{foreign}")


@cache
def _grammar() -> pp.ParserElement:
    """Return the language's grammar.

    From loosest to tightest each operator occurs once, so the parser never backtracks: text in n parentheses is parsed
    in n steps. There is no alternative after an operator (`-`), so errors are reported where they are.
    """
    import pyparsing as pp

    def named(element: pp.ParserElement, name: str) -> pp.ParserElement:
        return element.set_name(name)

    def leaf(operation: str, element: pp.ParserElement, value: Callable[[str], Any]) -> pp.ParserElement:
        return element.set_parse_action(lambda text, at, tokens: _Node(operation, at, (value(tokens[0]),)))

    def chain(operation: str, operand: pp.ParserElement, operator: pp.ParserElement) -> pp.ParserElement:
        def node(text: str, at: int, tokens: pp.ParseResults) -> _Node:
            first: _Node = tokens[0]
            return first if len(tokens) == 1 else _Node(operation, first.at, tuple(tokens))

        return (operand + pp.ZeroOrMore(operator - operand)).set_parse_action(node)

    def prefixed(operation: str, operator: pp.ParserElement, odd: str, operand: pp.ParserElement) -> pp.ParserElement:
        """Return an operand after any number of operators; pairs of those that are `odd` cancel out."""

        def node(text: str, at: int, tokens: pp.ParseResults) -> _Node:
            *operators, last = tokens
            inner: _Node = last
            return _Node(operation, at, (operators.count(odd) % 2 == 1, inner)) if operators else inner

        return (pp.ZeroOrMore(operator) + operand).set_parse_action(node)

    opening, comma = pp.Suppress("("), pp.Suppress(",")
    closing = named(pp.Suppress(")"), "an operator or ')'")
    end_of_arguments = named(pp.Suppress(")"), "an operator, ',' or ')'")
    end_of_list = named(pp.Suppress(")"), "',' or ')'")
    keyword = {word: pp.Regex(rf"{word}\b") for word in _WORDS}
    digits = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    number = leaf("number", pp.Regex(digits), float)
    text = named(leaf("text", pp.Regex(r"\"[^\"]*\"|'[^']*'"), lambda tokens: tokens[1:-1]), "text in quotes")
    truth = leaf("truth", keyword["true"] | keyword["false"], lambda tokens: tokens == "true")
    name = leaf("name", pp.Regex(rf"(?!(?:{'|'.join(_WORDS)})\b)[A-Za-z_][A-Za-z_0-9]*"), str)
    signed = leaf("number", pp.Regex(rf"[+-]?{digits}"), float)
    literal = named(signed | text | truth, "a number or text in quotes")
    change = leaf("change", pp.Regex(rf"[+-]\s*{digits}\s*%"), lambda tokens: float("".join(tokens[:-1].split())) / 100)

    condition = pp.Forward()
    call = pp.Regex(r"(?:max|min)(?=\s*\()") + opening - condition + pp.ZeroOrMore(comma - condition) - end_of_arguments
    call.set_parse_action(lambda text, at, tokens: _Node(tokens[0], at, tuple(tokens[1:])))
    group = opening - condition - closing
    value = named(number | text | truth | call | name | group, "a name, a number, text in quotes or '('")
    factor = prefixed("sign", pp.one_of("+ -"), "-", value)
    total = chain("+", chain("*", factor, pp.one_of("* /")), pp.one_of("+ -"))
    literals = named(opening, "'('") - literal + pp.ZeroOrMore(comma - literal) - end_of_list
    optional_not = pp.Optional(keyword["not"])
    comparison = total + pp.ZeroOrMore(
        pp.Group(pp.one_of("<= >= == != < >") - named(change | total, "a value to compare with"))
        | pp.Group(optional_not + keyword["like"] - text)
        | pp.Group(optional_not + keyword["in"] - literals)
    )

    def compare(text: str, at: int, tokens: pp.ParseResults) -> _Node:
        first: _Node = tokens[0]
        others = tokens[1:]
        if not others:
            return first
        if len(others) > 1:
            raise _error(others[1][-1].at, "comparisons cannot be chained; write a < b and b < c")
        negated = others[0][0] == "not"
        operation, *right = others[0][1:] if negated else others[0]
        return _Node(operation, first.at, (first, negated, *right))

    comparison.set_parse_action(compare)
    negation = prefixed("not", keyword["not"], "not", comparison)
    condition <<= chain("or", chain("and", negation, pp.Suppress(keyword["and"])), pp.Suppress(keyword["or"]))
    whole = condition + named(pp.StringEnd(), "an operator, and, or, or the end")
    return whole.parse_with_tabs()


# --- from the tree to a test ------------------------------------------------------------------------------------------


class _Checker:
    """A compiler from a syntax tree to a test, which collects names in `used` and reports type errors."""

    def __init__(self, names: Mapping[str, Name | PairName], of_pairs: Mapping[str, PairName] | None) -> None:
        self.names = names
        self.pairs = of_pairs is not None
        self.of_pairs = of_pairs or {}
        self.used: set[str] = set()
        self.needs_baseline = False

    def check(self, node: _Node) -> tuple[str, _Evaluate]:
        """Return the kind of a node's value and the function that computes it. Raises ValueError."""
        operation, parts = node.operation, node.parts
        match operation:
            case "number" | "text" | "truth":
                kind = {"number": NUMBER, "text": TEXT, "truth": TRUTH}[operation]
                constant: Value = parts[0]
                return kind, lambda values, baseline: constant
            case "name":
                return self._name(node)
            case "sign":
                operand = self._operand(parts[1], NUMBER, "a sign")
                return NUMBER, _computed([operand], operator.neg) if parts[0] else operand
            case "+" | "*":
                operands = [self._operand(part, NUMBER, f"{parts[1]}") for part in parts[::2]]
                return NUMBER, _arithmetic(operands, parts[1::2])
            case "max" | "min":
                extreme = max if operation == "max" else min
                operands = [self._operand(part, NUMBER, operation) for part in parts]
                return NUMBER, _computed(operands, lambda *numbers: extreme(numbers))
            case "not":
                operand = self._operand(parts[1], TRUTH, "not")
                return TRUTH, _computed([operand], operator.not_, unknown=True) if parts[0] else operand
            case "and" | "or":
                conditions = [self._operand(part, TRUTH, operation) for part in parts]
                join = all if operation == "and" else any
                return TRUTH, lambda values, baseline: join([holds(values, baseline) is True for holds in conditions])
            case "like":
                operand, negated, pattern = self._operand(parts[0], TEXT, "like"), parts[1], parts[2].parts[0]
                return TRUTH, _computed([operand], lambda text: fnmatchcase(text, pattern) != negated, unknown=False)
            case "in":
                return TRUTH, self._in(parts[0], parts[1], parts[2:])
            case _:
                return TRUTH, self._compared(parts[0], operation, parts[2])

    def _operand(self, node: _Node, kind: str, user: str) -> _Evaluate:
        actual, evaluate = self.check(node)
        if actual != kind:
            takes = {NUMBER: "numbers", TEXT: "text on its left", TRUTH: "conditions"}[kind]
            raise _error(node.at, f"{user} takes {takes}, not {_described(actual)}")
        return evaluate

    def _name(self, node: _Node) -> tuple[str, _Evaluate]:
        name: str = node.parts[0]
        entry: Name | PairName | None = self.names.get(name) or self.of_pairs.get(name)
        if entry is None and name[-2:] in ("_a", "_b"):
            entry = self.names.get(name[:-2])
            if entry is not None and not self.pairs:
                raise _error(node.at, f"{name}: the condition is on one kernel, not on two; write {name[:-2]}")
            if entry is None and name[:-2] in self.of_pairs:
                raise _error(node.at, f"{name}: this value describes both kernels together; write {name[:-2]}")
        if entry is None and name in PAIR_NAMES:
            raise _error(node.at, f"{name}: the condition is on one kernel, not on two")
        if entry is None:
            raise _error(node.at, f"unknown name {name!r}{self._suggestion(name)}")
        self.used.add(name)
        return entry.kind, _value_of(name, entry.kind)

    def _suggestion(self, name: str) -> str:
        suffix = name[-2:] if self.pairs and name[-2:] in ("_a", "_b") else ""
        # Suggestions for long names are slow to compute, and such names are not typing mistakes.
        if len(name) < 40:
            close = nearest(name.removesuffix(suffix).lower(), [*self.names, *self.of_pairs, *_WORDS])
            if close:
                return f"; did you mean {close[0]}{suffix if close[0] in self.names else ''}?"
        return f"; valid names: {', '.join([*self.names, *self.of_pairs])}"

    def _in(self, left: _Node, negated: bool, literals: Sequence[_Node]) -> _Evaluate:
        kind, evaluate = self.check(left)
        for literal in literals:
            if self.check(literal)[0] != kind:
                raise _error(literal.at, f"{_described(kind)} cannot be equal to {_described(self.check(literal)[0])}")
        allowed = frozenset(literal.parts[0] for literal in literals)
        return _computed([evaluate], lambda value: (value in allowed) != negated, unknown=False)

    def _compared(self, left: _Node, comparison: str, right: _Node) -> _Evaluate:
        if right.operation == "change":
            if comparison not in _ORDERS:
                raise _error(right.at, "a relative change can only be compared with <, <=, > or >=")
            self.needs_baseline = True
            return _changed(self._operand(left, NUMBER, comparison), comparison, right.parts[0])
        if comparison in _ORDERS:
            operands = [self._operand(side, NUMBER, comparison) for side in (left, right)]
            return _computed(operands, _ORDERS[comparison], unknown=False)
        (kind, first), (other, second) = self.check(left), self.check(right)
        if kind != other:
            raise _error(right.at, f"{_described(kind)} cannot be equal to {_described(other)}")
        return _computed([first, second], operator.eq if comparison == "==" else operator.ne, unknown=False)


def _described(kind: str) -> str:
    return {NUMBER: "a number", TEXT: "text", TRUTH: "a condition"}[kind]


def _value_of(name: str, kind: str) -> _Evaluate:
    def evaluate(values: _Values, baseline: _Values | None) -> Value:
        if name not in values:
            raise ValueError(f"{name} has no value")
        value = values[name]
        if value is None or value != value:
            return None
        actual = TRUTH if isinstance(value, bool) else TEXT if isinstance(value, str) else NUMBER
        if actual != kind:
            raise ValueError(f"{name} is {_described(actual)}, not {_described(kind)}")
        return value

    return evaluate


def _computed(operands: Sequence[_Evaluate], compute: Callable[..., Value], unknown: Value = None) -> _Evaluate:
    """Return a function that computes a value from the operands' values; `unknown` if one of these is unknown."""

    def evaluate(values: _Values, baseline: _Values | None) -> Value:
        results = [operand(values, baseline) for operand in operands]
        return unknown if None in results else compute(*results)

    return evaluate


def _arithmetic(operands: Sequence[_Evaluate], signs: Sequence[str]) -> _Evaluate:
    def compute(first: float, *others: float) -> Value:
        result = float(first)
        for sign, value in zip(signs, others, strict=True):
            match sign:
                case "+":
                    result += value
                case "-":
                    result -= value
                case "*":
                    result *= value
                case _:
                    if not value:
                        return None
                    result /= value
        return None if result != result else result

    return _computed(operands, compute)


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def _changed(operand: _Evaluate, order: str, change: float) -> _Evaluate:
    """Compare with the baseline's value plus a change."""
    holds = _ORDERS[order]

    def evaluate(values: _Values, baseline: _Values | None) -> Value:
        now = operand(values, None)
        before: Any = operand(baseline, None) if baseline is not None else None
        return now is not None and before is not None and holds(now, before + abs(before) * change)

    return evaluate
