"""The language server over its protocol: what an editor is shown of the loops of its files."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from language_client import CHAIN, LOOP, REFRESHED, ROOTS, SUM, TRY, editing, program, until
from lsprotocol import types as lsp

pytestmark = pytest.mark.asyncio


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def place_of(folder: Path) -> Path:
    (folder / "work").mkdir()
    return folder / "work"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return place_of(tmp_path)


# --- one file ---------------------------------------------------------------------------------------------------------


async def test_a_loop_has_a_lens_a_chain_diagnostics_and_a_hover(place: Path) -> None:
    file = written(place / "sum.c", SUM)
    async with editing(place) as editor:
        offered = editor.capabilities
        assert all((offered.code_lens_provider, offered.inlay_hint_provider, offered.hover_provider))
        assert offered.code_action_provider
        assert offered.execute_command_provider
        assert {"incc.try", "incc.report", "incc.alsoShow"} <= {*offered.execute_command_provider.commands}
        editor.open(file)
        assert await editor.lenses(file) == [(LOOP, "4.00 cycles · chain xmm0 · scalar")]
        (chain,) = await editor.chains(file)
        end = len(SUM.splitlines()[CHAIN])
        assert (chain.position, chain.label) == (lsp.Position(CHAIN, end), "⟲ 4 of 4 cycles")
        assert not await editor.chains(file, 0, CHAIN - 1)
        (diagnostic,) = await until(lambda: editor.diagnostics(file), "diagnostics")
        assert (diagnostic.severity, diagnostic.source) == (lsp.DiagnosticSeverity.Hint, "incc")
        assert diagnostic.range == lsp.Range(lsp.Position(LOOP, 2), lsp.Position(LOOP, 30))
        assert "reduction chain" in diagnostic.message
        for line in (LOOP, CHAIN):
            assert "addsd" in await editor.hover(file, line)
        assert await editor.hover(file, 0) == ""
        assert "compiled by" in " ".join(message.message for message in editor.client.log_messages)


async def test_flags_are_tried_and_shown(place: Path) -> None:
    file = written(place / "roots.c", ROOTS)
    async with editing(place) as editor:
        editor.open(file)
        assert await editor.lenses(file) == [(LOOP, "4.00 cycles · divider · scalar")]
        assert [*await editor.actions(file, LOOP)] == [TRY]
        assert await editor.actions(file, 0) == {}
        (outcome,) = await editor.act(file, LOOP, TRY)
        assert outcome.startswith("4 → ")
        assert editor.messages == [f"incc: -O3 -fno-math-errno: roots, line 3: {outcome}"]
        tried = f"(tried -O3 -fno-math-errno: {outcome})"
        await until(lambda: tried in editor.diagnostics(file)[0].message, "the outcome")
        (shown,) = await editor.actions(file, LOOP)
        assert shown == f"also show -O3 -fno-math-errno ({outcome})"
        await editor.act(file, LOOP, shown)
        lenses = await editor.shown(file, lambda lenses: len(lenses) == 2)
        assert lenses[1][0] == LOOP
        assert lenses[1][1].startswith("-O3 -fno-math-errno: ")
        assert await editor.run("incc.alsoShow", "-O3 -fno-math-errno") == []
        assert len(await editor.lenses(file)) == 1


async def test_a_trial_is_of_the_text_that_was_analysed(place: Path) -> None:
    """Flags get no credit for the effect of an edit."""
    file = written(place / "roots.c", ROOTS)
    async with editing(place) as editor:
        editor.open(file)
        await editor.lenses(file)
        (expected,) = await editor.run("incc.try", file.as_uri(), "-O3", "-fno-math-errno")
        editor.edit(file, ROOTS.replace("sqrt(b[i])", "b[i]"))
        assert await editor.run("incc.try", file.as_uri(), "-O3", "-fno-math-errno") == [expected]


async def test_the_page_of_a_report_is_written_and_shown(place: Path) -> None:
    folder = place / "50% of #1"
    file = written(folder / "my sum.c", SUM)
    window = lsp.WindowClientCapabilities(show_document=lsp.ShowDocumentClientCapabilities(support=True))
    async with editing(place, capabilities=lsp.ClientCapabilities(window=window)) as editor:
        editor.open(file)
        (lens,) = await editor.all_lenses(file)
        assert lens.command
        path = Path(await editor.run(lens.command.command, *lens.command.arguments or ()))
        await until(lambda: editor.client.shown_documents, "the page")
        url = urlsplit(editor.client.shown_documents[0].uri)
        assert (unquote(url.path), url.fragment) == (str(path), "k1")
        assert "s += a[i]" in path.read_text()
        # Another editor is told the place.
        assert await editor.run("incc.report") == str(path)
        assert await editor.run("incc.report", "file:///nothing.c") == ""
        assert editor.messages == ["incc: there is no report on this document"]


async def test_refreshes_announce_results(place: Path) -> None:
    """An editor that supports refreshes gets the present lenses at once."""
    file = written(place / "sum.c", SUM)
    async with editing(place, capabilities=REFRESHED) as editor:
        refreshes: list[str] = []
        editor.client.feature(lsp.WORKSPACE_CODE_LENS_REFRESH)(lambda *_: refreshes.append("lenses"))
        editor.client.feature(lsp.WORKSPACE_INLAY_HINT_REFRESH)(lambda *_: refreshes.append("chains"))
        editor.open(file)
        await until(lambda: {*refreshes} == {"lenses", "chains"}, "refreshes")
        assert await editor.shown(file, bool)
        assert await editor.chains(file)


# --- ways to compile --------------------------------------------------------------------------------------------------


async def test_several_cores_and_compilers(place: Path) -> None:
    file = written(place / "sum.c", SUM)
    program("clang-19")
    settings = {"cores": ["skylake", "znver4"], "also": ["clang-19 -O1", "-O3"]}
    async with editing(place, settings) as editor:
        editor.open(file)
        lenses = await editor.lenses(file)
        assert {line for line, _ in lenses} == {LOOP}
        labels = [text.partition(": ")[0] for _, text in lenses]
        assert labels == [
            *("skylake", "znver4"),
            *("clang-19 -O1, skylake", "clang-19 -O1, znver4"),
            *("-O3, skylake", "-O3, znver4"),
        ]
        assert "4.00 cycles" in lenses[0][1]
        assert "3.00 cycles" in lenses[1][1]
        # A chain is shown once for each line.
        lines = [chain.position.line for chain in await editor.chains(file)]
        assert CHAIN in lines
        assert len({*lines}) == len(lines)
        pages = {}
        for lens in await editor.all_lenses(file):
            assert lens.command
            page = Path(await editor.run(lens.command.command, *lens.command.arguments or ()))
            pages[lens.command.title] = page.read_text()
        assert len(pages) == 6
        assert len({*pages.values()}) == 3


async def test_settings_are_switched_and_reset(place: Path) -> None:
    file = written(place / "sum.c", SUM + ROOTS.replace("#include <math.h>", "double sqrt(double);"))
    async with editing(place, {"cores": ["skylake"], "also": ["-O1"]}) as editor:
        editor.open(file)
        plain = await editor.lenses(file)
        assert [text.partition(":")[0] for _, text in plain if "-O1" in text] == ["-O1", "-O1"]
        assert await editor.run("incc.cores", "znver4") == ["znver4"]
        assert "3.00 cycles" in (await editor.lenses(file))[0][1]
        # What is shown as well is switched off, and on again.
        assert await editor.run("incc.alsoShow", "-O1") == []
        assert len(await editor.lenses(file)) == 2
        assert await editor.run("incc.alsoShow", "-O1") == ["-O1"]
        assert len(await editor.lenses(file)) == 4
        await editor.run("incc.where", "cycles < 3.5")
        assert {line for line, _ in await editor.lenses(file)} == {LOOP}
        await editor.run("incc.where", "no condition")
        assert "incc.where" in " ".join(text for _, text in await editor.shown(file, bool))
        await editor.run("incc.where", "")
        await editor.run("incc.flags", "-DBROKEN", "-include", "nothing.h")
        assert "nothing.h" in " ".join(text for _, text in await editor.lenses(file))
        await editor.run("incc.flags", "-Ofast")
        assert all("4.00 cycles · chain" not in text for _, text in await editor.lenses(file))
        await editor.run("incc.reset")
        assert await editor.lenses(file) == plain


async def test_an_unknown_core_is_reported(place: Path) -> None:
    file = written(place / "sum.c", SUM)
    async with editing(place, {"cores": ["skylaek"]}) as editor:
        editor.open(file)
        ((line, text),) = await editor.lenses(file)
        assert line == 0
        assert text.startswith("not analysed: ")
        assert "skylaek" in text
        assert "skylake" in text


async def test_commands_ask_for_what_they_are_not_told(place: Path) -> None:
    file = written(place / "sum.c", SUM)
    async with editing(place) as editor:
        asked: list[list[str]] = []

        @editor.client.feature(lsp.WINDOW_SHOW_MESSAGE_REQUEST)
        def choose(params: lsp.ShowMessageRequestParams) -> lsp.MessageActionItem:
            asked.append([action.title for action in params.actions or ()])
            wanted = re.compile(r"znver4|gcc(-\d+)?")
            return next(action for action in params.actions or () if wanted.fullmatch(action.title))

        editor.open(file)
        assert await editor.run("incc.cores") == ["znver4"]
        assert {"skylake", "neoverse-v1"} <= {*asked[0]}
        (compiler,) = await editor.run("incc.alsoShow")
        assert compiler in asked[1]
        assert f"{compiler}: 3.00 cycles" in " ".join(text for _, text in await editor.lenses(file))


# --- settings and projects --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cores": "skylake"}, "incc: settings: Expected `array`, got `str` - at `$.cores`"),
        ({"trust": 1}, "incc: settings: Expected `bool`, got `int` - at `$.trust`"),
        ({"coers": []}, "incc: settings: Object contains unknown field `coers`"),
        ([1], "incc: settings: "),
        ({"also": ["'"]}, ""),
    ],
)
async def test_mistakes_in_settings_are_shown(place: Path, settings: dict[str, object], message: str) -> None:
    file = written(place / "sum.c", SUM)
    async with editing(place, settings) as editor:
        editor.open(file)
        lenses = await editor.lenses(file)
        assert [line for line, text in lenses if "cycles" in text] == [LOOP]
        assert [text.startswith(message) for text in editor.messages] == ([True] if message else [])
        if not message:
            assert [text for line, text in lenses if line == 0] == ["': not analysed: ': no closing quotation"]


async def test_changed_settings_count(place: Path) -> None:
    file = written(place / "sum.c", SUM)
    async with editing(place) as editor:
        editor.open(file)
        await editor.lenses(file)
        for settings in ({"incc": {"cores": ["znver4"]}}, {"cores": ["znver4"]}):
            editor.client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(settings))
            await editor.shown(file, lambda lenses: "3.00 cycles" in lenses[0][1])
            editor.client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams({"cores": ["skylake"]}))
            await editor.shown(file, lambda lenses: "4.00 cycles" in lenses[0][1])


async def test_each_workspace_folder_has_its_settings(tmp_path: Path) -> None:
    roots = [tmp_path / "one", tmp_path / "the other"]
    files = [written(root / "sum.c", SUM) for root in roots]
    written(roots[0] / "incc.toml", '[analyze]\ncores = ["znver4"]\n[editor]\nalso = ["-O1"]\n')
    configuration = {roots[1].as_uri(): {"incc": {"cores": ["skylake"]}}}
    async with editing(roots[0], {}, roots=roots, configuration=configuration) as editor:
        for file in files:
            editor.open(file)
        first = await editor.shown(files[0], lambda lenses: len(lenses) == 2)
        assert [text.partition(" · ")[0] for _, text in first] == ["3.00 cycles", "-O1: 3.00 cycles"]
        second = await editor.shown(files[1], lambda lenses: lenses and "4.00 cycles" in lenses[0][1])
        assert len(second) == 1
        # A project's file that was changed counts once the editor tells of it.
        written(roots[0] / "incc.toml", '[analyze]\ncores = ["skylake"]\n[editor]\nflags = ["-Ofast"]\ncolour = 1\n')
        change = lsp.FileEvent((roots[0] / "incc.toml").as_uri(), lsp.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([change]))
        third = await editor.shown(files[0], lambda lenses: len(lenses) == 1)
        assert "256-bit" in third[0][1] or "128-bit" in third[0][1]
        logged = " ".join(message.message for message in editor.client.log_messages)
        assert "[editor] has no 'colour'" in logged


async def test_commands_of_a_database_count(place: Path) -> None:
    file = written(place / "src" / "sum.c", "#ifdef WANTED\n#endif\n" + SUM)
    entry = {"directory": str(place), "file": "src/sum.c", "command": "gcc -O3 -ffast-math -c src/sum.c"}
    written(place / "build" / "compile_commands.json", json.dumps([entry]))
    async with editing(place) as editor:
        editor.open(file)
        ((line, text),) = await editor.lenses(file)
        assert line == LOOP + 2
        assert "128-bit" in text
        entry["command"] += " -fplugin=x.so"
        written(place / "build" / "compile_commands.json", json.dumps([entry]))
        editor.save(file)
        ((line, text),) = await editor.shown(file, lambda lenses: "old" in lenses[0][1])
        assert (line, text.partition("old: ")[2]) == (
            LOOP + 2,
            f"{place}/build/compile_commands.json: src/sum.c: -fplugin=x.so may run other programs; "
            "the setting incc.trust allows it",
        )


# --- kinds of files ---------------------------------------------------------------------------------------------------


async def test_assembly_and_its_marked_regions(place: Path) -> None:
    written(place / "sum.c", SUM)
    subprocess.run([program("gcc"), "-O2", "-S", "sum.c"], cwd=place, check=True)
    lines = (place / "sum.s").read_text().splitlines()
    label = next(number for number, line in enumerate(lines) if "addsd" in line)
    async with editing(place) as editor:
        file = editor.open(place / "sum.s")
        ((line, text),) = await editor.lenses(file)
        assert "4.00 cycles" in text
        assert line in (label, label - 1, label - 2)
        marked = [*lines[:label], "# LLVM-MCA-BEGIN add", lines[label], "# LLVM-MCA-END", *lines[label + 1 :]]
        editor.edit(file, "\n".join([*marked, ""]))
        ((line, _),) = await editor.shown(file, lambda lenses: lenses and "old" not in lenses[0][1])
        assert line in (label, label + 1)
        ((line, _),) = [(each.position.line, each.label) for each in await editor.chains(file)]
        assert line == label + 1


@pytest.mark.skipif(not shutil.which("gfortran"), reason="no gfortran")
async def test_fortran(place: Path) -> None:
    text = (
        "subroutine add(a, n)\n  integer :: n, i\n  real :: a(n)\n  do i = 1, n\n    a(i) = a(i) + 1\n  end do\nend\n"
    )
    file = written(place / "add.f90", text)
    async with editing(place, environment={"FFLAGS": "-O1"}) as editor:
        editor.open(file)
        ((line, _),) = await editor.lenses(file)
        assert line in (3, 4)
        editor.edit(file, f"! changed\n{text}")
        ((moved, title),) = await editor.lenses(file)
        assert moved == line + 1
        assert "old" not in title


async def test_headers_show_the_loops_of_open_sources(place: Path) -> None:
    header = written(place / "sum.h", SUM.replace("double sum", "static inline double sum"))
    source = written(place / "use.c", '#include "sum.h"\ndouble use(const double *a, long n) { return sum(a, n); }\n')
    async with editing(place) as editor:
        editor.open(header)
        assert await editor.lenses(header) == []
        editor.open(source)
        # In the source, it is shown at the call.
        ((line, text),) = await editor.lenses(source)
        assert (line, text.partition(":")[0]) == (1, "sum")
        await until(lambda: editor.diagnostics(header), "diagnostics of the header")
        ((line, text),) = await editor.lenses(header)
        assert (line, "4.00 cycles" in text) == (LOOP, True)
        # The lens opens the report of the source.
        (lens,) = await editor.all_lenses(header)
        assert lens.command
        assert (await editor.run(lens.command.command, *lens.command.arguments or ())).endswith("use.c.html")
        # Until it is saved, the source is compiled with the header on disk.
        editor.edit(header, f"\n{header.read_text()}")
        ((line, text),) = await editor.lenses(header)
        assert (line, "old" in text) == (LOOP + 1, True)
        written(header, f"\n{header.read_text()}")
        editor.save(header)
        await editor.lenses(source)
        ((line, text),) = await editor.shown(header, lambda lenses: lenses and "old" not in lenses[0][1])
        assert line == LOOP + 1
        editor.close(source)
        await editor.shown(header, lambda lenses: not lenses)


async def test_other_files_have_nothing(place: Path) -> None:
    async with editing(place) as editor:
        file = editor.open(place / "notes.txt", "for ever\n")
        assert await editor.lenses(file) == []
        assert not await editor.chains(file)
        assert await editor.hover(file, 0) == ""
        untitled = lsp.TextDocumentItem("untitled:Untitled-1", "c", 1, SUM)
        editor.client.text_document_did_open(lsp.DidOpenTextDocumentParams(untitled))
        of = lsp.TextDocumentIdentifier("untitled:Untitled-1")
        answer = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(of))
        assert not answer
        assert editor.messages == []


async def test_many_documents_at_once(place: Path) -> None:
    """No more compilers than CPUs run at a time, and each document gets its own results."""
    async with editing(place) as editor:
        files = [editor.open(place / f"sum{n}.c", "\n" * n + SUM) for n in range(8)]
        for number, file in enumerate(files):
            assert [line for line, _ in await editor.lenses(file)] == [number + LOOP]
