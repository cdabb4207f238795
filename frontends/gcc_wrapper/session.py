"""One compilation with analysis: the compiler on the unchanged command, its assembly beside it, then the report."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from incc.frontends.gcc_wrapper.assembly import make_plan, reads_stdin
from incc.frontends.gcc_wrapper.children import Children, Interrupted, die_by
from incc.frontends.gcc_wrapper.compiler import CompilerError
from incc.frontends.gcc_wrapper.options import analysis

if TYPE_CHECKING:
    from incc.driver.options import AnalysisOptions
    from incc.driver.pipeline import Settings
    from incc.frontends.gcc_wrapper.assembly import Plan, Run
    from incc.frontends.gcc_wrapper.compiler import Compiler
    from incc.frontends.gcc_wrapper.dry_run import DryRun
    from incc.frontends.gcc_wrapper.options import Options
    from incc.frontends.unit import Unit

# Variables by which compilers write more files (GCC manual, "Environment Variables"; clang's driver, CC_PRINT_…).
_WRITING_VARIABLES = (
    "DEPENDENCIES_OUTPUT",
    "SUNPRO_DEPENDENCIES",
    "CC_PRINT_OPTIONS",
    "CC_PRINT_HEADERS",
    "CC_PRINT_INTERNAL_STAT",
    "CC_PRINT_PROC_STAT",
    "CC_LOG_DIAGNOSTICS",
)

# Options for which clang's driver itself creates or removes files, even in a dry run, in the language of
# CCC_OVERRIDE_OPTIONS: it works on the arguments after response files have been read. gcc does not know the variable.
_WITHOUT_DRIVER_FILES = "X-MJ s/^-MJ.+$/-w/ X--serialize-diagnostics X-serialize-diagnostics"


class Failure(Exception):
    """The analysis cannot be made; the message says why, in one line for the user."""


class Session:
    """What one compilation has come to so far. `stdin` is what was read from standard input, None if nothing was;
    `analysis` the options that every analysis has."""

    __slots__ = (
        "analysis",
        "arguments",
        "children",
        "compiler",
        "environment",
        "notes",
        "options",
        "report",
        "scratch",
        "stdin",
        "units",
        "warnings",
        "writes_stdout",
    )

    def __init__(self, options: Options, compiler: Compiler, arguments: list[str], environment: dict[str, str]) -> None:
        self.options = options
        self.analysis: AnalysisOptions | None = None
        self.compiler = compiler
        self.arguments = arguments
        self.environment = environment
        self.children = Children()
        self.scratch = ""
        self.stdin: bytes | None = None
        self.units: list[Unit] = []
        self.report: Any = None
        self.writes_stdout = False
        self.warnings: list[str] = []
        self.notes: list[str] = []


def run(options: Options, compiler: Compiler, arguments: list[str], environment: dict[str, str]) -> int:
    """Compile and analyse; returns the exit status. If a signal ended the compiler, it ends this process too.

    Raises CompilerError if the compiler cannot be started.
    """
    session = Session(options, compiler, arguments, environment)
    status = 0
    try:
        try:
            _guarded(session, _compile_and_analyze)
            status = _finish_compiler(session)
            if status == 0 and not session.children.interrupted:
                _guarded(session, _deliver)
        except Interrupted as error:
            session.children.stop(error.number)
            if session.children.compiler:
                status = _finish_compiler(session)
    finally:
        if session.scratch:
            _remove(session.scratch)
    if status == 0 and session.children.interrupted:
        status = -session.children.interrupted
    if status < 0:
        die_by(-status)
    if status == 0:
        for note in session.notes:
            _say(f"incc: note: {note}")
        if session.warnings:
            # One line, whatever there is to say: a build's log is read by people who look for something else.
            more = f" (and {len(session.warnings) - 1} more)" if len(session.warnings) > 1 else ""
            _say(f"incc: warning: {session.warnings[0]}{more}")
            return 1 if options.strict else 0
    return status


def _guarded(session: Session, action: Any) -> None:
    """Do something that may fail without harm: the user has asked for a compiler first."""
    try:
        action(session)
    except (Interrupted, CompilerError):
        raise
    except Failure as error:
        session.warnings.append(str(error))
    except OSError as error:
        session.warnings.append(f"not analysed: {error.filename or 'output'}: {error.strerror}")
    except (Exception, SystemExit) as error:
        if os.environ.get("INCC_DEBUG"):
            import traceback

            traceback.print_exc()
        text = " ".join(str(error).split())
        known = type(error).__name__ == "AnalysisError"
        session.warnings.append(f"not analysed: {text if known else f'{type(error).__name__}: {text}'}")


# --- compiling -------------------------------------------------------------------------------------------------------


def _compile_and_analyze(session: Session) -> None:
    """Start the compiler, get the assembly beside it, and analyse what was compiled."""
    problems = session.options.problems
    if problems:
        raise Failure(problems[0])
    session.analysis = analysis(session.options)
    if not _may_read_stdin(session):
        _start_compiler(session)
    session.scratch = _make_folder()
    dry_run = _ask(session)
    plan = make_plan(dry_run, session.arguments, session.scratch)
    session.writes_stdout = plan.writes_stdout
    if not session.children.compiler:
        if plan.reads_stdin:
            session.stdin = _read_stdin()
        _start_compiler(session)
    _collect_units(session, plan, dry_run.version)
    if session.units and session.options.report and not _compiler_failed(session):
        from incc.driver.pipeline import analyze_units

        settings = _settings(session)
        session.report = analyze_units(session.units, settings)
        _look_for_unused(session, settings)


def _may_read_stdin(session: Session) -> bool:
    """Whether the compiler may read its source from standard input; then it is asked before it is started.

    Only the compiler knows for certain, so this says yes where an argument could come to that in any way.
    """
    if "CCC_OVERRIDE_OPTIONS" in session.environment:
        return True
    return any(a == "-" or a.startswith(("@", "/dev/", "/proc/")) for a in session.arguments)


def _start_compiler(session: Session) -> None:
    compiler = session.compiler
    stdin = _stdin_copy(session)
    try:
        words = compiler.words + session.arguments
        session.children.start_compiler(compiler.path, words, session.environment, stdin)
    except OSError as error:
        raise CompilerError(f"{compiler.path}: {error.strerror}", 126) from error
    finally:
        if stdin is not None:
            os.close(stdin)


def _finish_compiler(session: Session) -> int:
    """Wait for the compiler, which is started first if the analysis did not come to that; returns its status."""
    if not session.children.compiler:
        _start_compiler(session)
    while True:
        try:
            return session.children.wait(session.children.compiler)
        except Interrupted as error:
            session.children.stop(error.number)


def _compiler_failed(session: Session) -> bool:
    return bool(session.children.status(session.children.compiler)) or bool(session.children.interrupted)


def _read_stdin() -> bytes:
    parts: list[bytes] = []
    while part := os.read(0, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _stdin_copy(session: Session) -> int | None:
    """A file descriptor to read what came from standard input, from its start; None if that was not read."""
    if session.stdin is None:
        return None
    # In memory: the input is gone from the pipe, and a full disk must not keep it from the compiler.
    copy = os.memfd_create("stdin")
    data = memoryview(session.stdin)
    while data:
        data = data[os.write(copy, data) :]
    os.lseek(copy, 0, os.SEEK_SET)
    return copy


# --- assembly --------------------------------------------------------------------------------------------------------


def _ask(session: Session) -> DryRun:
    """What the compiler would run for the command. Raises Failure if it does not say."""
    from incc.frontends.gcc_wrapper.dry_run import parse

    # First of all arguments: after a `--` it would be a file.
    words = [*session.compiler.words, "-###", *session.arguments]
    environment = _quiet_environment(session)
    environment["LC_ALL"] = "C"
    environment["CCC_OVERRIDE_OPTIONS"] = f"# {environment.get('CCC_OVERRIDE_OPTIONS', '')} {_WITHOUT_DRIVER_FILES}"
    log = os.path.join(session.scratch, "dry-run")
    status = session.children.wait(session.children.start(session.compiler.path, words, environment, output=log))
    dry_run = parse(_read(log))
    if status != 0 and not dry_run.version:
        raise Failure(f"not analysed: {session.compiler.name} does not answer -###, which says what it compiles")
    return dry_run


def _quiet_environment(session: Session) -> dict[str, str]:
    """The compiler's environment without what makes it write more files, and with temporary ones in our folder."""
    environment = {k: v for k, v in session.environment.items() if k not in _WRITING_VARIABLES}
    environment["TMPDIR"] = session.scratch
    return environment


def _collect_units(session: Session, plan: Plan, version: str) -> None:
    """Get every source's assembly; what fails becomes a warning."""
    from incc.frontends.unit import Unit

    for skipped in plan.skipped:
        name = _shown(skipped.source)
        if skipped.expected:
            session.notes.append(f"{name}: nothing to analyse: {skipped.reason}")
        else:
            session.warnings.append(f"{name}: not analysed: {skipped.reason}")
    for step in plan.runs:
        if _compiler_failed(session):
            return
        try:
            text = _assembly(session, step)
        except Failure as error:
            session.warnings.append(str(error))
            continue
        name = _shown(step.source)
        session.units.append(
            Unit(
                assembly=text,
                assembly_file=os.path.splitext(os.path.basename(name))[0] + ".s" if step.generated else name,
                source=name if step.generated else "",
                compiler=session.compiler.name,
                compiler_version=version,
                command=(*session.compiler.words, *session.arguments),
                cpu=step.cpu,
            )
        )


def _assembly(session: Session, step: Run) -> str:
    """Make and read the assembly of one source; "" if the compiler failed meanwhile. Raises Failure."""
    if step.after_compiler and _finish_compiler(session) != 0:
        return ""
    log = os.path.join(session.scratch, "log")
    for command in step.commands:
        stdin = _stdin_copy(session) if reads_stdin(command) else None
        try:
            process = session.children.start(command[0], command, _quiet_environment(session), stdin=stdin, output=log)
        except OSError as error:
            raise Failure(f"{_shown(step.source)}: not analysed: {command[0]}: {error.strerror}") from error
        finally:
            if stdin is not None:
                os.close(stdin)
        if session.children.wait(process) != 0:
            if _compiler_failed(session):
                return ""
            said = _first_error(_read(log))
            raise Failure(f"{_shown(step.source)}: not analysed: no assembly from {os.path.basename(command[0])}{said}")
    if not step.commands and session.stdin is not None:
        return session.stdin.decode("utf-8", "surrogateescape")
    try:
        return _read(step.output)
    except OSError as error:
        raise Failure(f"{_shown(step.source)}: not analysed: {error.strerror}") from error


def _first_error(log: str) -> str:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    said = next((line for line in lines if "error" in line), lines[0] if lines else "")
    return f": {said}" if said else ""


def _shown(source: str) -> str:
    return "<stdin>" if source in ("-", "/dev/stdin") else source


# --- results ---------------------------------------------------------------------------------------------------------


def _settings(session: Session) -> Settings:
    from incc.driver.pipeline import Settings

    chosen, iterations = _analysis(session), session.options.timeline
    if iterations < 0:
        # A page shows what is worth scrolling through.
        page = chosen.texts["html"]
        iterations = chosen.numbers["timeline-max-iterations"] if page else Settings().timeline_iterations
    return chosen.settings("loops", iterations)


def _analysis(session: Session) -> AnalysisOptions:
    assert session.analysis is not None, "set before anything is compiled for the analysis"
    return session.analysis


def _look_for_unused(session: Session, settings: Settings) -> None:
    """Warn of lines of --analyze-detail at which nothing was analysed, and of changes that change nothing."""
    assert session.report is not None
    from incc.driver.pipeline import untried

    session.warnings += untried(session.report, settings)
    places = _analysis(session).places()
    if places:
        from incc.driver.report.places import missing

        for place in missing(session.report, places):
            session.warnings.append(f"--analyze-detail: no analysed instruction at {place}")


def _deliver(session: Session) -> None:
    """Write what was asked for, now that the compiler has succeeded. What cannot be written is a warning each."""
    options = session.options
    if options.marked and session.units:
        _guarded(session, _write_marked)
    if session.report is None:
        return
    for name, path in _analysis(session).files().items():
        _guarded(session, _writer(name, path))
    if not options.output:
        _write_stream(session)
    elif os.path.isdir(options.output):
        ending = "json" if options.format == "json" else "txt"
        path = os.path.join(options.output, _file_name(session, ending))
        _write_file(path, _render(session), append=False)
    else:
        _write_file(options.output, _render(session), options.append)


def _write_marked(session: Session) -> None:
    """The marked assembly of every source: to one file, or to one for each, none of which is another's."""
    from incc.driver.pipeline import write_marked

    options = session.options
    settings = _settings(session)
    folder = os.path.isdir(options.marked)
    if len(session.units) == 1 and not folder:
        write_marked(session.units[0], settings, options.marked, options.marker)
        return
    names = _distinct_names([unit.source or unit.assembly_file for unit in session.units])
    for unit, name in zip(session.units, names, strict=True):
        name = name if name.endswith(".s") else f"{name}.s"
        path = os.path.join(options.marked, name) if folder else f"{options.marked}.{name}"
        write_marked(unit, settings, path, options.marker)


def _distinct_names(sources: list[str]) -> list[str]:
    """A file name for each source: the last part of its path, or all of it where others have the same last part."""
    short = [os.path.basename(source) for source in sources]
    return [
        name if short.count(name) == 1 else source.strip("/").replace("/", "-")
        for name, source in zip(short, sources, strict=True)
    ]


_ENDINGS = {"graph": "dot", "cfg": "cfg.dot", "html": "html"}


def _writer(name: str, path: str) -> Any:
    """What writes the file that the option of this name (one of options.FILES) asks for; in a folder, one for each
    compilation."""

    def write(session: Session) -> None:
        from incc.driver.outputs import render
        from incc.driver.pipeline import AnalysisError

        assert session.report is not None
        folder = os.path.isdir(path)
        if name == "html" and not any(unit["kernels"] for unit in session.report["units"]):
            # Most sources of a build have no loops; one for which a page was asked is told of.
            if not folder:
                session.notes.append(f"{path}: not written: there is no loop to show")
            return
        target = os.path.join(path, _file_name(session, _ENDINGS[name])) if folder else path
        try:
            text = render(name, session.report)
        except AnalysisError as error:
            raise Failure(f"{target}: not written: {error}") from error
        _write_file(target, text, append=False)

    return write


def _render(session: Session, width: int = 120, colour: bool = False) -> str:
    options, report = session.options, session.report
    assert report is not None
    if options.format == "json":
        from incc.driver.views.json import render as render_json

        # One line for each report where many come together, so that readers can take the file line by line.
        return render_json(report, compact=options.append)
    from incc.driver.views.text import render as render_text

    return render_text(report, width, colour, _views(session), _analysis(session).places())


def _views(session: Session) -> list[str]:
    """The views to print. The timeline is one of them unless views are named, or it is on a page of its own; with a
    number of iterations it always is."""
    from incc.driver.views.text import VIEWS

    chosen, iterations = _analysis(session), session.options.timeline
    only_named = "all-views" in chosen.given and not chosen.switches["all-views"]
    timeline = iterations > 0 or (iterations < 0 and not only_named and not chosen.texts["html"])
    named = chosen.views()
    return [view for view in VIEWS if (timeline if view == "timeline" else view in named)]


def _write_stream(session: Session) -> None:
    import sys

    from incc.driver.views.text import terminal

    descriptor, stream = (2, sys.stderr) if session.writes_stdout else (1, sys.stdout)
    # A stream that was closed when we were started is None.
    width, colour = terminal(stream) if stream is not None else (120, False)
    try:
        _write_all(descriptor, _render(session, width, colour))
    except BrokenPipeError:
        pass  # the reader has seen enough (| head)
    except OSError as error:
        raise Failure(f"the report could not be written: {error.strerror}") from error


def _write_file(path: str, text: str, append: bool) -> None:
    """Write or add to a file. Additions of builds with many jobs do not mix: the file is locked for each."""
    import fcntl

    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_APPEND if append else 0), 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if not append and os.path.isfile(path):
                os.ftruncate(descriptor, 0)
            _write_all(descriptor, text)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise Failure(f"the report could not be written: {path}: {error.strerror}") from error


def _write_all(descriptor: int, text: str) -> None:
    data = memoryview(text.encode("utf-8", "surrogateescape"))
    while data:
        data = data[os.write(descriptor, data) :]


def _file_name(session: Session, ending: str) -> str:
    """A name in a folder of reports: the same for the same compilation, another for any other."""
    import zlib

    unit = session.units[0]
    identity = "\0".join((os.getcwd(), *unit.command))
    stem = os.path.basename(unit.source or unit.assembly_file).strip("<>")
    return f"{stem}-{zlib.crc32(os.fsencode(identity)):08x}.{ending}"


# --- files -----------------------------------------------------------------------------------------------------------


def _make_folder() -> str:
    """A new private folder for temporary files. `tempfile` would do the same and costs 10 ms to import."""
    parent = os.environ.get("TMPDIR") or "/tmp"
    while True:
        path = os.path.join(os.path.abspath(parent), f"incc-{os.getpid()}-{os.urandom(4).hex()}")
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            continue
        return path


def _remove(folder: str) -> None:
    for path, folders, files in os.walk(folder, topdown=False):
        for name in files:
            _ignore_errors(os.unlink, os.path.join(path, name))
        for name in folders:
            _ignore_errors(os.rmdir, os.path.join(path, name))
    _ignore_errors(os.rmdir, folder)


def _ignore_errors(action: Any, path: str) -> None:
    try:
        action(path)
    except OSError:
        return


def _read(path: str) -> str:
    # Comments and strings may hold any bytes.
    with open(path, "rb") as file:
        return file.read().decode("utf-8", "surrogateescape")


def _say(line: str) -> None:
    try:
        os.write(2, os.fsencode(line + "\n"))
    except OSError:
        return  # nobody listens
