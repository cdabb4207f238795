"""Delivers a report: to a stream, a file or a folder, with the files beside it, and what of the wishes came to nothing.

Every command that writes a report does it through here.
"""

from __future__ import annotations

import os

from incc.frontends.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TextIO

    from incc.driver.pipeline import Settings
    from incc.driver.report import types as t
    from incc.driver.report.places import Choice, Place

    Render = Callable[[int, bool], str]
    """Makes a text for so many columns, with colour or without."""

PLAIN_WIDTH = 120
"""Columns of a text that goes to a file."""

FILES = {"graph": "dot", "cfg": "cfg.dot", "html": "html"}
"""What can be written beside a report, and the endings of such files in a folder."""


class Request(NamedTuple):
    """How a report is to be delivered.

    `format`: "text" or "json". `output`: a file, to which the report is added if `append`, or a folder, in which each
    compilation has a file of its own; "" for the stream. `files`: where to write what FILES has, files or folders.
    `views` and `places`: what the text shows, and the lines of which it shows the details. `overview`: with so many
    kernels in a report the text begins with a table of them, 0 for never. `kernels`: those that the text shows, all if
    empty. `few`: with more kernels than that the text has a few lines of each, None for never. `uops`: its
    timeline has rows for µops.
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


class Undelivered(NamedTuple):
    """What was not written, as messages: `failures`, where something went wrong; `empty`, where nothing is to show."""

    failures: tuple[str, ...]
    empty: tuple[str, ...]


class Message(NamedTuple):
    """Something to say of the input: `where` it is (a file, or a file with its line), and what."""

    where: str
    text: str


def deliver(report: t.Report, request: Request, stream: TextIO | None) -> Undelivered:
    """Write the report and the files beside it. `stream`: where it goes if `request` has no output, None for one that
    is closed. What cannot be written does not keep the rest from being written."""
    failures: list[str] = []
    empty: list[str] = []
    try:
        _write_report(report, request, stream)
    except OSError as error:
        where = f"{request.output}: " if request.output else ""
        failures.append(f"the report could not be written: {where}{error.strerror}")
    for name, path in request.files.items():
        folder = os.path.isdir(path)
        target = os.path.join(path, file_name(report, FILES[name])) if folder else path
        try:
            write_file(target, _contents(name, target, report))
        except ValueError as error:
            if any(unit["kernels"] for unit in report["units"]):
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

    units = report["units"]
    name = (units[0]["source"] or units[0]["assembly_file"]) if len(units) == 1 else ""
    found = [Message(name, text) for text in untried(report, settings)]
    if request.kernels:
        from incc.driver.report.places import unfound

        for choice in unfound(report, request.kernels):
            found.append(Message(name, f"{prefix}kernel={choice}: no such kernel"))
    if request.places:
        from incc.driver.report.places import missing

        for place in missing(report, list(request.places)):
            where = f"{name}:{place.line}" if name and not place.file else str(place)
            found.append(Message(where, f"{prefix}detail: no analysed instruction in this line"))
    return found


# --- writing ---------------------------------------------------------------------------------------------------------


def write_stream(stream: TextIO | None, render: Render) -> None:
    """Write a text to a stream in its width and colour; raises OSError. A reader that has seen enough (| head) is no
    error."""
    from incc.driver.views.text import terminal

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
        _write_all(descriptor, text)
    except BrokenPipeError:
        pass


def write_file(path: str, text: str, append: bool = False) -> None:
    """Write or add to a file; raises OSError. Additions of builds with many jobs do not mix: the file is locked for
    each."""
    import fcntl

    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_APPEND if append else 0), 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if not append and os.path.isfile(path):
            os.ftruncate(descriptor, 0)
        _write_all(descriptor, text)
    finally:
        os.close(descriptor)


def replace_file(path: str, text: str) -> None:
    """Write a file that others may read at any time: they find the old or the new one, whole. Raises OSError."""
    new = f"{path}.{os.getpid()}.new"
    try:
        write_file(new, text)
        os.replace(new, path)
    except OSError:
        if os.path.exists(new):
            os.unlink(new)
        raise


def write_whole(path: str, text: str) -> None:
    """Write a file of which there is never half: an old one stays until the new one is complete. What is no file, such
    as a pipe or /dev/stdout, is written to; links stay what they are. Raises OSError."""
    path = os.path.realpath(path) if os.path.islink(path) else path
    if os.path.exists(path) and not os.path.isfile(path):
        write_file(path, text)
    else:
        replace_file(path, text)


def file_name(report: t.Report, ending: str) -> str:
    """A name in a folder of reports: the same for the same compilation, another for any other."""
    unit = report["units"][0]
    name = unit["source"] or unit["assembly_file"]
    return identified(os.path.basename(name), unit["command"] or (name,), ending)


def identified(name: str, command: Sequence[str], ending: str) -> str:
    """A file's name in a folder for what was made of the file `name` by a command that is run here."""
    import zlib

    base = os.path.basename(name)
    # A command may compile two sources of one name.
    where = () if base == name else (name,)
    identity = "\0".join((os.getcwd(), *command, *where))
    return f"{base.strip('<>')}-{zlib.crc32(os.fsencode(identity)):08x}.{ending}"


def _write_report(report: t.Report, request: Request, stream: TextIO | None) -> None:
    def render(width: int, colour: bool) -> str:
        if request.format == "json":
            from incc.driver.views.json import render as render_json

            # One line for each report where many come together, so that readers can take the file line by line.
            return render_json(report, compact=request.append)
        from incc.driver.views.text import VIEWS, Show
        from incc.driver.views.text import render as render_text

        show = Show(
            [view for view in VIEWS if view in request.views],
            list(request.places),
            request.overview,
            request.kernels,
            request.few,
            _MORE,
            request.uops,
        )
        return render_text(report, width, colour, show)

    if not request.output:
        write_stream(stream, render)
    elif os.path.isdir(request.output):
        ending = "json" if request.format == "json" else "txt"
        path = os.path.join(request.output, file_name(report, ending))
        write_file(path, render(PLAIN_WIDTH, False))
    else:
        write_file(request.output, render(PLAIN_WIDTH, False), request.append)


_MORE = "More of a loop: --analyze-kernel=FUNCTION[:LINE]; of all: --analyze-views=compact, or all."


def _write_all(descriptor: int, text: str) -> None:
    # surrogateescape: names and comments may hold any bytes.
    data = memoryview(text.encode("utf-8", "surrogateescape"))
    while data:
        data = data[os.write(descriptor, data) :]


def _contents(name: str, target: str, report: t.Report) -> str:
    """The text of the file that FILES has under this name, to be written to `target`. Raises ValueError where the
    report has nothing for it."""
    if name == "graph" and target.endswith(".graphml"):
        from incc.driver.views.graph import render as render_graphml

        return render_graphml(report)
    if name == "graph":
        from incc.driver.views.dot import render as render_graph

        return render_graph(report)
    if name == "cfg":
        from incc.driver.views.flow import render as render_flow

        return render_flow(report)
    from incc.driver.views.html import render as render_page

    return render_page(report, source_lines(report))


_LARGEST_SOURCE = 1 << 24
"""Bytes of a file that is read for its lines; what is larger was not written by anybody."""


def source_lines(report: t.Report) -> dict[str, dict[int, str]]:
    """The lines of source files that instructions come from, by the report's names of the files. What cannot be read is
    left out: a report may be of code that was compiled elsewhere."""
    wanted: dict[str, set[int]] = {}
    for unit in report["units"]:
        for kernel in unit["kernels"]:
            for instruction in kernel["instructions"]:
                if place := instruction["source"]:
                    wanted.setdefault(place["file"], set()).add(place["line"])
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
