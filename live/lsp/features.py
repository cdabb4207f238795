"""The features of the server: the answer to each request of an editor."""

from __future__ import annotations

import os
from typing import Any

from lsprotocol import types as lsp
from pygls import uris

from incc.live.jobs import Jobs
from incc.live.lsp.actions import ALSO, EXPLAIN, TRY, actions
from incc.live.lsp.chains import chain_hints
from incc.live.lsp.documents import Document
from incc.live.lsp.hover import hover
from incc.live.lsp.lenses import REPORT, lenses, problem_lens
from incc.live.lsp.lines import lines_of
from incc.live.lsp.server import PAUSE, SECTION, WATCHED, InccServer

CORES, COMPILER, FLAGS, WHERE, RESET = "incc.cores", "incc.compiler", "incc.flags", "incc.where", "incc.reset"


def make_server(jobs: Jobs) -> InccServer:
    """Return a server with all features, which `start_io` starts."""
    server = InccServer(jobs)
    _add_documents(server)
    _add_workspace(server)
    _add_answers(server)
    _add_commands(server)
    _add_switches(server)
    return server


def _add_documents(server: InccServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def opened(ls: InccServer, params: lsp.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        path = uris.to_fs_path(item.uri)
        # Others, such as untitled: and git:, are no files that a compiler knows.
        if path and item.uri.lower().startswith("file:"):
            document = Document(item.uri, os.path.abspath(path), item.version, lines_of(item.text))
            ls.documents[item.uri] = document
            for other in ls.documents.values():
                if other is not document and not other.sees(document):
                    ls.schedule(other)
            ls.schedule(document)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(ls: InccServer, params: lsp.DidChangeTextDocumentParams) -> None:
        document = ls.documents.get(params.text_document.uri)
        if document is not None:
            document.edit(params.text_document.version, lines_of(params.content_changes[-1].text))
            ls.publish(document)
            ls.schedule(document, PAUSE)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def saved(ls: InccServer, params: lsp.DidSaveTextDocumentParams) -> None:
        document = ls.documents.get(params.text_document.uri)
        if document is not None:
            for other in ls.documents.values():
                if other is document or any(document.real in each.others for each in other.analyses.values()):
                    ls.schedule(other)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(ls: InccServer, params: lsp.DidCloseTextDocumentParams) -> None:
        document = ls.documents.pop(params.text_document.uri, None)
        if document is not None:
            document.cancel()
            ls.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(document.uri, []))


def _add_workspace(server: InccServer) -> None:
    @server.feature(lsp.INITIALIZE)
    async def initialize(ls: InccServer, params: lsp.InitializeParams) -> None:
        ls.settings = ls.read_settings(params.initialization_options)

    @server.feature(lsp.INITIALIZED)
    async def initialized(ls: InccServer, params: lsp.InitializedParams) -> None:
        workspace = ls.client_capabilities.workspace
        registrations = []
        if workspace and workspace.did_change_watched_files and workspace.did_change_watched_files.dynamic_registration:
            watchers = [lsp.FileSystemWatcher(pattern) for pattern in WATCHED]
            options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers)
            registrations.append(lsp.Registration("files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
        if workspace and workspace.did_change_configuration and workspace.did_change_configuration.dynamic_registration:
            section = lsp.DidChangeConfigurationRegistrationOptions(SECTION)
            registrations.append(lsp.Registration("settings", lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, section))
        if registrations:
            ls.client_register_capability(lsp.RegistrationParams(registrations))
        await ls.pull_settings()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configured(ls: InccServer, params: lsp.DidChangeConfigurationParams) -> None:
        if params.settings:
            ls.settings = ls.read_settings(params.settings)
        await ls.pull_settings()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders_changed(ls: InccServer, params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        await ls.pull_settings()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def files_changed(ls: InccServer, params: lsp.DidChangeWatchedFilesParams) -> None:
        ls.analyse_all()


def _add_answers(server: InccServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensOptions(resolve_provider=False))
    async def code_lenses(ls: InccServer, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        document = await ls.settled(params.text_document.uri, ls.refreshes("code_lens"))
        if document is None:
            return []
        problems = [
            problem_lens(document.uri, each.also, each.problem)
            for each in document.analyses.values()
            if each.problem and not (each.report and any(unit.kernels for unit in each.report.units))
        ]
        return [*problems, *lenses(ls.loops(document))]

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hints(ls: InccServer, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        document = await ls.settled(params.text_document.uri, ls.refreshes("inlay_hint"))
        if document is None:
            return []
        return list(chain_hints(ls.loops(document), document.lines, params.range.start.line, params.range.end.line))

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hovered(ls: InccServer, params: lsp.HoverParams) -> lsp.Hover | None:
        document = ls.documents.get(params.text_document.uri)
        text = hover(ls.loops(document), params.position.line) if document else ""
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text)) if text else None

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix])
    )
    async def code_actions(ls: InccServer, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        document = ls.documents.get(params.text_document.uri)
        if document is None:
            return []
        return actions(ls.loops(document), params.range.start.line, params.range.end.line)


def _add_commands(server: InccServer) -> None:
    @server.command(REPORT)
    async def report(ls: InccServer, *of: str) -> str:
        uri, *rest = of or [""]
        return await ls.write_page(uri or _only(ls), *rest[:3])

    @server.command(TRY)
    async def try_flags(ls: InccServer, uri: str, *flags: str) -> Any:
        answer = await ls.try_flags(uri, flags)
        return [loop.text for trial in answer.trials for loop in trial.loops] if answer else None

    @server.command(EXPLAIN)
    async def explain(ls: InccServer, text: str) -> None:
        ls.show(text)


def _add_switches(server: InccServer) -> None:
    @server.command(ALSO)
    async def also_show(ls: InccServer, *entries: str) -> list[str]:
        now = ls.all_also()
        if not entries:
            choices = [*now, *(name for name in await ls.jobs.run("compilers") if name not in now)]
            entries = tuple(filter(None, [await ls.choose("also show (again: no longer)", choices)]))
        for entry in entries:
            if entry in now:
                now.remove(entry)
            else:
                now.append(entry)
        ls.switch(also=tuple(now))
        return now

    @server.command(CORES)
    async def cores(ls: InccServer, *names: str) -> list[str]:
        if not names:
            names = tuple(filter(None, [await ls.choose("analyse for", await ls.jobs.run("core_names"))]))
        if names:
            ls.switch(cores=names)
        return list(names)

    @server.command(COMPILER)
    async def compiler(ls: InccServer, *words: str) -> str:
        name = " ".join(words) or await ls.choose("compile with", await ls.jobs.run("compilers"))
        if name:
            ls.switch(compiler=name)
        return name

    @server.command(FLAGS)
    async def flags(ls: InccServer, *words: str) -> list[str]:
        ls.switch(flags=tuple(words))
        return list(words)

    @server.command(WHERE)
    async def where(ls: InccServer, *words: str) -> str:
        condition = " ".join(words)
        ls.switch(where=condition)
        return condition

    @server.command(RESET)
    async def reset(ls: InccServer) -> None:
        ls.switched.clear()
        ls.analyse_all()


def _only(ls: InccServer) -> str:
    return next(iter(ls.documents)) if len(ls.documents) == 1 else ""
