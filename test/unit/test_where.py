"""Conditions on kernels: what they mean, what is said of mistakes, and that no text takes long to read."""

from __future__ import annotations

import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from incc.report import where
from incc.report.where import NAMES, NUMBER, OF_WORK, PAIR_NAMES, TEXT, TRUTH, Value, kernel_values, pair_values, parse
from report_fixtures import make_report, sum_parts, triad_parts, unknown_parts

VALUES: dict[str, Value] = dict.fromkeys(NAMES)
VALUES.update(cycles=4.0, port=2.0, instructions=6, divider=0, function="gemm_kernel", is_loop=True, simulated=False)
VALUES.update(vector_bits=256, label=".L3", limited_by="port, front_end")


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("cycles > 3", True),
        ("cycles > 4", False),
        ("cycles >= 4", True),
        ("cycles <= 3.9", False),
        ("4 == cycles", True),
        ("cycles != 4", False),
        ("cycles > 1.5 * port + 1", False),
        ("cycles >= 1.5 * port + 1", True),
        ("cycles - 1 - 1 == 2", True),  # from the left
        ("instructions / 2 / 3 == 1", True),
        ("-cycles < - -3", True),
        ("2 * (cycles + port) == 12", True),
        ("1 + 2 * 3 == 7", True),
        ("max(cycles, port, 3) == 4 and min(cycles, port + 1) == 3", True),
        ("cycles > .5e1", False),
        ("is_loop", True),
        ("not is_loop", False),
        ("not not is_loop", True),
        ("simulated == false", True),
        ("(cycles > 3) == is_loop", True),
        ("simulated or is_loop and cycles < 3", False),  # and before or
        ("is_loop or simulated and simulated", True),
        ("not simulated and is_loop", True),  # not before and
        ("not (simulated or is_loop)", False),
        ('function like "gemm*"', True),
        ("function like 'GEMM*'", False),
        ('function like "gemm"', False),
        ('function not like "*kernel"', False),
        ('function == "gemm_kernel"', True),
        ('limited_by like "*port*"', True),
        ("vector_bits in (128, 256)", True),
        ("vector_bits not in (128, 256)", False),
        ('label in (".L2", ".L3")', True),
        ("is_loop in (false)", False),
        ("cycles>3and\tport\n<3", True),
    ],
)  # fmt: skip
def test_meaning(text: str, holds: bool) -> None:
    assert parse(text).holds(VALUES) is holds


@pytest.mark.parametrize(
    "text",
    [
        "bound > 0",
        "bound <= 0",
        "bound == bound",
        "bound != 3",
        "bound + 1 > 0",
        "-bound < 1",
        "max(cycles, bound) > 0",
        "verdict == verdict",
        'verdict not like "x"',
        'verdict not in ("x", "y")',
        "cycles / divider > 0",
        "cycles / (port - 2) != 1",
        "bound > +5%",
        "1e999 - 1e999 != 3",
    ],
)
def test_what_is_not_known_compares_with_nothing(text: str) -> None:
    assert not parse(text).holds(VALUES, VALUES)
    assert parse(f"not ({text})").holds(VALUES, VALUES)


@pytest.mark.parametrize(
    ("text", "now", "before", "holds"),
    [
        ("cycles > +5%", 106, 100, True),
        ("cycles > +5%", 105, 100, False),
        ("cycles >= +50 %", 150, 100, True),
        ("cycles < -2%", 97.9, 100, True),
        ("cycles < -2%", 98, 100, False),
        ("cycles <= +0%", 100, 100, True),
        ("cycles > +5%", 0.1, 0, True),
        ("cycles > +5%", 0, 0, False),
        ("cycles > +5%", None, 1, False),
        ("cycles > +5%", 1, None, False),
        ("0 - cycles > +5%", 90, 100, True),  # more than 5 % of what it was above it
        ("cycles / port > +10%", 6, 4, True),
    ],
)
def test_changes(text: str, now: Value, before: Value, holds: bool) -> None:
    condition = parse(text)
    assert condition.needs_baseline
    assert condition.holds({**VALUES, "cycles": now}, {**VALUES, "cycles": before}) is holds
    with pytest.raises(ValueError, match="needs a baseline, but there is none"):
        condition.holds(VALUES)


def test_pairs() -> None:
    condition = parse('cycles_b > 1.1*cycles_a and function like "gemm*"', pairs=True)
    assert condition.names == {"cycles_a", "cycles_b", "function"}
    assert not condition.needs_baseline
    slower = {**VALUES, "cycles": 4.5}
    assert condition.holds(pair_values(VALUES, slower))
    assert not condition.holds(pair_values(slower, VALUES))
    assert parse("cycles == 4.5 and cycles > +10%", pairs=True).holds(pair_values(VALUES, slower), VALUES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "column 1: expected a name, a number, text in quotes or '(', found the end"),
        ("cycles", "'cycles' is a number, not a condition; compare it with a value"),
        ("function", "'function' is text, not a condition"),
        ("cycles >", "column 9: expected a value to compare with, found the end"),
        ("cycles > 3 and", "column 15: expected a name"),
        ("cycles > 3)", "column 11: expected an operator, and, or, or the end, found ')'"),
        ("(cycles > 3", "column 12: expected an operator or ')', found the end"),
        ("cycles > max(1", "column 15: expected an operator, ',' or ')', found the end"),
        ("cycles = 3", "column 8: expected .*, found '=' (write ==)"),
        ("cycles > 3 && is_loop", "column 12: .* (write and)"),
        ("!is_loop", "column 1: .* (write not)"),
        ("cycls > 3", "column 1: unknown name 'cycls'; did you mean cycles?"),
        ("is_loop and Cycles > 3", "column 13: unknown name 'Cycles'; did you mean cycles?"),
        ("cycels_b > 3", "column 1: unknown name 'cycels_b'; did you mean cycles_b?"),
        ("xyzzy > 3", "column 1: unknown name 'xyzzy'; valid names: cycles, bound,"),
        ("is_loop AND simulated", "column 9: expected an operator, and, or, or the end, found 'AND'"),
        ('cycles > "x"', "column 10: > takes numbers, not text"),
        ('function < "x"', "column 1: < takes numbers, not text"),
        ("function == 3", "column 13: text cannot be equal to a number"),
        ("is_loop != 3", "column 12: a condition cannot be equal to a number"),
        ('cycles in (3, "x")', "column 15: a number cannot be equal to text"),
        ('cycles like "x"', "column 1: like takes text on its left, not a number"),
        ("function like gemm*", "column 15: expected text in quotes, found 'gemm'"),
        ("cycles in ()", "column 12: expected a number or text in quotes, found ')'"),
        ("1 + function > 3", "column 5: + takes numbers, not text"),
        ("max(1, is_loop) > 3", "column 8: max takes numbers, not a condition"),
        ("-label > 3", "column 2: a sign takes numbers, not text"),
        ("cycles and is_loop", "column 1: and takes conditions, not a number"),
        ("not cycles", "column 5: not takes conditions, not a number"),
        ("1 < cycles < 3", "column 14: comparisons cannot be chained"),
        ("cycles > 5%", "column 11: a relative change needs a sign and must stand alone on the right"),
        ("cycles > 1 + +5%", "column 16: a relative change needs a sign and must stand alone on the right"),
        ("cycles == +5%", "column 11: a relative change can only be compared with <, <=, > or >="),
        ('function > +5%', "column 1: > takes numbers, not text"),
        ('function == "abc', "column 13: the closing quote is missing"),
        ("cycles > 3 \x00", r"column 12: expected an operator, and, or, or the end, found '\\x00'"),
    ],
)  # fmt: skip
def test_mistakes(text: str, message: str) -> None:
    pattern = re.sub(r"[()?+]", r"\\\g<0>", message)
    with pytest.raises(ValueError, match=f"^{pattern}"):
        parse(text, pairs="_b" in text)


def test_names_of_pairs_are_for_pairs() -> None:
    with pytest.raises(ValueError, match="cycles_a: the condition is on one kernel, not on two; write cycles"):
        parse("cycles_a > 3")


def test_values_that_are_not_what_names_say() -> None:
    for value, found in (("x", "text"), (True, "a condition")):
        with pytest.raises(ValueError, match=f"cycles is {found}, not a number"):
            parse("cycles > 3").holds({"cycles": value})
    with pytest.raises(ValueError, match="function is a number, not text"):
        parse('function == "x"').holds({"function": 3})
    with pytest.raises(ValueError, match="cycles has no value"):
        parse("cycles > 3").holds({})
    assert not parse("cycles > 3 or cycles <= 3").holds({"cycles": float("nan")})


# --- text that means harm ---------------------------------------------------------------------------------------------


def steps(text: str) -> int:
    """How many functions are called to read a text, or to refuse it."""
    count = 0

    def called(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(called)
    try:
        parse(text)
    except ValueError:
        pass
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", ["(", "max("])
def test_parentheses_are_read_in_proportion(name: str) -> None:
    inside = name * where.MAX_DEPTH + "cycles" + ")" * where.MAX_DEPTH + " == 4"
    assert parse(inside).holds(VALUES)
    for depth in (where.MAX_DEPTH + 1, 50, 500):
        with pytest.raises(ValueError, match="more than 20 nested parentheses"):
            parse(name * depth + "cycles" + ")" * depth + " == 4")
    with pytest.raises(ValueError, match="more than 20 nested parentheses"):
        parse("(" * 3999)
    assert parse(f'function != "{"(" * 500}"').holds(VALUES)


def test_nesting_costs_what_length_costs() -> None:
    parse("is_loop")  # the grammar is made once
    flat, half, full = (steps("(" * n + "is_loop" + ")" * n) for n in (0, 10, 20))
    assert full - half < 1.5 * (half - flat)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000,
        "(" * 1_000_000,
        "x" * 1_000_000,
        "1+" * 500_000,
        '"' * 1_000_001,
        "not " * 250_000,
        "\0" * 1_000_000,
    ],
)
def test_long_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="at most 4000 characters") as caught:
        parse(text)
    assert len(str(caught.value)) < 200
    assert steps(text) < 10


@pytest.mark.parametrize(
    "text",
    ["1+" * 1990 + "1 > 3", "not " * 990 + "is_loop", "-" * 3980 + "cycles > 3", "cycles>3 and " * 300 + "is_loop"],
)
def test_long_chains_need_no_depth(text: str) -> None:
    assert parse(text).holds(VALUES)


def test_reading_deep_in_a_program_is_no_crash() -> None:
    def deeper(n: int) -> None:
        if n:
            return deeper(n - 1)
        parse("(" * 20 + "cycles > 3" + ")" * 20)

    parse("is_loop")  # the grammar is made once
    used, frame = 0, sys._getframe()
    while frame := frame.f_back:  # type: ignore[assignment]
        used += 1
    room = sys.getrecursionlimit() - used
    deeper(room - 600)
    with pytest.raises(ValueError, match="nested too deep"):
        deeper(room - 200)


@given(st.text(max_size=60) | st.text("()<>=+-*/%\"' ,.0a", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    message = ""
    try:
        condition = parse(text)
    except ValueError as error:
        message = str(error)
    if message:
        assert re.match(r"column \d+: |'.*' is |\".*\" is ", message, re.DOTALL)
    else:
        assert condition.holds(VALUES, VALUES) in (True, False)


# --- printed and read back --------------------------------------------------------------------------------------------

# Each strategy draws a text with the value that it should have, worked out here without the language.
Pair = tuple[str, Any]

numbers: st.SearchStrategy[Pair] = st.one_of(
    st.integers(0, 99).map(lambda n: (str(n), float(n))),
    st.floats(0, 1e6, allow_subnormal=False).map(lambda x: (repr(x), x)),
    st.sampled_from([name for name, entry in NAMES.items() if entry.kind == NUMBER]).map(lambda n: (n, VALUES[n])),
)
texts: st.SearchStrategy[Pair] = st.one_of(
    st.text("ab*?[]'_ ", max_size=4).map(lambda s: (f'"{s}"', s)),
    st.sampled_from([name for name, entry in NAMES.items() if entry.kind == TEXT]).map(lambda n: (n, VALUES[n])),
)


def calculated(a: Pair, operator: str, b: Pair) -> Pair:
    text, (x, y) = f"({a[0]} {operator} {b[0]})", (a[1], b[1])
    if x is None or y is None or (operator == "/" and not y):
        return text, None
    value = {"+": x + y, "-": x - y, "*": x * y}[operator] if operator != "/" else x / y
    return text, None if value != value else value


def extreme(which: str, pairs: list[Pair]) -> Pair:
    text = f"{which}({', '.join(pair[0] for pair in pairs)})"
    values = [pair[1] for pair in pairs]
    return text, None if None in values else max(values) if which == "max" else min(values)


arithmetic = st.recursive(
    numbers,
    lambda inner: st.one_of(
        st.builds(calculated, inner, st.sampled_from("+-*/"), inner),
        st.builds(extreme, st.sampled_from(["max", "min"]), st.lists(inner, min_size=1, max_size=3)),
        inner.map(lambda pair: (f"(-{pair[0]})", None if pair[1] is None else -pair[1])),
    ),
    max_leaves=6,
)


def compared(a: Pair, operator: str, b: Pair) -> Pair:
    x, y = a[1], b[1]
    compare: dict[str, Any] = {
        "<": lambda: x < y, "<=": lambda: x <= y, ">": lambda: x > y, ">=": lambda: x >= y,
        "==": lambda: x == y, "!=": lambda: x != y,
    }  # fmt: skip
    return f"{a[0]} {operator} {b[0]}", x is not None and y is not None and compare[operator]()


def member(a: Pair, options: list[str], negated: bool) -> Pair:
    listed = ", ".join(f'"{option}"' for option in options)
    text = f"{a[0]} {'not ' if negated else ''}in ({listed})"
    return text, a[1] is not None and (a[1] in options) != negated


def matched(a: Pair, pattern: str, negated: bool) -> Pair:
    text = f"""{a[0]} {"not " if negated else ""}like "{pattern}\""""
    return text, a[1] is not None and fnmatchcase(a[1], pattern) != negated


conditions = st.recursive(
    st.one_of(
        st.builds(compared, arithmetic, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), arithmetic),
        st.builds(compared, texts, st.sampled_from(["==", "!="]), texts),
        st.builds(member, texts, st.lists(st.text("ab", max_size=2), min_size=1, max_size=3), st.booleans()),
        st.builds(matched, texts, st.text("agm*?_", max_size=4), st.booleans()),
        st.sampled_from([("is_loop", True), ("simulated", False), ("true", True), ("false", False)]),
    ),
    lambda inner: st.one_of(
        inner.map(lambda pair: (f"not ({pair[0]})", not pair[1])),
        st.tuples(inner, inner).map(lambda ps: (f"({ps[0][0]}) and ({ps[1][0]})", ps[0][1] and ps[1][1])),
        st.tuples(inner, inner).map(lambda ps: (f"({ps[0][0]}) or ({ps[1][0]})", ps[0][1] or ps[1][1])),
    ),
    max_leaves=6,
)


@given(conditions)
def test_what_is_printed_means_the_same_when_read(pair: Pair) -> None:
    text, expected = pair
    assert parse(text).holds(VALUES) is expected


flat = st.lists(st.tuples(st.sampled_from(["and", "or"]), st.booleans(), st.booleans()), min_size=1, max_size=8)
sums = st.lists(st.tuples(st.sampled_from("+-*/"), st.integers(1, 9)), max_size=8)


@given(flat, sums)
def test_precedence_is_that_of_python(joined: list[tuple[str, bool, bool]], terms: list[tuple[str, int]]) -> None:
    # Python reads the same text the same way, up to the case of its constants.
    text = " ".join(f"{word} {'not ' if n else ''}{str(value).lower()}" for word, n, value in joined).partition(" ")[2]
    assert parse(text).holds(VALUES) is eval(text, {"true": True, "false": False})
    number = "3" + "".join(f" {operator} {value}" for operator, value in terms)
    assert parse(f"{number} == {eval(number)!r}" if eval(number) >= 0 else f"{number} < 0").holds(VALUES)


# --- names ------------------------------------------------------------------------------------------------------------


def test_values_of_a_kernel() -> None:
    report = make_report(triad_parts(), sum_parts(), unknown_parts())
    (unit,) = report.units
    for kernel in unit.kernels:
        values = kernel_values(unit, kernel)
        assert list(values) == list(NAMES)
        for name, value in values.items():
            kinds: dict[str, Any] = {NUMBER: (int, float), TEXT: str, TRUTH: bool}
            assert value is None or isinstance(value, kinds[NAMES[name].kind])
            assert isinstance(value, bool) == (NAMES[name].kind == TRUTH)
            parse(f"{name} == {name}").holds(values)
    triad, sums, unknown = (kernel_values(unit, kernel) for kernel in unit.kernels)
    bounds = unit.kernels[0].bounds
    assert triad["cycles"] == bounds.prediction.cycles
    assert triad["bound"] == max(triad[n] for n in ("port", "divider", "front_end", "retire", "loop_carried"))  # type: ignore[type-var]
    assert (triad["file"], triad["line"], triad["source"], triad["function"]) == ("triad.c", 4, "triad.c", "triad")
    assert sums["limited_by"] == "loop_carried"
    assert "sum-chain" in str(sums["rules"])
    assert (unknown["unknown"], triad["unknown"]) == (1, 0)


def test_places_without_a_source() -> None:
    (unit,) = make_report(triad_parts()).units
    kernel = replace(unit.kernels[0], source=None)
    values = kernel_values(unit, kernel)
    assert (values["file"], values["line"]) == ("triad.s", kernel.first_line)
    nowhere = kernel_values(unit, replace(kernel, first_line=0))
    assert (nowhere["line"], nowhere["assembly_line"]) == (None, None)


def test_the_manual_lists_all_names() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "filters.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|$", manual, re.MULTILINE)
    assert rows == [(name, entry.kind, entry.meaning) for name, entry in (NAMES | PAIR_NAMES).items()]


def test_names_of_pairs() -> None:
    condition = parse('ratio > 1.05 and outcome != "unknown"', pairs=True)
    assert condition.holds({"ratio": 1.1, "outcome": "slower"})
    assert not condition.holds({"ratio": None, "outcome": "removed"})
    with pytest.raises(ValueError, match="column 1: ratio: the condition is on one kernel, not on two"):
        parse("ratio > 1")
    with pytest.raises(ValueError, match="column 1: ratio_a: this value describes both kernels together; write ratio"):
        parse("ratio_a > 1", pairs=True)
    with pytest.raises(ValueError, match="did you mean outcome"):
        parse('outcom == "slower"', pairs=True)
    assert not NAMES.keys() & PAIR_NAMES.keys()
    assert NAMES.keys() >= OF_WORK
    assert all(NAMES[name].kind == NUMBER for name in OF_WORK)


def test_the_manual_has_no_mistake() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "filters.md").read_text(encoding="utf-8")
    examples = re.findall(r"^ {4,6}(\S.*)$", manual, re.MULTILINE)
    assert len(examples) >= 5
    for example in examples:
        parse(example, pairs=True)


def test_the_grammar_is_not_loaded_before_it_is_used() -> None:
    program = "import sys, incc.report.where; print('pyparsing' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={"PYTHONPATH": ":".join(sys.path)}
    )
    assert done.stdout == "False\n"
