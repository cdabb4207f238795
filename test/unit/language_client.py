"""An editor for tests of the language server: a client, and a server with a folder and processes of its own."""

from __future__ import annotations

import ast
import asyncio
import os
import shutil
import signal
import time
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient

PATIENCE = 120.0
"""Seconds after which a test gives up waiting; none takes a fraction of it, even on a busy machine."""

SUM = """double sum(const double *a, long n) {
  double s = 0;
  for (long i = 0; i < n; i++)
    s += a[i];
  return s;
}
"""
"""A file with one loop at line 2, numbered from 0, and a chain at line 3."""

LOOP, CHAIN = 2, 3

ROOTS = """#include <math.h>
void roots(double *a, const double *b, long n) {
  for (long i = 0; i < n; i++)
    a[i] = sqrt(b[i]);
}
"""
"""A file with one loop at line 2, which flags make twice as fast."""
TRY = "try -O3 -fno-math-errno"


def program(name: str) -> str:
    """Return the path of a program, or skip the test."""
    if not (path := shutil.which(name)):
        pytest.skip(f"no {name}")
    return path


def processes_of(mark: str) -> dict[int, str]:
    """Return the commands of the processes that have a word in their environment, by their numbers."""
    commands = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and mark.encode() in (entry / "environ").read_bytes():
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if words:  # a zombie has none
                    commands[int(entry.name)] = words
        except OSError:  # it has ended, or is another user's
            continue
    return commands


async def until(condition: Callable[[], Any], of: str) -> Any:
    """Return what a condition is once it holds."""
    limit = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < limit, f"{of}: not within {PATIENCE:.0f} s"
        await asyncio.sleep(0.02)
    return value


class Editor:
    """An editor: opens, edits and closes files, and asks the server for what it shows of them."""

    def __init__(self, client: LanguageClient, temporary: Path, mark: str) -> None:
        self.client = client
        self.temporary = temporary
        """The folder for temporary files of the server, and of all that it starts."""
        self.mark = mark
        """A word in the environment of the server and of all that it starts."""
        self.versions: dict[Path, int] = {}
        self.capabilities = lsp.ServerCapabilities()
        self.server = client._server
        assert self.server is not None

    # --- documents ----------------------------------------------------------------------------------------------------

    def open(self, path: Path, text: str | None = None, encoding: str = "utf-8") -> Path:
        """Open a file, with a text that need not be that on disk."""
        if text is None:
            text = path.read_bytes().decode(encoding)
        self.versions[path] = 1
        item = lsp.TextDocumentItem(path.as_uri(), path.suffix[1:], 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return path

    def edit(self, path: Path, text: str) -> None:
        self.versions[path] += 1
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(self.versions[path], path.as_uri()),
                [lsp.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    def save(self, path: Path) -> None:
        self.client.text_document_did_save(lsp.DidSaveTextDocumentParams(self._of(path)))

    def close(self, path: Path) -> None:
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(self._of(path)))

    # --- what is shown ------------------------------------------------------------------------------------------------

    async def lenses(self, path: Path) -> list[tuple[int, str]]:
        """Return the lines of lenses, numbered from 0, and their texts."""
        return [(lens.range.start.line, lens.command.title) for lens in await self.all_lenses(path) if lens.command]

    async def all_lenses(self, path: Path) -> Sequence[lsp.CodeLens]:
        return await self.client.text_document_code_lens_async(lsp.CodeLensParams(self._of(path))) or []

    async def shown(self, path: Path, condition: Callable[[list[tuple[int, str]]], Any]) -> list[tuple[int, str]]:
        """Return the lenses once they meet a condition."""
        limit = time.monotonic() + PATIENCE
        while not condition(lenses := await self.lenses(path)):
            assert time.monotonic() < limit, f"not within {PATIENCE:.0f} s; shown are {lenses}"
            await asyncio.sleep(0.05)
        return lenses

    async def chains(self, path: Path, first: int = 0, last: int = 1 << 20) -> Sequence[lsp.InlayHint]:
        where = lsp.Range(lsp.Position(first, 0), lsp.Position(last, 0))
        return await self.client.text_document_inlay_hint_async(lsp.InlayHintParams(self._of(path), where)) or []

    async def hover(self, path: Path, line: int) -> str:
        params = lsp.HoverParams(self._of(path), lsp.Position(line, 2))
        answer = await self.client.text_document_hover_async(params)
        assert answer is None or isinstance(answer.contents, lsp.MarkupContent)
        return answer.contents.value if answer else ""

    async def actions(self, path: Path, line: int) -> dict[str, lsp.Command]:
        """Return the commands of the code actions at a line, by their titles."""
        where = lsp.Range(lsp.Position(line, 0), lsp.Position(line, 0))
        params = lsp.CodeActionParams(self._of(path), where, lsp.CodeActionContext([]))
        answer = await self.client.text_document_code_action_async(params) or []
        actions = {}
        for each in answer:
            # lsprotocol reads an action as a command, and what it does as a string.
            assert isinstance(each, lsp.Command)
            actions[each.title] = lsp.Command(**ast.literal_eval(each.command))
        return actions

    async def act(self, path: Path, line: int, title: str) -> Any:
        """Do a code action, and return the answer to its command."""
        command = (await self.actions(path, line))[title]
        return await self.run(command.command, *command.arguments or ())

    def diagnostics(self, path: Path) -> Sequence[lsp.Diagnostic]:
        return self.client.diagnostics.get(path.as_uri(), ())

    async def run(self, command: str, *arguments: object) -> Any:
        params = lsp.ExecuteCommandParams(command, list(arguments))
        return await self.client.workspace_execute_command_async(params)

    @property
    def messages(self) -> list[str]:
        return [message.message for message in self.client.messages]

    # --- processes and temporary files --------------------------------------------------------------------------------

    def processes(self) -> dict[int, str]:
        return processes_of(self.mark)

    async def no_process(self) -> None:
        """Wait until the server, and all that it has started, have ended."""
        limit = time.monotonic() + PATIENCE
        while left := self.processes():
            assert time.monotonic() < limit, left
            await asyncio.sleep(0.02)

    async def no_file(self) -> None:
        """Wait until there is no temporary file or folder."""
        limit = time.monotonic() + PATIENCE
        while left := [path.name for path in self.temporary.iterdir()]:
            assert time.monotonic() < limit, left
            await asyncio.sleep(0.02)

    def _of(self, path: Path) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(path.as_uri())


REFRESHED = lsp.ClientCapabilities(
    workspace=lsp.WorkspaceClientCapabilities(
        code_lens=lsp.CodeLensWorkspaceClientCapabilities(refresh_support=True),
        inlay_hint=lsp.InlayHintWorkspaceClientCapabilities(refresh_support=True),
    )
)
"""The capabilities of an editor that is told when there are other lenses. Others wait for them."""


@asynccontextmanager
async def editing(
    place: Path,
    settings: dict[str, Any] | None = None,
    *,
    roots: Sequence[Path] = (),
    capabilities: lsp.ClientCapabilities | None = None,
    environment: dict[str, str] | None = None,
    configuration: dict[str, dict[str, Any]] | None = None,
    command: Sequence[str] = ("incc-lsp",),
    ended: bool = False,
) -> AsyncIterator[Editor]:
    """Start a server for a folder, and end it as editors do. Nothing may be left of it.

    Args:
        place: The folder.
        settings: The initialization options. By default, analyse for one core.
        roots: The workspace folders; the folder alone by default.
        capabilities: Those of the editor.
        environment: Variables in addition to those of this process.
        configuration: Answers to workspace/configuration, by the URIs of folders, "" for all.
        command: The command of the server.
        ended: The server may have ended before.
    """
    program("incc-lsp")
    mark = f"incc-editor-{uuid.uuid4().hex}"
    temporary = place.parent / mark
    temporary.mkdir()
    variables = {**os.environ, "TMPDIR": str(temporary), "EDITOR_OF_TEST": mark, "CC": program("gcc"), "CFLAGS": "-O2"}
    config = ClientServerConfig([*command], server_env=variables | (environment or {}))
    client = await config.start()
    assert isinstance(client, LanguageClient)
    editor = Editor(client, temporary, mark)
    try:
        if configuration is not None:
            client._configuration = {"": {}, **configuration}
            workspace = lsp.WorkspaceClientCapabilities(configuration=True)
            capabilities = capabilities or lsp.ClientCapabilities(workspace=workspace)
        parameters = lsp.InitializeParams(
            capabilities=capabilities or lsp.ClientCapabilities(),
            root_uri=place.as_uri(),
            workspace_folders=[lsp.WorkspaceFolder(root.as_uri(), root.name) for root in roots or (place,)],
            initialization_options={"cores": ["skylake"]} if settings is None else settings,
        )
        async with asyncio.timeout(PATIENCE):
            editor.capabilities = (await client.initialize_session(parameters)).capabilities
        async with asyncio.timeout(2 * PATIENCE):
            yield editor
            if not ended:
                await client.shutdown_session()
        await editor.no_process()
        await editor.no_file()
    finally:
        for process in editor.processes():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        await client.stop()
        shutil.rmtree(temporary, ignore_errors=True)
