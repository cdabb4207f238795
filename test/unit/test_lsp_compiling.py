"""Unsaved text in place of a file: how it is encoded and compiled, and the lines and names that results have."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.driver.editing.analysis import analyse
from incc.driver.editing.compiling import edited_units, encoded
from incc.frontends.gcc_wrapper.compile_commands import CompilerCommand
from incc.frontends.unit import Unit
from incc.live.lsp.chains import chain_hints
from incc.live.lsp.documents import Document, shown_loops
from incc.live.lsp.lines import lines_of
from incc.live.requests import EditedFile, EditorSettings
from incc.support import sources

ADD = "void add(float *a, long n) {\n  for (long i = 0; i < n; i++)\n    a[i] += 1;\n}\n"
COMPILERS = [
    pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason=f"no {name}"))
    for name in ("gcc", "clang-19")
]


@pytest.fixture(autouse=True)
def unsaved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let each test have its own unsaved texts, and a folder for temporary files in which none may be left."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(sources, "_unsaved", {})
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    yield temporary
    assert not [*temporary.iterdir()]


def compiled(path: Path, words: Sequence[str], text: str, problems: list[str] | None = None) -> list[Unit]:
    """Compile a text in place of a file. No other file may be written or changed."""
    found: list[str] = []
    before = contents(path.parent)
    command = CompilerCommand(file=path.name, folder=str(path.parent), words=tuple(words))
    units = edited_units(command, str(path), text, found)
    if problems is None:
        assert found == []
    else:
        problems += found
    assert contents(path.parent) == before
    return units


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.iterdir() if path.is_file()}


# --- encoding ---------------------------------------------------------------------------------------------------------


@given(st.text(st.characters(exclude_categories=["Cs"])), st.binary(max_size=20))
def test_text_as_read_is_encoded_as_it_was(text: str, more: bytes) -> None:
    for encoding in ("utf-8", "latin-1"):
        data = text.encode(encoding, "replace") + more
        try:
            read = data.decode()
        except UnicodeDecodeError:
            read = data.decode("latin-1")
        assert encoded(read, data) == data


@given(st.lists(st.text(st.sampled_from("abc é"), max_size=5), min_size=2))
def test_line_ends_are_those_of_the_file(lines: list[str]) -> None:
    # Editors send lines with their ends, or without the carriage returns.
    for text in ("\r\n".join(lines), "\n".join(lines)):
        assert encoded(text, b"a\r\nb") == "\r\n".join(lines).encode()
    assert encoded("\n".join(lines), b"a\nb") == "\n".join(lines).encode()


def test_characters_that_the_encoding_lacks_are_replaced() -> None:
    assert encoded("é €", "é".encode("latin-1")) == b"\xe9 ?"
    assert encoded("\ud800", b"") == b"\xed\xa0\x80"


# --- C ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("folder", ["plain", "with blanks", 'quo"tes', "back\\slash", "grün", "per%cent #1"])
def test_units_have_the_name_and_lines_of_the_file(tmp_path: Path, compiler: str, folder: str) -> None:
    place = tmp_path / folder
    place.mkdir()
    (place / "add it.c").write_text(ADD)
    (unit,) = compiled(place / "add it.c", [compiler, "-O1", "-g", "-c", "add it.c"], f"int x;\n{ADD}")
    assert (unit.source, unit.command[-1], unit.folder) == ("add it.c", "add it.c", str(place))
    assert "incc-" not in " ".join(unit.arguments)
    files = {line.split('"')[-2] for line in unit.assembly.splitlines() if "\t.file\t" in line and '"' in line}
    assert any(name.endswith("add it.c") for name in files)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_headers_are_found_beside_the_file(tmp_path: Path, compiler: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "value.h").write_text('#include "other.h"\n#define VALUE OTHER\n')
    (tmp_path / "sub" / "other.h").write_text("#define OTHER 2\n")
    (tmp_path / "value.h").write_text("#error the wrong header\n")
    (tmp_path / "sub" / "add.c").write_text("")
    command = CompilerCommand(
        file="sub/add.c", folder=str(tmp_path), words=(compiler, "-O1", "-I.", "-c", "sub/add.c", "-o", "out.o")
    )
    problems: list[str] = []
    text = '#include "value.h"\n_Static_assert(VALUE == 2, "");\n' + ADD
    (unit,) = edited_units(command, str(tmp_path / "sub" / "add.c"), text, problems)
    assert problems == []
    assert unit.source == "sub/add.c"
    assert not (tmp_path / "out.o").exists()


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("options", [["-std=c11", "-pedantic-errors", "-Wall", "-Wextra", "-Werror"], ["-Weverything"]])
def test_the_temporary_text_has_no_warnings_of_its_own(tmp_path: Path, compiler: str, options: list[str]) -> None:
    if options == ["-Weverything"] and not compiler.startswith("clang"):
        pytest.skip("an option of clang")
    path = tmp_path / "add.c"
    path.write_text(ADD)
    strict = [*options, "-Werror", "-Wno-missing-prototypes"]
    assert compiled(path, [compiler, "-O1", *strict, "-c", "add.c"], f"/* changed */\n{ADD}")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_messages_name_the_file_and_its_lines(tmp_path: Path, compiler: str) -> None:
    path = tmp_path / "add.c"
    path.write_text(ADD)
    problems: list[str] = []
    assert compiled(path, [compiler, "-c", "add.c"], f"\n\n{ADD}x = ;\n", problems) == []
    assert problems[0].startswith("add.c:7:"), problems
    assert "incc-" not in problems[0]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_line_directives_of_the_text_count(tmp_path: Path, compiler: str) -> None:
    path = tmp_path / "parser.c"
    path.write_text("")
    (unit,) = compiled(path, [compiler, "-O1", "-c", "parser.c"], f'#line 1 "parser.y"\n{ADD}')
    assert "parser.y" in unit.assembly


@pytest.mark.parametrize("compiler", COMPILERS)
def test_only_the_edited_source_of_several_has_a_unit(tmp_path: Path, compiler: str) -> None:
    for name in ("one.c", "two.c"):
        (tmp_path / name).write_text(ADD.replace("add", name[:3]))
    words = [compiler, "-O1", "-c", "one.c", "two.c"]
    for text in (ADD.replace("add", "two"), ADD.replace("add", "changed")):
        (unit,) = compiled(tmp_path / "two.c", words, text)
        assert unit.source == "two.c"
        assert ("changed" if "changed" in text else "two") + ":" in unit.assembly


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_source_may_be_named_in_a_response_file(tmp_path: Path, compiler: str) -> None:
    (tmp_path / "add.c").write_text(ADD)
    (tmp_path / "words").write_text("-O1 -DVALUE=2 add.c")
    text = f"int value = VALUE;\n{ADD}"
    (unit,) = compiled(tmp_path / "add.c", [compiler, "-c", "@words"], text)
    assert unit.source == "add.c"
    assert "value:" in unit.assembly


@pytest.mark.parametrize("compiler", COMPILERS)
def test_nothing_is_written(tmp_path: Path, compiler: str) -> None:
    (tmp_path / "add.c").write_text(ADD)
    (tmp_path / "add.d").write_text("kept")
    words = [compiler, "-O1", "-g", "-MD", "-MF", "add.d", "--coverage", "-gsplit-dwarf", "-fstack-usage",
             "-save-temps", "-c", "add.c", "-o", "add.o"]  # fmt: skip
    assert compiled(tmp_path / "add.c", words, f"int x;\n{ADD}")
    assert compiled(tmp_path / "add.c", words, ADD)


def test_a_command_that_does_not_name_the_file_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "add.c").write_text(ADD)
    problems: list[str] = []
    assert compiled(tmp_path / "add.c", ["gcc", "-c", "other.c"], "int x;\n", problems) == []
    assert problems == [f"{tmp_path}/add.c: its command does not name it"]


def test_a_text_with_errors_is_not_replaced_by_the_file(tmp_path: Path) -> None:
    """Without a database, another command is tried if the first fails: by the same text."""
    (tmp_path / "add.c").write_text(ADD)
    settings = EditorSettings(cores=("skylake",))
    answer = analyse(EditedFile(path=str(tmp_path / "add.c"), text=f"{ADD}x = ;\n", settings=settings))
    assert answer.report is None
    assert answer.problem.startswith("add.c:5:")


def test_a_file_that_was_never_saved_is_compiled(tmp_path: Path) -> None:
    (unit,) = compiled(tmp_path / "new.c", ["gcc", "-O1", "-c", "new.c"], ADD)
    assert unit.source == "new.c"


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "utf-8-sig"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_encodings_and_line_ends(tmp_path: Path, compiler: str, encoding: str, ends: str) -> None:
    text = f'// Größe\nchar size[] = "ö";\n{ADD}'
    path = tmp_path / "add.c"
    path.write_bytes(text.replace("\n", ends).encode(encoding))
    edited = text.replace("+= 1", "+= 2").replace("\n", ends)
    (unit,) = compiled(path, [compiler, "-O1", "-c", "add.c"], edited)
    assert ("\\366" in unit.assembly) == (encoding == "latin-1")
    # Without a change the file itself is compiled.
    assert compiled(path, [compiler, "-O1", "-c", "add.c"], text.replace("\n", ends))


def test_a_byte_order_mark_that_the_editor_sends_is_none_of_the_code(tmp_path: Path) -> None:
    path = tmp_path / "add.c"
    path.write_bytes(ADD.encode("utf-8-sig"))
    assert compiled(path, ["gcc", "-O1", "-c", "add.c"], f"\ufeff{ADD}int x;\n")
    assert compiled(path, ["gcc", "-O1", "-c", "add.c"], f"\ufeff{ADD}")


# --- Fortran and assembly ---------------------------------------------------------------------------------------------

needs_gfortran = pytest.mark.skipif(not shutil.which("gfortran"), reason="no gfortran")

ASSEMBLY = """#include "one.h"
#define TWO \\
  2
\t.text
f:\taddl $ONE, %eax
\tjne f
\tret
"""

FORTRAN = """module adding
contains
subroutine add(a, n)
  integer(8), intent(in) :: n
  real, intent(inout) :: a(n)
  integer(8) :: i
  do i = 1, n
    a(i) = a(i) + 1
  end do
end subroutine
end module
"""


@needs_gfortran
@pytest.mark.parametrize("name", ["add.f90", "add.F90", "add.f", "add.F"])
def test_fortran(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    fixed = name.lower().endswith(".f")
    text = "".join(f"      {line}\n" for line in FORTRAN.splitlines()) if fixed else FORTRAN
    path.write_text(text)
    (tmp_path / "extra.inc").write_text("      real :: extra\n")
    first = "      include 'extra.inc'\n"
    edited = text.replace("\n", f"\n{first}", 1)
    (unit,) = compiled(path, ["gfortran", "-O1", "-c", name], edited)
    assert unit.source == name
    # The loop has moved by a line.
    assert "\t.loc 1 9 " in unit.assembly
    (unit,) = compiled(path, ["gfortran", "-O1", "-c", name], text)
    assert "\t.loc 1 8 " in unit.assembly


@needs_gfortran
def test_messages_of_fortran_have_their_text(tmp_path: Path) -> None:
    problems: list[str] = []
    text = FORTRAN.replace("+ 1", "+ = 1")
    assert compiled(tmp_path / "add.f90", ["gfortran", "-c", "add.f90"], text, problems) == []
    assert re.match(r"add\.f90:8:\d+: Error: Syntax error", problems[0]), problems


@pytest.mark.parametrize("compiler", COMPILERS)
def test_assembly_that_is_preprocessed_has_the_lines_of_the_file(tmp_path: Path, compiler: str) -> None:
    (tmp_path / "one.h").write_text("#define ONE 1\n.macro nothing\n.endm\n\n")
    (tmp_path / "add.S").write_text(ASSEMBLY)
    for text, loop in ((ASSEMBLY, 5), (f"\n# a comment\n{ASSEMBLY}", 7)):
        (unit,) = compiled(tmp_path / "add.S", [compiler, "-c", "add.S"], text)
        assert (unit.source, unit.assembly_file) == ("", "add.S")
        file = EditedFile(path=str(tmp_path / "add.S"), text=text, settings=EditorSettings(cores=("skylake",)))
        answer = analyse(file)
        assert answer.report is not None, answer.problem
        document = Document("", file.path, 1, lines_of(text))
        document.take("", answer, {document.real: document.lines})
        (shown,) = shown_loops(document, [document])
        assert shown.line == loop - 1
        assert [shown.instruction_line(each) for each in shown.kernel.instructions] == [loop - 1, loop]


def test_assembly_of_a_compiler_has_its_own_lines(tmp_path: Path) -> None:
    (tmp_path / "add.c").write_text(ADD)
    subprocess.run(["gcc", "-O1", "-g", "-S", "add.c"], cwd=tmp_path, check=True)
    text = (tmp_path / "add.s").read_text()
    answer = analyse(EditedFile(path=str(tmp_path / "add.s"), text=text, settings=EditorSettings(cores=("skylake",))))
    document = Document("", str(tmp_path / "add.s"), 1, lines_of(text))
    document.take("", answer, {document.real: document.lines})
    (shown,) = shown_loops(document, [document])
    assert shown.line + 1 in (shown.kernel.first_line, shown.kernel.first_line - 1)
    assert "addss" in {
        document.lines[line].split()[0] for line in map(shown.instruction_line, shown.kernel.instructions) if line
    }


def test_chains_are_those_of_the_file_s_own_command(tmp_path: Path) -> None:
    text = "float sum(float *a, long n) {\n  float s = 0;\n  while (n--)\n    s += a[n];\n  return s;\n}\n"
    (tmp_path / "sum.c").write_text(text)
    document = Document("", str(tmp_path / "sum.c"), 1, lines_of(text))
    labels = []
    for also in "", "-O3 -fno-tree-vectorize -funroll-loops":
        settings = EditorSettings(cores=("skylake",), compiler="gcc", flags=("-O1",))
        answer = analyse(EditedFile(path=document.path, text=text, settings=settings, also=also))
        document.take(also, answer, {document.real: document.lines})
        document.also = (also,) if also else ()
        hints = chain_hints(shown_loops(document, [document]), document.lines, 0, 9)
        labels.append([(hint.position.line, hint.label) for hint in hints])
    assert labels == [[(3, "⟲ 4 of 4 cycles")]] * 2
    kernels = document.analyses[also].report.units[0].kernels  # type: ignore[union-attr]
    assert max(kernel.chains[0].latency for kernel in kernels if kernel.chains) > 4


# --- trust ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ("compiler = './gcc'", "its compiler ./gcc is not in PATH"),
        ("compiler = 'sh -c \"touch ran\"'", "sh is not the name of a compiler"),
        ("compiler = 'gcc'\nflags = ['-B.']", "-B. may run other programs"),
        ("flags = ['-fplugin=./evil.so']", "-fplugin=./evil.so may run other programs"),
        ("also = ['./gcc']", "its compiler ./gcc is not in PATH"),
        ("also = ['-O2 -B.']", "-B. may run other programs"),
        ("also = ['sh -c \"touch ran\"']", "sh is not the name of a compiler"),
    ],
)
def test_a_project_cannot_have_other_programs_run(tmp_path: Path, table: str, reason: str) -> None:
    path = tmp_path / "add.c"
    path.write_text(ADD, encoding="utf-8")
    (tmp_path / ".git").mkdir()
    (tmp_path / "incc.toml").write_text(f"[editor]\n{table}\n", encoding="utf-8")
    for program in "gcc", "cc1", "as":
        (tmp_path / program).write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n", encoding="utf-8")
        (tmp_path / program).chmod(0o755)
    first = analyse(EditedFile(path=str(path), text=ADD))
    answers = [first]
    for settings in EditorSettings(), EditorSettings(also=first.also):
        answers += [analyse(EditedFile(path=str(path), text=ADD, settings=settings, also=also)) for also in first.also]
    assert f"{tmp_path}/incc.toml: [editor]: {reason}; the setting incc.trust allows it" in [
        answer.problem for answer in answers
    ]
    assert not (tmp_path / "ran").exists()


def test_settings_and_trusted_projects_may_have_other_programs_run(tmp_path: Path) -> None:
    path = tmp_path / "add.c"
    path.write_text(ADD, encoding="utf-8")
    (tmp_path / ".git").mkdir()
    program = tmp_path / "gcc"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\nexec {shutil.which('gcc')} \"$@\"\n", encoding="utf-8")
    program.chmod(0o755)
    for table, settings in [
        ("", EditorSettings(compiler=str(program))),
        ("also = ['./gcc']", EditorSettings(also=(str(program),))),
        ("compiler = './gcc'", EditorSettings(trust=True)),
    ]:
        (tmp_path / "incc.toml").write_text(f"[editor]\n{table}\n", encoding="utf-8")
        answer = analyse(EditedFile(path=str(path), text=ADD, settings=settings, also="".join(settings.also or ())))
        assert answer.report is not None, answer.problem
        assert (tmp_path / "ran").exists()
        (tmp_path / "ran").unlink()
