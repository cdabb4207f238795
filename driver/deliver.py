"""Delivers a report: to a stream, a file or a folder, with the files beside it, and what of the wishes came to nothing.

Every command that writes a report does it through here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

import msgspec

from incc.support.files import replace_file as replace_file
from incc.support.files import write_all, write_file
from incc.support.files import write_whole as write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from incc.driver.pipeline import Settings
    from incc.report import types as t
    from incc.report.source.places import Choice, Place

    Render = Callable[[int, bool], str]
    """Makes a text for so many columns, with colour or without."""

PLAIN_WIDTH = 120
"""Columns of a text that goes to a file."""

FILES = {"graph": "dot", "cfg": "cfg.dot", "html": "html", "sarif": "sarif", "opt-record": "opt.yaml"}
"""What can be written beside a report, and the endings of such files in a folder."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """How a report is to be delivered.

    `format`: "text" or "json". `output`: a file, to which the report is added if `append`, or a folder, in which each
    compilation has a file of its own; "" for the stream. `files`: where to write what FILES has, files or folders.
    `views` and `places`: what the text shows, and the lines of which it shows the details. `overview`: with so many
    kernels in a report the text begins with a table of them, 0 for never. `kernels`: those that the text shows, all if
    empty. `few`: with more kernels than that the text has a few lines of each, None for never. `uops`: its
    timeline has rows for µops. `wait`: for those who are to read from pipes that are named as files.
    """

    format: str = "text"
    output: str = ""
    append: bool = False
    files: Mapping[str, str] = {}
    views: Sequence[str] = ()
    places: Sequence[Place] = ()
    overview: int = 0
    kernels: Sequence[Choice] = ()
    few: int | None = None
    uops: bool = True
    wait: bool = True


class Undelivered(msgspec.Struct, frozen=True):
    """What was not written, as messages: `failures`, where something went wrong; `empty`, where nothing is to show."""

    failures: tuple[str, ...]
    empty: tuple[str, ...]


class Message(msgspec.Struct, frozen=True):
    """Something to say of the input: `where` it is (a file, or a file with its line), and what."""

    where: str
    text: str


def deliver(report: t.Report, request: Request, stream: TextIO | None) -> Undelivered:
    """Write the report and the files beside it. `stream`: where it goes if `request` has no output, None for one that
    is closed. What cannot be written does not keep the rest from being written."""
    failures: list[str] = []
    try:
        _write_report(report, request, stream)
    except OSError as error:
        where = f"{request.output}: " if request.output else ""
        failures.append(f"the report could not be written: {where}{error.strerror}")
    beside = deliver_beside(report, request)
    return Undelivered((*failures, *beside.failures), beside.empty)


def deliver_beside(report: t.Report, request: Request) -> Undelivered:
    """Write the files beside a report."""
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
                # Most sources of a build have no loops; one for which a page was asked is told of.
                empty.append(f"{target}: not written: {error}")
        except OSError as error:
            failures.append(f"{target}: not written: {error.strerror}")
    return Undelivered(tuple(failures), tuple(empty))


def unmet(report: t.Report, settings: Settings, request: Request, prefix: str) -> list[Message]:
    """What was asked for and nothing has: changes that change nothing, lines at which nothing was analysed, and kernels
    that are not there.

    `prefix`: what stands before an option's name on the command line.
    """
    from incc.driver.pipeline import untried

    units = report.units
    names = {unit.source or unit.assembly_file for unit in units}
    name = names.pop() if len(names) == 1 else ""
    found = [Message(name, text) for text in untried(report, settings)]
    if request.kernels:
        from incc.report.source.places import unfound

        for choice in unfound(report, request.kernels):
            found.append(Message(name, f"{prefix}kernel={choice}: no such kernel"))
    if request.places:
        from incc.report.source.places import missing

        for place in missing(report, list(request.places)):
            where = f"{name}:{place.line}" if name and not place.file else str(place)
            found.append(Message(where, f"{prefix}detail: no analysed instruction in this line"))
    return found


# --- writing ---------------------------------------------------------------------------------------------------------


def write_stream(stream: TextIO | None, render: Render) -> None:
    """Write a text to a stream in its width and colour; raises OSError. A reader that has seen enough (| head) is no
    error."""
    from incc.views.text import terminal

    if stream is None:  # closed when we were started
        import errno

        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    text = render(*terminal(stream))
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):  # a stream without a file behind it, as tests and notebooks have
        stream.write(text)
        return
    try:
        stream.flush()
        write_all(descriptor, text)
    except BrokenPipeError:
        pass


def file_name(report: t.Report, ending: str, folder: str = "") -> str:
    """A name in a folder of reports: the same for what was compiled into the same file, another for any other.
    `folder`: where the command was run, if the report does not say it, "" for the current one."""
    from incc.report.folder.names import report_name

    return report_name(report.units[0], ending, folder)


def identified(name: str, command: Sequence[str], ending: str, folder: str = "") -> str:
    """A file's name in a folder for what was made of the file `name` by a command that is run in `folder`, by default
    here."""
    from incc.report.folder.names import name_for

    return name_for(name, (folder or os.getcwd(), name, "", *command), ending)


def _write_report(report: t.Report, request: Request, stream: TextIO | None) -> None:
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


def named_parts(report: t.Report, request: Request) -> list[tuple[str, t.Report]]:
    """The reports of a folder that a command's report comes to, and their names."""
    from incc.report.folder.names import parts, report_name

    ending = "json" if request.format == "json" else "txt"
    return [(report_name(part.units[0], ending), part) for part in parts(report)]


def write_remarks(report: t.Report, stream: TextIO | None) -> None:
    """Write the report as a compiler's diagnostics; raises OSError."""
    from incc.views.exchange.diagnostics import remarks

    sources = diagnosed_lines(report)
    write_stream(stream, lambda width, colour: remarks(report, sources, colour))


def write_warnings(report: t.Report, stream: TextIO | None, error: bool) -> bool:
    """Write what of the expectations in the sources does not hold, and return whether there is something; raises
    OSError. `error`: as errors, not as warnings."""
    from incc.views.exchange.diagnostics import unmet, warnings

    if not any(True for unit in report.units for _ in unmet(unit)):
        return False
    sources = diagnosed_lines(report)
    write_stream(stream, lambda width, colour: warnings(report, sources, colour, error))
    return True


def _rendered(report: t.Report, request: Request, width: int, colour: bool) -> str:
    if request.format == "json":
        from incc.views.json import render as render_json

        # One line for each report where many come together, so that readers can take the file line by line.
        return render_json(report, compact=request.append)
    from incc.views.text import UNIT_VIEWS, VIEWS, Show
    from incc.views.text import render as render_text

    show = Show(
        [view for view in (*UNIT_VIEWS, *VIEWS) if view in request.views],
        list(request.places),
        request.overview,
        request.kernels,
        request.few,
        _MORE,
        request.uops,
    )
    return render_text(report, width, colour, show)


_MORE = "More of a loop: --analyze-kernel=FUNCTION[:LINE]; of all: --analyze-views=compact, or all."


_MANY = 30
"""Kernels of which writing takes longer than importing what writes them quickly."""


def _kernels(report: t.Report) -> int:
    return sum([len(unit.kernels) for unit in report.units])


def text_of(report: t.Report, request: Request) -> bytes:
    """A report's text for a file, in UTF-8."""
    if request.format == "json" and request.append:
        # A tenth of the time, but it cannot write bytes that are not UTF-8.
        try:
            return msgspec.json.encode(report) + b"\n"
        except (UnicodeEncodeError, msgspec.MsgspecError):
            pass
    return _rendered(report, request, PLAIN_WIDTH, False).encode("utf-8", "surrogateescape")


def _contents(name: str, target: str, report: t.Report) -> str:
    """The text of the file that FILES has under this name, to be written to `target`. Raises ValueError where the
    report has nothing for it."""
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
    from incc.views.html import render as render_page

    return render_page(report, source_lines(report))


_LARGEST_SOURCE = 1 << 24
"""Bytes of a file that is read for its lines; what is larger was not written by anybody."""


def source_lines(report: t.Report) -> dict[str, dict[int, str]]:
    """The lines of source files that instructions come from, by the report's names of the files. What cannot be read is
    left out: a report may be of code that was compiled elsewhere."""
    instructions = [i for unit in report.units for kernel in unit.kernels for i in kernel.instructions]
    return _lines_at([instruction.source for instruction in instructions])


def diagnosed_lines(report: t.Report) -> dict[str, dict[int, str]]:
    """The lines of source files that diagnostics are at, likewise."""
    places: list[t.Location | None] = []
    for unit in report.units:
        for kernel in unit.kernels:
            places += [kernel.source, *(remark.source for remark in kernel.remarks)]
        places += [mark.at for mark in unit.marks]
        places += [problem.source for problem in unit.mark_problems]
    return _lines_at(places)


def _lines_at(places: Sequence[t.Location | None]) -> dict[str, dict[int, str]]:
    wanted: dict[str, set[int]] = {}
    for place in places:
        if place:
            wanted.setdefault(place.file, set()).add(place.line)
    found: dict[str, dict[int, str]] = {}
    for name, numbers in wanted.items():
        try:
            # A name may be that of a pipe, which would wait for somebody to write.
            if not os.path.isfile(name) or os.path.getsize(name) > _LARGEST_SOURCE:
                continue
            with open(name, encoding="utf-8", errors="replace") as file:
                lines = file.read().split("\n")
        except (OSError, ValueError):  # ValueError: a NUL in the name
            continue
        found[name] = {number: lines[number - 1] for number in numbers if 0 < number <= len(lines)}
    return found
