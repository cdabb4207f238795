"""The language server in Neovim, which runs test/lsp/editor.lua without a screen."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from language_client import LOOP, PATIENCE, ROOTS, SUM, TRY, processes_of, program

SCRIPT = Path(__file__).parents[1] / "lsp" / "editor.lua"
SHOWN = "4.00 cycles · chain xmm0 · scalar"


def run(place: Path, scenario: str, environment: dict[str, str] | None = None) -> Any:
    """Run a scenario in a folder, and return its result. No process may be left."""
    program("nvim")
    mark = f"incc-neovim-{place.parent.name}-{os.getpid()}"
    variables = {**os.environ, "CC": program("gcc"), "CFLAGS": "-O2", "EDITOR_OF_TEST": mark, **(environment or {})}
    variables |= {f"XDG_{kind}_HOME": str(place.parent / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
    for name in ("NVIM", "NVIM_LISTEN_ADDRESS", "VIMINIT", "MYVIMRC"):
        variables.pop(name, None)
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n"]
    command += ["-c", f"luafile {SCRIPT}", "-c", f"lua run('{scenario}')"]
    done = subprocess.run(
        command, cwd=place, env=variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=5 * PATIENCE
    )
    problem = place / "error.txt"
    assert not problem.exists(), problem.read_text()
    assert (place / "result.json").exists(), done.stderr.decode(errors="replace")
    limit = time.monotonic() + PATIENCE
    while left := processes_of(mark):
        assert time.monotonic() < limit, left
        time.sleep(0.05)
    return json.loads((place / "result.json").read_text(encoding="utf-8"))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "with blanks").mkdir()
    return tmp_path / "with blanks"


def test_lenses_diagnostics_and_a_code_action(place: Path) -> None:
    (place / "roots.c").write_text(ROOTS)
    result = run(place, "shown")
    assert result["lenses"] == [[LOOP, "4.00 cycles · divider · scalar"]]
    ((line, _, is_hint),) = result["diagnostics"]
    assert (line, is_hint) == (LOOP, True)
    assert result["actions"] == [TRY]
    ((line, message, _),) = result["tried"]
    assert line == LOOP
    assert "(tried -O3 -fno-math-errno: 4 → " in message
    assert result["messages"][0].startswith("incc: -O3 -fno-math-errno: roots, line 3: 4 → ")


def test_edits_while_an_analysis_runs_and_text_that_does_not_compile(place: Path) -> None:
    (place / "sum.c").write_text(SUM)
    compiler = place.parent / "gcc"
    hang, compiling = (shlex.quote(str(place / name)) for name in ("hang", "compiling"))
    compiler.write_text(
        f'#!/bin/sh\nif [ -e {hang} ]; then touch {compiling}; sleep 1000; fi\nexec {program("gcc")} "$@"\n'
    )
    compiler.chmod(0o755)
    result = run(place, "edits", {"CC": str(compiler)})
    assert result["first"] == [[LOOP, SHOWN]]
    assert [line for line, *_ in result["meanwhile"]] == [LOOP + 1]
    assert result["edited"] == [[LOOP + 2, SHOWN]]
    ((line, text),) = result["broken"]
    assert line == LOOP + 3
    assert text.startswith(f"{SHOWN} · old: sum.c:1:")
    assert result["repaired"] == [[LOOP + 2, SHOWN]]


def test_latin_1_and_crlf(place: Path) -> None:
    (place / "latin 1.c").write_bytes(f"// Größe\n{SUM}".encode("latin-1"))
    (place / "crlf file.c").write_bytes(f"// size\n{SUM}".replace("\n", "\r\n").encode())
    result = run(place, "encodings")
    for file, encoding, ends in (("latin 1.c", "latin1", "unix"), ("crlf file.c", "", "dos")):
        first, edited, found_encoding, found_ends = result[file]
        assert first == [[LOOP + 1, SHOWN]]
        assert edited == [[LOOP + 2, SHOWN]]
        assert (found_encoding or "", found_ends) == (encoding, ends) or file != "latin 1.c"


def test_two_workspace_roots(place: Path) -> None:
    for root, core in (("one", "skylake"), ("the other", "znver4")):
        (place / root).mkdir()
        (place / root / "sum.c").write_text(SUM)
        (place / root / "incc.toml").write_text(f'[analyze]\ncores = ["{core}"]\n')
    result = run(place, "roots")
    assert result["one"] == [[LOOP, SHOWN]]
    assert result["other"] == [[LOOP, SHOWN.replace("4.00", "3.00")]]


def test_the_server_is_killed_and_started_again(place: Path) -> None:
    (place / "sum.c").write_text(SUM)
    result = run(place, "killed")
    assert result["first"] == result["second"] == [[LOOP, SHOWN]]
