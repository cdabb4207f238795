"""The language server: keeps the analyses of open documents up to date, and answers what editors ask.

It only knows the protocol and where results are in a text. Analyses run in processes of their own (`live/jobs.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal

import msgspec
from lsprotocol import types as lsp
from msgspec.structs import replace
from pygls import uris
from pygls.lsp.server import LanguageServer

from incc.live.jobs import Jobs, LiveJobError
from incc.live.lsp.documents import Document, ShownLoop, shown_loops
from incc.live.lsp.lines import lines_of
from incc.live.requests import Answer, EditedFile, EditorSettings, TrialAnswer, TrialRequest
from incc.support.sources import source_bytes
from incc.support.version import __version__

PAUSE = 0.5
"""Seconds after the last edit before a document is analysed."""

SECTION = "incc"
"""The section of the client's settings."""

WATCHED = ("**/compile_commands.json", "**/incc.toml")


class InccServer(LanguageServer):
    """The state of the server: settings, open documents, and the jobs that analyse them."""

    def __init__(self, jobs: Jobs) -> None:
        # With changes alone, pygls would take a form feed for the end of a line.
        super().__init__("incc", __version__, lsp.TextDocumentSyncKind.Full)
        self.jobs = jobs
        self.documents: dict[str, Document] = {}
        self.settings = EditorSettings()
        """The settings of the client for all folders."""
        self.of_folder: dict[str, EditorSettings] = {}
        """The settings of workspace folders, by their paths, if the client has any."""
        self.switched: dict[str, Any] = {}
        """The settings that commands have switched, by the names of fields."""

    @cached_property
    def pages(self) -> tempfile.TemporaryDirectory[str]:
        """The folder for HTML reports, which goes with the server."""
        return tempfile.TemporaryDirectory(prefix=f"incc-{os.getpid()}-pages-")

    # --- settings -----------------------------------------------------------------------------------------------------

    def settings_of(self, path: str) -> EditorSettings:
        """Return the settings of a file: those of the innermost workspace folder, as commands have switched them."""
        folders = [folder for folder in self.of_folder if path.startswith(os.path.join(folder, ""))]
        settings = self.of_folder[max(folders, key=len)] if folders else self.settings
        return replace(settings, **self.switched)

    def read_settings(self, value: object) -> EditorSettings:
        """Return settings of the client. Mistakes are shown, and count as no settings."""
        if isinstance(value, dict) and isinstance(value.get(SECTION), dict):
            value = value[SECTION]
        try:
            return msgspec.convert(_plain(value or {}), EditorSettings)
        except msgspec.ValidationError as error:
            self.show(f"settings: {error}", lsp.MessageType.Error)
            return EditorSettings()

    async def pull_settings(self) -> None:
        """Ask the client for the settings of each workspace folder, if it has such, and analyse everything again."""
        workspace = self.client_capabilities.workspace
        if workspace and workspace.configuration:
            folders = list(self.workspace.folders.values())
            items = [lsp.ConfigurationItem(scope_uri=folder.uri, section=SECTION) for folder in folders]
            items.append(lsp.ConfigurationItem(section=SECTION))
            with contextlib.suppress(Exception):  # a client may refuse
                *values, common = await self.workspace_configuration_async(lsp.ConfigurationParams(items))
                if common:
                    self.settings = self.read_settings(common)
                self.of_folder = {
                    uris.to_fs_path(folder.uri) or "": self.read_settings(value)
                    for folder, value in zip(folders, values, strict=True)
                    if value
                }
        self.analyse_all()

    # --- analyses -----------------------------------------------------------------------------------------------------

    def schedule(self, document: Document, pause: float = 0.0) -> None:
        """Analyse a document after a pause, in place of an analysis that is waiting or running."""
        document.cancel()
        document.task = asyncio.create_task(self._analyse(document, pause))

    def all_also(self) -> list[str]:
        """Return the other ways to compile that are shown of any document."""
        common = self.switched.get("also", self.settings.also) or ()
        return [*dict.fromkeys([*common, *(also for document in self.documents.values() for also in document.also)])]

    def analyse_all(self) -> None:
        """Analyse all documents again."""
        for document in self.documents.values():
            self.schedule(document)

    def edited_file(
        self, document: Document, lines: Sequence[str], also: str = "", added: Sequence[str] = ()
    ) -> EditedFile:
        """Return a document with these lines as a request for an analysis has it."""
        text = "".join(lines)
        settings = self.settings_of(document.path)
        return EditedFile(path=document.path, text=text, settings=settings, also=also, added=tuple(added))

    async def _analyse(self, document: Document, pause: float) -> None:
        await asyncio.sleep(pause)
        texts = self._texts(document)
        answer = await self._ask(self.edited_file(document, document.lines))
        document.also = answer.also
        self._take(document, "", answer, texts)
        for also in [also for also in document.analyses if also and also not in answer.also]:
            del document.analyses[also]

        async def analyse_also(also: str) -> None:
            self._take(document, also, await self._ask(self.edited_file(document, document.lines, also)), texts)

        await asyncio.gather(*map(analyse_also, answer.also))
        document.completion = asyncio.create_task(self._complete(document))

    async def _complete(self, document: Document) -> None:
        """Replace the reports on a document by complete ones."""
        for analysis in [*document.analyses.values()]:
            if analysis.report is not None:
                with contextlib.suppress(LiveJobError):  # the first report stays
                    analysis.report = await self.jobs.run("complete", analysis.report)
        self.refresh()

    def _texts(self, document: Document) -> dict[str, list[str]]:
        """Return the lines that an analysis of a document sees: its own, and of other open files those on disk."""
        texts = {document.real: document.lines}
        for other in self.documents.values():
            if other is not document:
                texts[other.real] = lines_of(source_bytes(other.path).decode("utf-8", "replace"))
        return texts

    async def _ask(self, file: EditedFile) -> Answer:
        try:
            answer: Answer = await self.jobs.run("analyse", file)
        except LiveJobError as error:
            return Answer(problem=f"{os.path.basename(file.path)}: {error}", also=file.settings.also or ())
        return answer

    def _take(self, document: Document, also: str, answer: Answer, texts: dict[str, list[str]]) -> None:
        document.take(also, answer, texts)
        notes = tuple(note for note in (*answer.notes, answer.problem) if note)
        if not also and notes != document.notes:
            document.notes = notes
            for note in notes:
                self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Log, f"{document.path}: {note}"))
        self.refresh()

    def refresh(self) -> None:
        """Tell the client that there are other results."""
        for document in self.documents.values():
            self.publish(document)
        if self.refreshes("code_lens"):
            self.workspace_code_lens_refresh(None)
        if self.refreshes("inlay_hint"):
            self.workspace_inlay_hint_refresh(None)

    def refreshes(self, kind: Literal["code_lens", "inlay_hint"]) -> bool:
        """Return True if the client asks for lenses or hints again when `refresh` says that there are others."""
        capability = getattr(self.client_capabilities.workspace, kind, None)
        return bool(capability and capability.refresh_support)

    def publish(self, document: Document) -> None:
        """Publish the diagnostics of a document as it is now."""
        from incc.live.lsp.diagnostics import diagnostics

        found = diagnostics(self.loops(document), document.lines)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(document.uri, found, document.version))

    def loops(self, document: Document) -> Iterator[ShownLoop]:
        """Yield the loops of all analyses that are in a document."""
        return shown_loops(document, self.documents.values())

    async def settled(self, uri: str, refreshed: bool) -> Document | None:
        """Return a document, None if it is not open. Without refreshes, wait until its analysis is done."""
        document = self.documents.get(uri)
        while document is not None and not refreshed and document.task is not None and not document.task.done():
            await asyncio.wait([document.task])
        return document

    # --- messages -----------------------------------------------------------------------------------------------------

    def show(self, text: str, kind: lsp.MessageType = lsp.MessageType.Info) -> None:
        """Show a message to the user."""
        self.window_show_message(lsp.ShowMessageParams(kind, f"incc: {text}"))

    async def choose(self, question: str, choices: Sequence[str]) -> str:
        """Let the user choose one of several texts. Returns "" if there is no answer."""
        request = lsp.ShowMessageRequestParams(
            lsp.MessageType.Info, f"incc: {question}", [lsp.MessageActionItem(choice) for choice in choices]
        )
        with contextlib.suppress(Exception):  # a client may not know the request
            chosen = await self.window_show_message_request_async(request)
            return chosen.title if chosen else ""
        return ""

    # --- commands -----------------------------------------------------------------------------------------------------

    def switch(self, **values: Any) -> None:
        """Switch settings for this session, and analyse everything again."""
        self.switched |= values
        self.analyse_all()

    async def try_flags(self, uri: str, flags: Sequence[str]) -> TrialAnswer | None:
        """Try flags on a document, show the outcome, and keep it for its diagnostics."""
        document = self.documents.get(uri)
        analysis = document.analyses.get("") if document else None
        if document is None or analysis is None or analysis.report is None:
            self.show("there is no analysis to compare with", lsp.MessageType.Warning)
            return None
        # What an edit has changed since is not taken for what the flags do.
        file = self.edited_file(document, analysis.texts[document.real], added=flags)
        request = TrialRequest(file=file, report=analysis.report)
        try:
            answer: TrialAnswer = await self.jobs.run("try_flags", request)
        except LiveJobError as error:
            answer = TrialAnswer(problem=str(error))
        analysis.trials = analysis.trials | {tuple(flags): answer}
        texts = [
            f"{loop.function_name}{f', line {loop.source.line}' if loop.source else ''}: {loop.text}"
            for trial in answer.trials
            for loop in trial.loops
            if loop.hinted
        ]
        outcome = answer.problem or "; ".join(dict.fromkeys(texts)) or "no loop gains"
        self.show(f"{shlex.join(flags)}: {outcome}")
        self.refresh()
        return answer

    async def write_page(self, uri: str, also: str = "", core: str = "", kernel_id: str = "") -> str:
        """Write the page of a document's report and show it at a kernel. Returns its path, "" if there is none."""
        document = self.documents.get(uri)
        analysis = document.analyses.get(also) if document else None
        report = analysis.report if analysis else None
        ids = (
            [(unit.model.name, kernel.kernel_id) for unit in report.units for kernel in unit.kernels] if report else []
        )
        if document is None or analysis is None or report is None or not ids:
            self.show("there is no report on this document", lsp.MessageType.Warning)
            return ""
        try:
            text = await self.jobs.run("page", self.edited_file(document, analysis.texts[document.real], also))
        except LiveJobError as error:
            self.show(str(error), lsp.MessageType.Error)
            return ""
        path = os.path.join(self.pages.name, f"{os.path.basename(document.path)}.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        number = ids.index((core, kernel_id)) if (core, kernel_id) in ids else 0
        target = f"{uris.from_fs_path(path)}#k{number + 1}"
        window = self.client_capabilities.window
        if window and window.show_document and window.show_document.support:
            self.window_show_document(lsp.ShowDocumentParams(target, external=True))
        else:
            self.show(f"the report is in {path}")
        return path


def _plain(value: Any) -> Any:
    """Return a value of the client as dictionaries and lists, whatever the protocol's library made of it."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value
