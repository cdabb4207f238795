"""A64 text as clang, GNU as and the own reader read it, and LLVM's text and bytes of instructions."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from incc.driver.commands.mca import main
from incc.frontends.aarch64 import assembler
from incc.frontends.assembling import LimitError
from incc.frontends.isa import LlvmDialect

MISTAKES = """\
loop:
	add	x0, x0
	ldr	w0, [w1]
	add	x0, x1, x2 ; bogus	x1
# 40 "k.c"
	ldr	x0, [x1
	fadd	d0, s1, d2
	b.ne	loop
"""
TRIPLE = "aarch64-linux-gnu"


@pytest.fixture(params=["clang-19", "aarch64-linux-gnu-as", ""])
def tool(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The only assembler in PATH; "" for none."""
    name: str = request.param
    if name:
        program = shutil.which(name)
        if program is None:
            pytest.skip(f"no {name}")
        (tmp_path / name).symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    return name


def places(text: str, core: str = "neoverse-n1", features: tuple[str, ...] = ()) -> list[tuple[int, int]]:
    found = assembler.read(text, TRIPLE, core, features, False).diagnostics
    return [(each.line, each.column) for each in found if each.kind == "error"]


def test_mistakes_have_places(tool: str) -> None:
    expected = {
        "clang-19": [(2, 2), (3, 11), (4, 19), (6, 2), (7, 11)],
        "aarch64-linux-gnu-as": [(2, 2), (3, 2), (4, 19), (6, 2), (7, 2)],
        "": [(3, 11), (4, 19), (6, 2)],
    }[tool]
    assert places(MISTAKES) == expected
    (last, *_) = [each for each in assembler.read(MISTAKES, TRIPLE, "", (), False).diagnostics if each.line == 6]
    assert (last.file, last.file_line) == ("k.c", 40)


def test_the_statements_at_fault_are_left_out(tool: str) -> None:
    remaining = assembler.read(MISTAKES, TRIPLE, "", (), False).remaining.split("\n")
    assert len(remaining) == len(MISTAKES.split("\n"))
    assert remaining[3].rstrip(" ;") == "\tadd	x0, x1, x2"
    assert remaining[2].strip() == ""
    assert remaining[7] == "\tb.ne	loop"


def test_clang_knows_the_features_of_cores() -> None:
    if shutil.which("clang-19") is None:
        pytest.skip("no clang-19")
    text = "\tfadd	z0.d, z1.d, z2.d\n"
    assert places(text) == [(1, 2)]
    assert places(text, "neoverse-v2") == []
    assert places(text, features=("+sve",)) == []
    assert places(text, "a-core-that-it-lacks") == []


def test_a_mistake_in_a_macro_is_where_it_is_called() -> None:
    if shutil.which("clang-19") is None:
        pytest.skip("no clang-19")
    text = ".macro twice a\n\tbogus \\a\n.endm\n\ttwice x0\n.rept 2\n\tadd x0, x1\n.endr\n\tnop\n"
    assert places(text) == [(4, 2), (5, 1), (5, 1)]
    remaining = assembler.read(text, TRIPLE, "", (), False).remaining.split("\n")
    assert [line.strip() for line in remaining[4:]] == ["", "", "", "nop", ""]


def test_no_other_file_is_read(tool: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.s"
    secret.write_text("frobnicate x0\n")
    text = f'.macro take a, b\n.inc\\a\\b "{secret}"\n.endm\n\ttake lu, de\n\tnop\n'
    found = assembler.read(text, TRIPLE, "", (), False)
    assert not any("frob" in each.message + each.source for each in found.diagnostics)


def test_an_assembler_that_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("clang-19") is None:
        pytest.skip("no clang-19")
    monkeypatch.setattr("incc.frontends.assembling.LIMIT_SECONDS", 1)
    with pytest.raises(LimitError, match="was stopped: more than"):
        assembler.read(".rept 1000000000\n\tnop\n.endr\n", TRIPLE, "", (), False)


STATEMENTS = ["add x0, x0, 16", "bl f", "b.ne .L3", "frob x0", "movprfx z0, z1", "b.cs 1b", "ld1d z0.d, p0/z, [x0]"]
CODES = ["00400091", "00000094", "01000054", "", "20bc2004", "02000054", "00a0e0a5"]


def test_bytes_of_statements(tool: str) -> None:
    rows = assembler.assembled(STATEMENTS, LlvmDialect())
    assert [row.code.hex() for row in rows] == (CODES if tool else [])
    if tool == "clang-19":
        texts = ["add\tx0, x0, #16", "bl\tf", "b.ne\t.L3", "", "movprfx\tz0, z1", "", "ld1d\t{ z0.d }, p0/z, [x0]"]
        assert [row.text for row in rows] == texts


def test_text_of_apple_s_targets_and_hexadecimal_numbers() -> None:
    if shutil.which("clang-19") is None:
        pytest.skip("no clang-19")
    statements = ["fmla v0.2d, v1.2d, v2.2d", "ldr x0, [x1, #-16]!", "add x0, x1, x2, lsl #12", "lsl x0, x1, #10"]
    texts = [row.text for row in assembler.assembled(statements, LlvmDialect("arm64-apple-macosx", None, True))]
    assert texts == ["fmla.2d\tv0, v1, v2", "ldr\tx0, [x1, #-0x10]!", "add\tx0, x1, x2, lsl #12", "lsl\tx0, x1, #10"]
    (row,) = assembler.assembled(statements[:1], LlvmDialect("arm64-apple-macosx", 0))
    assert row.text == "fmla\tv0.2d, v1.2d, v2.2d"


def test_without_an_assembler_a_note_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.s").write_text("\tadd x0, x0, 16\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    options = ["-mtriple=aarch64", "-mcpu=neoverse-n1", "-show-encoding", str(tmp_path / "k.s")]
    assert main(["--compat", *options]) == 0
    shown = capsys.readouterr()
    assert "encodings are unknown without an assembler: install clang or aarch64-linux-gnu-as" in shown.err
    assert "add\tx0, x0, #16" in shown.out
