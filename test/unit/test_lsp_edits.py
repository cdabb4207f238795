"""The language server while files are edited, and at its end: nothing old looks new, and nothing is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from language_client import CHAIN, LOOP, PATIENCE, REFRESHED, SUM, Editor, editing, program, until

from incc.live.jobs import Jobs, LiveJobError

pytestmark = pytest.mark.asyncio

ADD = """void add(float *a, long n) {
  for (long i = 0; i < n; i++)
    a[i] += 1;
}
"""
WITH_LATIN = "// Größe\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def hanging(place: Path) -> dict[str, str]:
    """Return the environment for a compiler that hangs in each compilation for as long as there is a file `hang`.

    It has a child, as drivers of compilers have.
    """
    compiler = place / "gcc"
    hang = shlex.quote(str(place / "hang"))
    compiler.write_text(f'#!/bin/sh\nif [ -e {hang} ]; then sleep 1000; fi\nexec {program("gcc")} "$@"\n')
    compiler.chmod(0o755)
    return {"CC": str(compiler)}


def compiling(editor: Editor) -> dict[int, str]:
    return {number: command for number, command in editor.processes().items() if "sleep" in command}


async def ended(editor: Editor, processes: set[int]) -> None:
    await until(lambda: not processes & {*editor.processes()}, "the end of the compiler")


# --- edits ------------------------------------------------------------------------------------------------------------


async def test_edits_move_results_and_mark_them_as_old(place: Path) -> None:
    (place / "sum.c").write_text(SUM)
    async with editing(place, capabilities=REFRESHED, environment=hanging(place)) as editor:
        file = editor.open(place / "sum.c")
        await editor.shown(file, bool)
        await until(lambda: editor.diagnostics(file), "diagnostics")
        (place / "hang").touch()
        editor.edit(file, f"\n\n{SUM}")
        assert await editor.lenses(file) == [(LOOP + 2, "4.00 cycles · chain xmm0 · scalar · old: edited since")]
        (chain,) = await editor.chains(file)
        assert (chain.position.line, chain.label) == (CHAIN + 2, "⟲ 4 of 4 cycles (old)")
        await until(lambda: [each.range.start.line for each in editor.diagnostics(file)] == [LOOP + 2], "a diagnostic")
        await until(lambda: compiling(editor), "a compiler")
        # The line of the loop is no more, so nothing of it is shown.
        editor.edit(file, SUM.replace("long i", "int i"))
        assert await editor.lenses(file) == []
        assert not await editor.chains(file)
        await until(lambda: not editor.diagnostics(file), "no diagnostics")
        (place / "hang").unlink()
        editor.edit(file, SUM)
        await editor.shown(file, lambda lenses: lenses == [(LOOP, "4.00 cycles · chain xmm0 · scalar")])


async def test_an_edit_ends_the_compiler_that_runs(place: Path) -> None:
    (place / "sum.c").write_text(SUM)
    async with editing(place, environment=hanging(place)) as editor:
        (place / "hang").touch()
        file = editor.open(place / "sum.c")
        for number in range(3):
            running = {*await until(lambda: compiling(editor), "a compiler")}
            editor.edit(file, "\n" * number + SUM)
            await ended(editor, running)
        await until(lambda: compiling(editor), "a compiler")
        (place / "hang").unlink()
        editor.edit(file, f"\n{SUM}")
        assert [line for line, _ in await editor.lenses(file)] == [LOOP + 1]
        # Closing a file ends its analysis, too.
        (place / "hang").touch()
        editor.edit(file, SUM)
        await until(lambda: compiling(editor), "a compiler")
        editor.close(file)
        await until(lambda: not compiling(editor), "the end of the compiler")
        assert await editor.lenses(file) == []
        await until(lambda: not [*editor.temporary.glob("*edited*")], "no text that is compiled")


async def test_edits_wait_for_a_pause(place: Path) -> None:
    (place / "sum.c").write_text(SUM)
    log = place / "log"
    compiler = place / "gcc"
    compiler.write_text(f'#!/bin/sh\necho >>{shlex.quote(str(log))}\nexec {program("gcc")} "$@"\n')
    compiler.chmod(0o755)
    async with editing(place, environment={"CC": str(compiler)}) as editor:
        file = editor.open(place / "sum.c")
        await editor.lenses(file)
        once = log.stat().st_size
        log.unlink()
        for number in range(20):
            editor.edit(file, "\n" * number + SUM)
        assert [line for line, _ in await editor.lenses(file)] == [LOOP + 19]
        assert log.stat().st_size == once


async def test_text_that_does_not_compile_keeps_the_last_result(place: Path) -> None:
    (place / "sum.c").write_text(SUM)
    async with editing(place) as editor:
        file = editor.open(place / "sum.c")
        await editor.lenses(file)
        editor.edit(file, f"\n{SUM}int x = ;\n")
        ((line, text),) = await editor.lenses(file)
        assert line == LOOP + 1
        assert text.startswith("4.00 cycles · chain xmm0 · scalar · old: sum.c:8:")
        assert [each.range.start.line for each in editor.diagnostics(file)] == [LOOP + 1]
        editor.edit(file, f"{SUM}int x = 1;\n")
        assert await editor.lenses(file) == [(LOOP, "4.00 cycles · chain xmm0 · scalar")]


async def test_text_that_never_compiled_has_the_reason_at_its_first_line(place: Path) -> None:
    (place / "sum.c").write_text(f"int x = ;\n{SUM}")
    async with editing(place) as editor:
        file = editor.open(place / "sum.c")
        ((line, text),) = await editor.lenses(file)
        assert line == 0
        assert text.startswith("not analysed: sum.c:1:")
        assert not await editor.chains(file)
        assert await editor.run("incc.report", file.as_uri()) == ""
        assert await editor.run("incc.try", file.as_uri(), "-O3") is None
        editor.edit(file, SUM)
        assert await editor.lenses(file) == [(LOOP, "4.00 cycles · chain xmm0 · scalar")]


@pytest.mark.parametrize(("encoding", "ends"), [("latin-1", "\n"), ("utf-8", "\r\n"), ("latin-1", "\r\n")])
async def test_encodings_and_line_ends(place: Path, encoding: str, ends: str) -> None:
    folder = place / "with blanks & ümlaut"
    folder.mkdir()
    path = folder / "the sum.c"
    text = (WITH_LATIN + SUM).replace("\n", ends)
    path.write_bytes(text.encode(encoding))
    async with editing(place) as editor:
        file = editor.open(path, encoding=encoding)
        assert await editor.lenses(file) == [(LOOP + 1, "4.00 cycles · chain xmm0 · scalar")]
        editor.edit(file, WITH_LATIN.replace("\n", ends) + text)
        assert await editor.lenses(file) == [(LOOP + 2, "4.00 cycles · chain xmm0 · scalar")]
        # Editors may leave out the carriage returns.
        editor.edit(file, WITH_LATIN + (WITH_LATIN + SUM))
        assert await editor.lenses(file) == [(LOOP + 2, "4.00 cycles · chain xmm0 · scalar")]


async def test_positions_are_in_units_of_the_protocol(place: Path) -> None:
    line = "    s += a[i]; // 𝔸 ü"
    (place / "sum.c").write_text(SUM.replace("    s += a[i];", line))
    async with editing(place) as editor:
        file = editor.open(place / "sum.c")
        await editor.lenses(file)
        assert editor.capabilities.position_encoding == "utf-16"
        (chain,) = await editor.chains(file)
        assert chain.position.character == len(line) + 1


@pytest.mark.long
async def test_random_edits_show_nothing_at_another_line(place: Path) -> None:
    """Each lens, chain and diagnostic is at a line that is equal to the one that was analysed."""
    r = random.Random(1)
    functions = [SUM, ADD, SUM.replace("sum", "other").replace("s +=", "s -="), ADD.replace("add", "more")]
    lines = "\n".join(functions).splitlines(keepends=True)
    loops = {line for line in lines if "for" in line}
    chains = {line for line in lines if "s +=" in line or "s -=" in line}
    (place / "loops.c").write_text("".join(lines))
    async with editing(place, capabilities=REFRESHED) as editor:
        file = editor.open(place / "loops.c")
        await editor.shown(file, bool)
        for _ in range(60):
            start = r.randrange(len(lines) + 1)
            end = min(len(lines), start + r.randrange(4))
            lines[start:end] = r.choices(["\n", "}\n", "x", *lines[:1], *functions, *sorted(loops)], k=r.randrange(3))
            text = "".join(lines)
            lines = text.splitlines(keepends=True)
            editor.edit(file, text)
            if r.random() < 0.2:
                await asyncio.sleep(0.7)
            seen = await editor.lenses(file)
            assert all(lines[line] in loops for line, title in seen if not title.startswith("not analysed")), text
            for chain in await editor.chains(file):
                assert lines[chain.position.line] in chains, text
                assert chain.position.character == len(lines[chain.position.line].rstrip("\n"))
            for each in editor.diagnostics(file):
                assert lines[each.range.start.line] in loops, text


# --- the end ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_ends_all_processes(place: Path, number: signal.Signals) -> None:
    (place / "sum.c").write_text(SUM)
    (place / "hang").touch()
    async with editing(place, environment=hanging(place), ended=True) as editor:
        editor.open(place / "sum.c")
        # The compiler has the unsaved text from a temporary folder.
        editor.edit(place / "sum.c", f"\n{SUM}")
        await until(lambda: len(compiling(editor)) == 1 and [*editor.temporary.glob("*edited*")], "a compiler")
        assert editor.server
        os.kill(editor.server.pid, number)
        await editor.no_process()
    # Another one starts.
    (place / "hang").unlink()
    async with editing(place) as editor:
        file = editor.open(place / "sum.c")
        assert len(await editor.lenses(file)) == 1


async def test_the_end_of_input_ends_the_server(place: Path) -> None:
    (place / "sum.c").write_text(SUM)
    (place / "hang").touch()
    async with editing(place, environment=hanging(place), ended=True) as editor:
        editor.open(place / "sum.c")
        await until(lambda: compiling(editor), "a compiler")
        assert editor.server
        assert editor.server.stdin
        editor.server.stdin.close()
        await editor.no_process()


async def test_garbage_and_unknown_methods_do_no_harm(place: Path) -> None:
    (place / "sum.c").write_text(SUM)
    async with editing(place) as editor:
        assert editor.server
        assert editor.server.stdin
        stdin = editor.server.stdin
        with pytest.raises(Exception, match="Method Not Found"):
            await editor.client.protocol.send_request_async("incc/nothing", {})
        editor.client.protocol.notify("incc/nothing", {})
        for garbage in (b"", b"{", b"[]", b"\xff\xfe", b"{}", b'{"jsonrpc": "2.0", "method": 1}'):
            stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(garbage), garbage))
        stdin.write(b"Nonsense\r\n\r\n")
        for command in ("incc.try", "incc.none"):
            with pytest.raises(Exception, match=r".+"):
                await editor.run(command)
        assert await editor.run("incc.report", 1, 2) == ""
        file = editor.open(place / "sum.c")
        assert len(await editor.lenses(file)) == 1


async def test_sessions_that_do_nothing_end(place: Path) -> None:
    async with editing(place):
        pass


# --- jobs -------------------------------------------------------------------------------------------------------------


class Functions:
    """The functions of jobs in tests."""

    @staticmethod
    def double(value: int) -> int:
        return 2 * value

    @staticmethod
    def large(count: int) -> bytes:
        return b"x" * count

    @staticmethod
    def fail() -> None:
        raise ValueError("no\nsuch")

    @staticmethod
    def end() -> None:
        os._exit(3)

    @staticmethod
    def sleep() -> None:
        signal.pause()


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    jobs = Jobs(Functions)
    yield jobs
    jobs._control.close()


async def test_jobs_return_results_and_errors(jobs: Jobs) -> None:
    assert await asyncio.gather(*(jobs.run("double", number) for number in range(20))) == [*range(0, 40, 2)]
    assert len(await jobs.run("large", 1 << 24)) == 1 << 24
    for function, message in (
        ("fail", "ValueError: no such"),
        ("end", "its process ended"),
        ("none", "has no attribute"),
    ):
        with pytest.raises(LiveJobError, match=message):
            await jobs.run(function)


async def test_jobs_end_after_a_time(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incc.live.jobs.MOST_SECONDS", 0.1)
    with pytest.raises(LiveJobError, match=r"it takes more than 0\.1 s"):
        await jobs.run("sleep")
    await until(lambda: len(workers()) == 0, "the end of the job")


async def test_cancelled_jobs_end_and_disturb_no_others(jobs: Jobs) -> None:
    r = random.Random(1)

    async def one(number: int) -> None:
        task = asyncio.create_task(jobs.run("large", number << 16))
        if r.random() < 0.5:
            await asyncio.sleep(r.random() * 0.02)
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            assert len(await task) == number << 16

    async with asyncio.timeout(PATIENCE):
        for _ in range(10):
            await asyncio.gather(*(one(number) for number in range(10)))
    await until(lambda: len(workers()) == 0, "the end of all jobs")


def workers() -> list[int]:
    """Return the processes that the process of jobs has started."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [
        int(grandchild)
        for child in children
        for grandchild in Path(f"/proc/{child}/task/{child}/children").read_text().split()
    ]
