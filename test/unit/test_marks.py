"""Marks in sources: what they say, what they mark, and what is wrong with them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from incc.frontends.marks import Mark, MarkCondition, marks_of
from properties import examples


def one(text: str, file: str = "a.c") -> Mark:
    (mark,), errors = marks_of(text, file)
    assert errors == []
    return mark


def span(text: str, file: str = "a.c") -> tuple[int, int, int]:
    mark = one(text, file)
    return mark.first_line, mark.first_column, mark.last_line


def problem(text: str, file: str = "a.c") -> tuple[int, int, str]:
    marks, (error,) = marks_of(text, file)
    assert marks == []
    assert error.source.file == file
    return error.source.line, error.column, error.text


def test_what_a_mark_says() -> None:
    mark = one(
        "int x;\n  // incc: analyze name(up.date) mcpu(skylake, znver4) expect(cycles <= max(2, 3)) \nfor (;;) ;\n"
    )
    assert astuple(mark)[:6] == ("a.c", 2, 6, 3, 1, 3)
    assert (mark.name, mark.mcpu) == ("up.date", ("skylake", "znver4"))
    assert mark.expected == (MarkCondition("cycles <= max(2, 3)", 2, 63),)


def test_a_mark_may_say_nothing_more() -> None:
    assert astuple(one("/* incc: analyze */\nfor (;;) ;\n"))[6:] == ("", (), "", (), ())


def test_several_expectations_and_quotes() -> None:
    mark = one('//incc: analyze expect(cycles < 3), expect( limited_by like ")" )\nx;')
    assert [expected.condition for expected in mark.expected] == ["cycles < 3", 'limited_by like ")"']


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("// M\nfor (i = 0; i < n; ++i)\n  for (j = 0; j < n; ++j)\n    x[i] += 1;\ny;\n", (2, 1, 4)),
        ("// M\nfor (i = 0; i < n; ++i) {\n  x[i] += 1;\n}\ny;\n", (2, 1, 4)),
        ("  for (i = 0; i < n; ++i) { // M\n    x[i] += '}';\n  }\ny;\n", (1, 3, 3)),
        ("  /* M */ for (;;)\n  x;\ny;\n", (1, 23, 2)),
        ("// M\n\n// more\n#pragma omp simd { \\\n {\nwhile (x)\n  y;\n", (6, 1, 7)),
        ("// M\ndo {\n  x;\n} while (y\n);\nz;\n", (2, 1, 5)),
        ("// M\nif (x) {\n  a;\n} else {\n  b;\n}\nz;\n", (2, 1, 6)),
        ("// M\nif (x)\n a;\nelse\n b;\nz;\n", (2, 1, 5)),
        ("// M\nfor (auto x : {1, 2}) {\n y;\n}\nz;\n", (2, 1, 4)),
        ("// M\nstd::for_each(b, e, [](T &x) {\n x *= 2;\n});\nz;\n", (2, 1, 4)),
        ("// M\nstatic T\nf(int a)\n{\n  for (;;) ;\n}\nz;\n", (2, 1, 6)),
        ('// M\nx = "}\\";" + R"(}\n;)" + \'\\\'\' + 1\'000\n;\nz;\n', (2, 1, 4)),
        ("// M\n// M2\nfor (;;)\n;", None),
        ("// M\nfor (;;) {", (2, 1, 2)),
        ("{ x; // M\n}", (1, 1, 2)),
    ],
)  # fmt: skip
def test_what_is_marked_in_c(code: str, found: tuple[int, int, int] | None) -> None:
    text = code.replace("M2", "incc: analyze name(b)").replace("M", "incc: analyze")
    if found is None:
        marks, errors = marks_of(text, "a.cpp")
        assert errors == []
        assert [(m.line, m.first_line, m.last_line) for m in marks] == [(1, 3, 4), (2, 3, 4)]
    else:
        assert span(text, "a.cpp") == found


@pytest.mark.parametrize(
    ("code", "file", "found"),
    [
        ("! M\ndo i = 1, n\n  do j = 1, n\n    a(j) = 1 ! end do\n  end do\nenddo\nx = 1\n", "a.f90", (2, 1, 6)),
        ("  do concurrent (i = 1:n) ! M\n    a(i) = 'end do'\n  end do\n", "a.F90", (1, 3, 3)),
        ("! M\nouter: do while (x > 1)\n  x = x - &\n   1\nend do outer\n", "a.f90", (2, 1, 5)),
        ("! M\na = b + &\n  c\nd = 1\n", "a.f90", (2, 1, 3)),
        ("c M\n      do 10 i = 1, n\n      do 10 j = 1, n\n   10 a(i) = 1\n      x = 1\n", "a.f", (2, 7, 4)),
        ("* M\n      a = b\n     1  + c\n      d = 1\n", "a.f", (2, 7, 3)),
        ("! M\npure real(8) function f(x)\n  do i = 1, 2\n  end do\nend function\nend\n", "a.f90", (2, 1, 5)),
        ("! M\nsubroutine s\ncontains\nsubroutine t\nend subroutine\nend subroutine\nend\n", "a.f90", (2, 1, 6)),
        ("! M\n!$omp simd\ndo i = 1, n\nend do\n", "a.f90", (3, 1, 4)),
        ("! M\ndo = 1\nx = 2", "a.f90", (2, 1, 2)),
    ],
)  # fmt: skip
def test_what_is_marked_in_fortran(code: str, file: str, found: tuple[int, int, int]) -> None:
    assert span(code.replace("M", "incc: analyze"), file) == found


@pytest.mark.parametrize(
    ("comment", "column", "text"),
    [
        ("incc: analyse", 10, "incc: takes analyze, not 'analyse'"),
        ("incc:", 9, "incc: takes analyze"),
        ("incc: analyze expects(cycles < 3)", 18, "no 'expects' in a mark; did you mean expect?"),
        ("incc: analyze foo(3)", 18, "no 'foo' in a mark; there are name, mcpu, trip, let and expect"),
        ("incc: analyze cycles < 3", 18, "'cycles' is none of name(…), mcpu(…), trip(…), let(…) and expect(…)"),
        ("incc: analyze expect(max(1, 2)", 18, "expect(… has no closing parenthesis"),
        ("incc: analyze name( )", 18, "name() says nothing"),
        ("incc: analyze name(a b)", 23, "a name is one word, not 'a b'"),
        ("incc: analyze name(a) name(b)", 26, "a mark has one name"),
        (
            "incc: analyze let(n = 1, m)",
            29,
            "let takes a register or variable and its value, such as rsi=8000, not 'm'",
        ),
        (
            "incc: analyze let(n = 1e3)",
            22,
            "let takes a register or variable and its value, such as rsi=8000, not 'n = 1e3'",
        ),
        ("incc: analyze mcpu(sky/lake)", 23, "'sky/lake' is not the name of a core"),
    ],
)
def test_what_is_wrong(comment: str, column: int, text: str) -> None:
    assert problem(f"// {comment}\nfor (;;) ;\n") == (1, column, text)


def test_parentheses_in_quotes_close_nothing() -> None:
    (mark,), errors = marks_of("""// incc: analyze expect(max(1, 2) < 3 and function != ':-)') name(a)\nx;\n""", "a.c")
    assert errors == []
    assert [expected.condition for expected in mark.expected] == ["max(1, 2) < 3 and function != ':-)'"]
    assert mark.name == "a"


def test_values_of_variables() -> None:
    (mark,), errors = marks_of("// incc: analyze let(n = 800, rsi=-0x10) let(m=18446744073709551615)\nx;\n", "a.c")
    assert errors == []
    assert mark.let == (("n", 800), ("rsi", -16), ("m", -1))


def test_nothing_to_mark() -> None:
    assert problem("x;\n// incc: analyze\n") == (2, 4, "nothing to mark: no statement follows")


def test_what_only_looks_like_a_mark() -> None:
    for text in ('x = "// incc: analyze";\n', "// see incc: analyze\nx;\n", "# incc: analyze\n", "incc: analyze\n", ""):
        assert marks_of(text, "a.c") == ([], [])


def test_columns_count_bytes() -> None:
    assert one("/* µ */ /* incc: analyze */ x;\n").column == 13


@given(
    st.lists(
        st.sampled_from(
            [
                "// incc: analyze ",
                "/* incc: ",
                "*/",
                "for (;;)",
                "{",
                "}",
                "(",
                ")",
                ";",
                "\n",
                '"',
                "'",
                "do ",
                'R"(',
                "!",
                "end do",
                "#if",
                "\\",
                "name(",
                "x",
            ]
        ),
        max_size=20,
    ),
    st.sampled_from(["a.c", "a.f90", "a.f"]),
)
@examples(200)
def test_any_source_can_be_read(parts: list[str], file: str) -> None:
    text = "".join(parts)
    marks, errors = marks_of(text, file)
    lines = text.count("\n") + 1
    for mark in marks:
        assert 1 <= mark.first_line <= mark.last_line <= lines
        assert 1 <= mark.line <= lines
    for error in errors:
        assert 1 <= error.source.line <= lines


def test_a_mark_has_the_trip_counts_of_a_call() -> None:
    assert one("// incc: analyze trip(inner=27,outer=3)\nfor (;;) ;\n").trip == "inner=27,outer=3"
    _, errors = marks_of("// incc: analyze trip(many)\nfor (;;) ;\n", "a.c")
    assert [(error.source.line, error.column) for error in errors] == [(1, 23)]
    assert errors[0].text.startswith("trip is a number of iterations")
