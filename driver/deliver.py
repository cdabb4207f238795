"""Delivery of reports to streams, files and folders, together with additional files. All commands use it."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

import msgspec

from incc.driver.selection import selected
from incc.report import types as t
from incc.support.files import OutputError, write_all, write_file
from incc.support.files import replace_file as replace_file
from incc.support.sources import source_bytes
from incc.support.text import without_surrogates

if TYPE_CHECKING:
    from incc.driver.settings import Settings
    from incc.report.source.places import NamedKernels, NamedLine
    from incc.report.where import Condition

Render = Callable[[int, bool], str]
"""Renders a text for a width in columns, with or without colour."""

PLAIN_WIDTH = 120
"""Columns of a text in a file."""

FILES = {
    "graph": "dot",
    "cfg": "cfg.dot",
    "html": "html",
    "roofline": "svg",
    "sarif": "sarif",
    "opt-record": "opt.yaml",
}
"""The kinds of additional files, and their endings in a folder."""


class DeliveryRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request to deliver a report."""

    format: str = "text"
    """"text" or "json"."""
    output: str = ""
    """A file, or a folder with a file for each compilation; "" for the stream."""
    append: bool = False
    files: Mapping[str, str] = {}
    """The kinds of additional files (FILES), and a file or folder for each."""
    views: Sequence[str] = ()
    """The views of the text."""
    places: Sequence[NamedLine] = ()
    """The lines whose details the text shows."""
    overview: int = 0
    """Smallest number of kernels for which the text begins with a table of them; 0 for no table."""
    kernels: Sequence[NamedKernels] = ()
    """The kernels that the text shows; all if empty."""
    where: Condition | None = None
    """The condition that kernels must meet to be delivered; None for all."""
    top: int = 0
    """Most kernels to deliver, those with the most to gain; 0 for all."""
    brief: bool = False
    """True if the user has not chosen the parts of the text; see `TextParts.brief`."""
    prefix: str = "--"
    """The prefix of the options that the text names."""
    uops: bool = True
    """True if the timeline has rows for µops."""
    wait: bool = True
    """True to wait for the readers of named pipes."""

    @property
    def is_for_commands(self) -> bool:
        """True if only commands of incc read the report: it goes into a folder as JSON, with all kernels."""
        return self.format == "json" and os.path.isdir(self.output) and not (self.where or self.top or self.files)

    @property
    def most_with_tables(self) -> int | None:
        """The most main loops of a core whose tables are shown, as in ReportSettings."""
        if self.format != "text" or not self.brief or self.files or self.places or self.where or self.top:
            return None
        from incc.views.text import TABLES

        return TABLES


class Undelivered(msgspec.Struct, frozen=True):
    """Messages on files that were not written."""

    failures: tuple[str, ...]
    empty: tuple[str, ...]
    """Messages on files for which the report has no content."""


class UnmetRequest(msgspec.Struct, frozen=True):
    """A message on a request that the input does not meet."""

    where: str
    """A file, or a file and a line."""
    text: str


def deliver(report: t.AnalysisReport, request: DeliveryRequest, stream: TextIO | None) -> Undelivered:
    """Write the report and the additional files, as many as possible.

    Args:
        report: The report.
        request: The files to write.
        stream: The stream for the report if `request` has no output; None if it is closed.
    """
    report = selected(report, request.where, request.top)
    failures: list[str] = []
    try:
        _write_report(report, request, stream)
    except OSError as error:
        where = f"{request.output}: " if request.output else ""
        failures.append(f"the report could not be written: {where}{error.strerror}")
    beside = deliver_beside(report, request)
    return Undelivered((*failures, *beside.failures), beside.empty)


def deliver_beside(report: t.AnalysisReport, request: DeliveryRequest) -> Undelivered:
    """Write the additional files."""
    report = selected(report, request.where, request.top)
    failures: list[str] = []
    empty: list[str] = []
    for name, path in request.files.items():
        folder = os.path.isdir(path)
        target = os.path.join(path, file_name(report, FILES[name])) if folder else path
        try:
            write_file(target, _contents(name, target, report), wait=request.wait)
        except ValueError as error:
            if any(unit.kernels for unit in report.units):
                failures.append(f"{target}: not written: {error}")
            elif not folder:
                # In a folder this is no message, since most sources of a build have no loops.
                empty.append(f"{target}: not written: {error}")
        except OSError as error:
            failures.append(f"{target}: not written: {error.strerror}")
    return Undelivered(tuple(failures), tuple(empty))


def unmet(report: t.AnalysisReport, settings: Settings, request: DeliveryRequest, prefix: str) -> list[UnmetRequest]:
    """Return messages on changes without effect, lines without instructions, and kernels that do not exist.

    Args:
        report: The report.
        settings: The settings of the analysis.
        request: The requested delivery.
        prefix: The prefix of option names on the command line.
    """
    from incc.driver.pipeline import untried

    units = report.units
    names = {unit.source or unit.assembly_file for unit in units}
    name = names.pop() if len(names) == 1 else ""
    messages = [UnmetRequest(name, text) for text in untried(report, settings)]
    if request.kernels:
        from incc.report.source.places import unfound

        for choice in unfound(report, request.kernels):
            messages.append(UnmetRequest(name, f"{prefix}kernel={choice}: no such kernel"))
    if request.places:
        from incc.report.source.places import missing

        for place in missing(report, list(request.places)):
            where = f"{name}:{place.line}" if name and not place.file else str(place)
            messages.append(UnmetRequest(where, f"{prefix}detail: no analysed instruction in this line"))
    return messages


# --- writing ---------------------------------------------------------------------------------------------------------


def write_stream(stream: TextIO | None, render: Render) -> None:
    """Write a text to a stream, in its width and colour. A closed pipe (| head) is no error. Raises OSError."""
    from incc.views.text import terminal

    if stream is None:  # closed when we were started
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    text = render(*terminal(stream))
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):  # a stream without a file, as in tests and notebooks
        stream.write(text)
        return
    try:
        stream.flush()
        write_all(descriptor, text)
    except BrokenPipeError:
        pass


def write_rendered(path: str | None, render: Render) -> None:
    """Write a text to a file, else to standard output, without surrogates. Raises OSError, which names the file."""
    if path:
        try:
            write_file(path, without_surrogates(render(PLAIN_WIDTH, False)))
        except OSError as error:
            raise OutputError(error.errno, error.strerror, path) from None
    else:
        write_stream(sys.stdout, lambda width, colour: without_surrogates(render(width, colour)))


def file_name(report: t.AnalysisReport, ending: str, folder: str = "") -> str:
    """Return a file name in a folder of reports that is unique to the output of the compilation.

    Args:
        report: The report.
        ending: The ending of the name.
        folder: The working directory of the command, if it is not in the report; "" for the current one.
    """
    from incc.report.folder.names import report_name

    return report_name(report.units[0], ending, folder)


def identified(name: str, command: Sequence[str], ending: str, folder: str = "") -> str:
    """Return a file name in a folder that is unique to the source `name` and a command run in `folder`."""
    from incc.report.folder.names import name_for

    return name_for(name, (folder or os.getcwd(), name, "", *command), ending)


def _write_report(report: t.AnalysisReport, request: DeliveryRequest, stream: TextIO | None) -> None:
    def render(width: int, colour: bool) -> str:
        return _rendered(report, request, width, colour)

    if not request.output:
        write_stream(stream, render)
    elif os.path.isdir(request.output):
        from incc.report.folder.outcome import put

        for name, part in named_parts(report, request):
            put(request.output, name, part.units[0], _rendered(part, request, PLAIN_WIDTH, False))
    else:
        write_file(request.output, render(PLAIN_WIDTH, False), request.append, request.wait)


def named_parts(report: t.AnalysisReport, request: DeliveryRequest) -> list[tuple[str, t.AnalysisReport]]:
    """Split a command's report into the reports of a folder, with their names."""
    from incc.report.folder.names import parts, report_name

    ending = "json" if request.format == "json" else "txt"
    return [(report_name(part.units[0], ending), part) for part in parts(report)]


def write_remarks(report: t.AnalysisReport, stream: TextIO | None) -> None:
    """Write the report as compiler diagnostics. Raises OSError."""
    from incc.views.exchange.diagnostics import remarks

    sources = diagnosed_lines(report)
    write_stream(stream, lambda width, colour: remarks(report, sources, colour))


def write_warnings(report: t.AnalysisReport, stream: TextIO | None, error: bool) -> bool:
    """Write warnings (or errors) for unmet expectations; return True if there are any. Raises OSError."""
    from incc.views.exchange.diagnostics import unmet, warnings

    if not any(True for unit in report.units for _ in unmet(unit)):
        return False
    sources = diagnosed_lines(report)
    write_stream(stream, lambda width, colour: warnings(report, sources, colour, error))
    return True


def _rendered(report: t.AnalysisReport, request: DeliveryRequest, width: int, colour: bool) -> str:
    if request.format == "json":
        from incc.views.json import render as render_json

        # One report per line, so that readers can process appended reports line by line.
        return render_json(report, compact=request.append)
    from incc.views.text import UNIT_VIEWS, VIEWS, TextParts
    from incc.views.text import render as render_text

    show = TextParts(
        views=[view for view in (*UNIT_VIEWS, *VIEWS) if view in request.views],
        details=request.places,
        overview=request.overview,
        kernels=request.kernels,
        brief=request.brief,
        how=_MORE.format(request.prefix),
        uops=request.uops,
        sources=source_lines(report) if "assembly" in request.views else {},
    )
    return render_text(report, width, colour, show)


_MORE = "One loop in full: {0}kernel=FUNCTION[:LINE]; all loops: {0}views=all."


def text_of(report: t.AnalysisReport, request: DeliveryRequest) -> bytes:
    """Return the contents of a report's file, in UTF-8."""
    if request.format == "json" and request.append:
        # Takes a tenth of the time, but cannot write surrogates.
        try:
            return msgspec.json.encode(report) + b"\n"
        except (UnicodeEncodeError, msgspec.MsgspecError):
            pass
    return _rendered(report, request, PLAIN_WIDTH, False).encode("utf-8", "surrogateescape")


def _contents(name: str, target: str, report: t.AnalysisReport) -> str:
    """Return the text of an additional file of this kind. Raises ValueError if the report has no content for it."""
    if name == "graph" and target.endswith(".graphml"):
        from incc.views.exchange.graph import render as render_graphml

        return render_graphml(report)
    if name == "graph":
        from incc.views.exchange.dot import render as render_graph

        return render_graph(report)
    if name == "cfg":
        from incc.views.exchange.flow import render as render_flow

        return render_flow(report)
    if name == "sarif":
        from incc.views.exchange.sarif import render as render_sarif

        return render_sarif(report)
    if name == "opt-record":
        from incc.views.exchange.opt_record import render as render_record

        return render_record(report)
    if name == "roofline":
        return roofline(target, report)
    return page(report)


def page(report: t.AnalysisReport) -> str:
    """Return the page of a report, with the source lines that can be read. Raises ValueError without kernels."""
    from incc.views import roofline
    from incc.views.html import render

    return render(report, source_lines(report), roofline.panels(roofline.figures_of(report), "#k"))


def roofline(target: str, report: t.AnalysisReport) -> str:
    """Return the roofline of a report, as a page if the target ends in .html. Raises ValueError without kernels."""
    from incc.views import roofline as view

    figures = view.figures_of(report)
    return view.page(figures, report.tool) if target.endswith(".html") else view.svg(figures)


def source_lines(report: t.AnalysisReport) -> dict[str, dict[int, str]]:
    """Return the source lines of instructions, by file name and line number. Unreadable files are left out."""
    instructions = [i for unit in report.units for kernel in unit.kernels for i in kernel.instructions]
    return _lines_at([instruction.source for instruction in instructions])


def diagnosed_lines(report: t.AnalysisReport) -> dict[str, dict[int, str]]:
    """Return the source lines of diagnostics, by file name and line number. Unreadable files are left out."""
    places: list[t.SourceLocation | None] = []
    for unit in report.units:
        for kernel in unit.kernels:
            places += [kernel.source, *(remark.source for remark in kernel.remarks)]
        places += [mark.at for mark in unit.marks]
        places += [problem.source for problem in unit.mark_problems]
    return _lines_at(places)


def _lines_at(places: Sequence[t.SourceLocation | None]) -> dict[str, dict[int, str]]:
    wanted: dict[str, set[int]] = {}
    for place in places:
        if place:
            wanted.setdefault(place.file, set()).add(place.line)
    lines_of: dict[str, dict[int, str]] = {}
    for name, numbers in wanted.items():
        text = source_bytes(name).decode("utf-8", "replace")
        if not text:
            continue
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        lines_of[name] = {number: lines[number - 1] for number in numbers if 0 < number <= len(lines)}
    return lines_of
