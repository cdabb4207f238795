"""The language server in use: headers opened beside their sources, inlined code, databases of optimised builds."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from language_client import LOOP, SUM, editing
from lsprotocol import types as lsp

from incc.driver.editing.analysis import analyse
from incc.live.requests import Answer, EditedFile, EditorSettings

HEADER = """\
#pragma once
static inline double sum(const double *a, long n) {
  double s = 0;
  for (long i = 0; i < n; i++)
    s += a[i];
  return s;
}
"""
SOURCE = """\
#include "sum.h"

double twice(const double *a, long n) {
  return 2 * sum(a, n);
}
"""
IN_HEADER, CALL = 3, 3
"""The lines of the loop in the header and of its call in the source, numbered from 0."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "sum.h").write_text(HEADER)
    (tmp_path / "twice.c").write_text(SOURCE)
    return tmp_path


@pytest.mark.asyncio
async def test_a_loop_of_a_header_is_shown_at_its_call(place: Path) -> None:
    async with editing(place) as editor:
        editor.open(place / "twice.c")
        ((line, text),) = await editor.lenses(place / "twice.c")
        assert (line, text.partition(":")[0]) == (CALL, "sum")
        assert "addsd" in await editor.hover(place / "twice.c", CALL)


@pytest.mark.asyncio
async def test_a_header_that_is_opened_later_shows_its_loops(place: Path) -> None:
    async with editing(place) as editor:
        editor.open(place / "twice.c")
        assert len(await editor.lenses(place / "twice.c")) == 1
        editor.open(place / "sum.h")
        (lens,) = await editor.shown(place / "sum.h", bool)
        assert lens[0] == IN_HEADER
        assert len(await editor.lenses(place / "twice.c")) == 1


@pytest.mark.asyncio
async def test_documents_that_are_no_files_are_left_alone(place: Path) -> None:
    """An editor shows the old text of a file as git:, without a right to its name."""
    (place / "sum.c").write_text(SUM)
    async with editing(place) as editor:
        uri = (place / "sum.c").as_uri().replace("file:", "git:")
        editor.client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "c", 1, SUM)))
        answer = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(lsp.TextDocumentIdentifier(uri)))
        assert not answer
        editor.open(place / "sum.c")
        assert [line for line, _ in await editor.lenses(place / "sum.c")] == [LOOP]


@pytest.mark.parametrize("compiler", [c for c in ("gcc", "clang-19") if shutil.which(c)])
@pytest.mark.parametrize("edited", [True, False])
def test_sources_that_are_optimised_when_linked_are_analysed(place: Path, compiler: str, edited: bool) -> None:
    entry = {"directory": str(place), "file": "twice.c", "arguments": [compiler, "-O2", "-flto", "-c", "twice.c"]}
    (place / "compile_commands.json").write_text(json.dumps([entry]))
    text = f"\n{SOURCE}" if edited else SOURCE
    answer = analyse(EditedFile(path=str(place / "twice.c"), text=text, settings=EditorSettings(cores=("znver4",))))
    assert answer.report, answer.problem
    assert answer.report.units[0].kernels
    assert sorted(path.name for path in place.iterdir()) == ["compile_commands.json", "sum.h", "twice.c"]


def test_cores_of_other_instruction_sets_are_left_out(place: Path) -> None:
    def answer(*cores: str) -> Answer:
        settings = EditorSettings(cores=cores)
        return analyse(EditedFile(path=str(place / "twice.c"), text=SOURCE, settings=settings))

    both = answer("neoverse-v2", "znver4")
    assert both.report
    assert [unit.model.name for unit in both.report.units] == ["znver4"]
    assert "aarch64" in both.notes[-1]
    assert "aarch64" in answer("neoverse-v2").problem
    assert "nosuch" in answer("znver4", "nosuch").problem
