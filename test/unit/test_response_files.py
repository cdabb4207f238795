"""What `@file` stands for."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.frontends.gcc_wrapper.compile import compile_units
from incc.frontends.gcc_wrapper.dry_run import parse
from incc.frontends.gcc_wrapper.response_files import expanded, expanded_by_llvm
from incc.report.hints.advice import read_build
from properties import examples

WORDS = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1))


@given(WORDS, st.sampled_from(["backslash", "'", '"']))
@examples(60)
def test_quoted_words_come_back(tmp_path_factory: pytest.TempPathFactory, words: list[str], how: str) -> None:
    words = [word for word in words if not word.startswith("@")]
    folder = tmp_path_factory.getbasetemp()
    if how == "backslash":
        text = "\n".join("".join(f"\\{c}" for c in word) for word in words)
    else:
        text = " ".join(how + word.replace("\\", "\\\\").replace(how, f"\\{how}") + how for word in words)
    (folder / "args").write_text(text, newline="")
    assert expanded(["a", "@args", "b"], str(folder)) == ["a", *words, "b"]


def test_files_within_files_and_what_is_none(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("-O3 @two\t'-D A'\n")
    (tmp_path / "two").write_text("-ffast-math @missing")
    (tmp_path / "self").write_text("x @self")
    os.mkfifo(tmp_path / "pipe")
    assert expanded(["@one"], str(tmp_path)) == ["-O3", "-ffast-math", "@missing", "-D A"]
    assert expanded(["@pipe", "@", "@."], str(tmp_path)) == ["@pipe", "@", "@."]
    assert set(expanded(["@self"], str(tmp_path))) == {"x", "@self"}


def test_words_end_at_a_nul(tmp_path: Path) -> None:
    """As they do for compilers and LLVM's tools, which read them as C's strings."""
    (tmp_path / "args").write_bytes(b"-O3\0junk x.s\0 'a b\0c'\n")
    assert expanded(["@args"], str(tmp_path)) == ["-O3", "x.s", "a b"]
    assert expanded_by_llvm([f"@{tmp_path}/args"]) == ["-O3", "x.s", "a b"]


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_as_gcc_reads_it(tmp_path: Path) -> None:
    (tmp_path / "args").write_text("-DA='b c' \"-DD=\\\"e\\\"\" -D\\F=\\ 'x\\'y' -DG\n")
    (tmp_path / "x.c").write_text("")
    said = subprocess.run(
        ["gcc", "-###", "-c", "@args", "x.c"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
    )
    compiled = next(c.words for c in parse(said.stderr).commands if c.words[0].endswith("cc1"))
    ours = [a[2:] for a in expanded(["@args"], str(tmp_path)) if a.startswith("-D")]
    assert ours
    assert [compiled[n + 1] for n, word in enumerate(compiled) if word == "-D"] == ours


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_flags_in_response_files_are_in_use(tmp_path: Path) -> None:
    (tmp_path / "x.c").write_text("int x;")
    (tmp_path / "args").write_text("-O3 -ffast-math -c x.c")
    (unit,) = compile_units(["gcc", "@args"], folder=str(tmp_path)).units
    assert unit.command == ("gcc", "@args")
    build = read_build(unit)
    assert build.state["level"] == "3"
    assert build.state["fast-math"]
