"""The command `incc-build`: run any build with the analysis on, and report at its end."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from msgspec.structs import replace

from incc.driver import builds
from incc.driver.builds.workers import Pool, Queue
from incc.driver.cli import shared
from incc.driver.cli.command import ENVIRONMENT, Command, group
from incc.driver.cli.kinds import Option
from incc.driver.cli.parsers import run
from incc.driver.cores import named_cores
from incc.driver.messages import collect_seldom, run_command, say
from incc.frontends.gcc_wrapper.compiler import COMPILER_NAME, programs
from incc.support import signals
from incc.support.errors import AnalysisError
from incc.support.text import counted
from incc.support.trust import KEY_FILE, key_file, make_key, read_key, user_folder
from incc.support.workers import cpus

if TYPE_CHECKING:
    import argparse

OK, USAGE, NOT_FOUND = 0, 2, 127

DEFAULT = "incc-reports"
"""The default folder of reports."""

LAUNCHERS = ("ccache", "sccache", "distcc", "icecc", "buildcache")
"""Programs that start compilers and that incc replaces too, so that code from a cache or another machine is analysed.

`Launchers` in front/names.cpp must list the same programs."""

VARIABLES = ("CC", "CXX", "FC", "F77", "F90", "OBJC", "OBJCXX")
"""Variables that tell make, configure, CMake and meson which compilers to use."""

_PAUSE = 0.1
"""Seconds between two checks of the build, its jobs and the workers."""


COMMAND = Command(
    name="incc-build",
    summary="run a build with the analysis on and report on its loops",
    usage=("incc-build [options] -- COMMAND…",),
    about=(
        "Run a build with the analysis on. Compilers that it calls are replaced by incc, which compiles in the "
        "same way. The compiled code is analysed during the build and reported at its end.",
    ),
    groups=(
        group(
            "options",
            Option(
                "-o FOLDER",
                "text",
                f"folder of reports; keeps those of files that are not recompiled (default: {DEFAULT})",
                DEFAULT,
                aliases=("--output",),
                into="output",
            ),
            shared.jobs("analyse"),
            Option(
                "--mode lean|full",
                "choice",
                "analyse the code as compiled, or a second compilation with source lines (default: lean)",
            ),
            shared.mcpu("core, or cores separated by commas (default: the target of each command)"),
            shared.MODEL_PATH,
            shared.function("analyse"),
            replace(shared.DATA, sets=""),
            replace(shared.CORES, sets=""),
            replace(shared.LET, sets=""),
            shared.where("report only kernels that meet this condition: 'headroom > 0.3'", "ranked condition"),
            shared.top("kernels in the report", "25"),
            Option("--probe", "flag", "put probes at innermost loops; run the programs with incc-run"),
            Option("--no-preload", "flag", "do not intercept compilers that the build calls by path"),
            Option("--no-report", "flag", "do not run incc-report at the end"),
            Option("--cache-stats", "flag", "only print the size of the caches"),
            Option("--clear-cache", "flag", "only empty the caches"),
            Option("--cmake-dir", "flag", "only print the folder of incc's CMake package, for CMAKE_PREFIX_PATH"),
            Option("COMMAND…", "rest", "build command with its arguments", into="command"),
        ),
    ),
    environment=ENVIRONMENT,
    status="that of the command, or 128 plus the number of the signal that ended it; 127 if the command does not "
    "exist; 2 for a mistake on the command line",
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return the build's exit status, or 2 for a mistake on the command line."""
    return run(COMMAND, arguments, _run, (AnalysisError,), USAGE, prints=False)


def command() -> int:
    """Run the installed command."""
    return run_command(main)


def _run(options: argparse.Namespace) -> int:
    command: list[str] = options.command
    if command[:1] == ["--"]:
        del command[0]
    if options.cmake_dir:
        return _cmake_folder()
    if options.cache_stats or options.clear_cache:
        return _cache(options)
    if not command:
        _say("error: no build command; name one after --, as in: incc-build -- make -j8")
        return USAGE
    if options.mcpu:
        from incc.driver.pipeline import choose_model

        # Compilations would only print warnings.
        for name in named_cores(options.mcpu):
            choose_model(name, "", tuple(options.model_path))
    from incc.driver.builds.workers import Queue
    from incc.support.files import no_file_name

    queue = Queue(options.output)
    # Nothing is left half-made.
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        if "\0" in options.output:
            raise no_file_name(options.output)
        os.makedirs(queue.reports, exist_ok=True)
        queue.make()
        queue.recover()
        environment, notes = _environment(options, queue, os.environ)
    except OSError as error:
        _say(f"error: {error.filename or options.output}: {error.strerror}")
        return USAGE
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    for note in notes:
        _say(f"note: {note}")
    return _Build(options, queue, command, environment).run()


_say = partial(say, "incc-build")


def _cmake_folder() -> int:
    """Print the folder of the CMake package: <prefix>/share/cmake/Incc of <prefix>/bin/incc."""
    try:
        folder = os.path.join(os.path.dirname(os.path.dirname(incc_program())), "share", "cmake", "Incc")
    except OSError as error:
        _say(f"error: {error.filename}: {error.strerror}")
        return USAGE
    if not os.path.exists(os.path.join(folder, "InccConfig.cmake")):
        _say(f"error: {folder}: the CMake package is not installed; install incc with pip or CMake")
        return USAGE
    print(folder)
    return OK


def _cache(options: argparse.Namespace) -> int:
    from incc.driver.builds.jobs import unit_cache
    from incc.models.cache import kept_files, tables_folder

    units = unit_cache(os.environ)
    if options.clear_cache:
        units.clear()
        for path, _ in kept_files():
            with contextlib.suppress(OSError):
                os.unlink(path)
    if not units.folder:
        print("incc-build: no cache: INCC_CACHE is 0, or HOME is not set")
    elif why := units.distrusted:
        print(f"incc-build: the cache is not used: {units.folder}: {why}")
    else:
        number, size = units.stats()
        share = 100 * size / units.size if units.size else 100
        print(f"{units.folder}: {number} units, {size / 1e6:.1f} MB of {units.size / 1e6:.0f} ({share:.0f} %)")
    if folder := tables_folder():
        sizes = [size for _, size in kept_files()]
        print(f"{folder}: {counted(len(sizes), 'table')} of models, {sum(sizes) / 1e6:.1f} MB")
    return OK


# --- environment of the build -----------------------------------------------------------------------------------------


def _environment(
    options: argparse.Namespace, queue: Queue, given: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """Return the build's environment, and notes on it. Raises OSError."""
    # The launcher hides some variables from Python (front/python.cpp).
    environment = {name.removeprefix("INCC_HIDDEN_"): value for name, value in given.items()}
    notes: list[str] = []
    incc = incc_program()
    links = make_links(given, incc, queue)
    environment["PATH"] = os.pathsep.join((links, given.get("PATH", os.defpath)))
    if not options.no_preload:
        notes += _preload(environment, incc)
    environment["INCC_ANALYZE"] = "1"
    environment["INCC_OUTPUT"] = queue.reports
    environment["INCC_QUEUE"] = queue.jobs
    # The build may have another home.
    if key := key_file(given):
        with contextlib.suppress(OSError):
            make_key(key)
        queue.key = read_key(key)
    if queue.key:
        environment[KEY_FILE] = key
    queue.log = environment["INCC_LOG"] = os.path.abspath(environment.get("INCC_LOG") or queue.log)
    environment.setdefault("INCC_FORMAT", "json")
    _set_options(environment, options)
    environment.pop("INCC_DEPTH", None)
    # INCC_CC would also replace the C++ and Fortran compilers.
    if (real := environment.pop("INCC_CC", "")) and not environment.get("CC"):
        environment["CC"] = real
        notes.append(f"INCC_CC is used as CC: {real}")
    for name in VARIABLES:
        words = environment.get(name, "").split()
        if words and os.path.isabs(words[0]) and stands_for(words[0]):
            # An absolute path bypasses the links in PATH.
            environment[name] = f"{incc} {environment[name]}"
    for name in _CMAKE_LAUNCHERS:
        words = environment.get(name, "").split(";")
        if os.path.isabs(words[0]) and os.path.basename(words[0]) in LAUNCHERS:
            environment[name] = f"{incc};{environment[name]}"
    if any(_starts_incc(environment.get(name, "")) for name in (*VARIABLES, *_CMAKE_LAUNCHERS)):
        # If a script calls ccache by its path, ccache sees incc instead of the compiler, whichever compiler that is.
        environment.setdefault("CCACHE_COMPILERCHECK", "%compiler% --version")
    path = given.get("PATH", os.defpath)
    if shutil.which("ccache", path=path):
        # Otherwise ccache would mistake the links to incc for the compilers.
        environment.setdefault("CCACHE_PATH", path)
    return environment, notes


_PRELOADED = os.path.join(os.path.dirname(builds.__file__ or ""), "libincc-preload.so")


def _set_options(environment: dict[str, str], options: argparse.Namespace) -> None:
    """Set the variables that stand for options of the command."""
    if options.mode:
        environment["INCC_MODE"] = options.mode
    if options.probe:
        environment["INCC_PROBE"] = "1"
    if options.mcpu:
        environment["INCC_MCPU"] = options.mcpu
    if options.function:
        environment["INCC_FUNCTION"] = " ".join(options.function)
    if options.model_path:
        places = [*map(os.path.abspath, options.model_path), environment.get("INCC_MODEL_PATH", "")]
        environment["INCC_MODEL_PATH"] = ":".join(filter(None, places))
    words = [f"--analyze-data={','.join(map(str, options.data))}"] if options.data else []
    words += [f"--analyze-cores={options.cores}"] if options.cores > 1 else []
    words += [f"--analyze-let={register}={value}" for register, value in options.let]
    if words:
        environment["INCC_OPTIONS"] = " ".join([*words, environment.get("INCC_OPTIONS", "")]).strip()


def _preload(environment: dict[str, str], incc: str) -> list[str]:
    """Load the library that puts incc in front of compilers called by path (front/preload.cpp), and return notes."""
    if not os.path.exists(_PRELOADED):
        return []  # not Linux
    if set(_PRELOADED) & set(" :$"):
        return [f"compilers called by path are not analysed: the loader cannot read the path {_PRELOADED}"]
    libraries = environment.get("LD_PRELOAD", "").replace(" ", ":").split(":")
    environment["LD_PRELOAD"] = ":".join([*(name for name in libraries if name not in ("", _PRELOADED)), _PRELOADED])
    environment["INCC_PROGRAM"] = incc
    return []


_CMAKE_LAUNCHERS = tuple(f"CMAKE_{language}_COMPILER_LAUNCHER" for language in ("C", "CXX", "Fortran"))


def stands_for(program: str) -> bool:
    """Return True if incc replaces a program of this path or name."""
    name = os.path.basename(program)
    return name in LAUNCHERS or COMPILER_NAME.fullmatch(name) is not None


def _starts_incc(value: str) -> bool:
    """Return True if the value of a compiler variable makes a compiler cache start incc."""
    words = [os.path.basename(word) for word in value.replace(";", " ").split()]
    return words[:1] in (["ccache"], ["sccache"]) and "incc" in words


def incc_program() -> str:
    """Return the path of `incc`, next to this command or in PATH. Raises FileNotFoundError."""
    programs = (os.path.realpath(sys.argv[0]), sys.executable, os.path.realpath(sys.executable))
    candidates = [os.path.join(os.path.dirname(program), "incc") for program in programs]
    path = next((path for path in candidates if os.access(path, os.X_OK)), None) or shutil.which("incc")
    if not path:
        raise FileNotFoundError(2, "not found next to incc-build or in PATH", "incc")
    return os.path.abspath(path)


def make_links(environment: Mapping[str, str], incc: str, queue: Queue) -> str:
    """Fill a folder with a link to incc for each compiler in PATH, and return its path. Raises OSError.

    The folder is permanent: a build that is configured now keeps the link's path, and later builds without incc-build
    compile through it.
    """
    own_folder = user_folder(environment, "XDG_DATA_HOME", ".local/share")
    places = [os.path.join(own_folder, "links")] if own_folder else []
    places.append(os.path.join(queue.reports, ".incc", "links"))
    own = os.path.realpath(incc)
    for place in places:
        try:
            os.makedirs(place, exist_ok=True)
            found = programs(environment.get("PATH", os.defpath), stands_for, own)
            _link(place, incc, [name for name in found if name != "incc"])
            return place
        except OSError:
            if place == places[-1]:
                raise
    raise AssertionError("the last place has returned or raised")


def _link(place: str, incc: str, names: Sequence[str]) -> None:
    for name in names:
        link = os.path.join(place, name)
        try:
            if os.readlink(link) == incc:
                continue
        except OSError:
            pass
        # Atomic, since other processes may be starting a compiler from here.
        new = f"{link}.{os.getpid()}.new"
        os.symlink(incc, new)
        os.replace(new, link)


# --- the build --------------------------------------------------------------------------------------------------------

_SIGNALS = (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class _Build:
    """A build and the workers that analyse its compilations."""

    def __init__(
        self, options: argparse.Namespace, queue: Queue, command: list[str], environment: dict[str, str]
    ) -> None:
        self.options = options
        self.queue = queue
        self.command = command
        self.environment = environment
        self.pool: Pool[str] | None = None
        self.stopped = 0
        self.shown = 0
        """The number of waiting units on the terminal; 0 if the line is empty."""

    def run(self) -> int:
        """Build, analyse the remaining jobs, report, and return the exit status."""
        program = shutil.which(self.command[0], path=self.environment["PATH"])
        if program is None:
            _say(f"error: {self.command[0]!r}: command not found")
            return NOT_FOUND
        words = self.command
        env = shutil.which("env", path=os.defpath)
        if env and "INCC_PROGRAM" in self.environment and "=" not in words[0]:
            # The preloaded library in `env` tests whether it can be loaded into the program.
            program, words = env, ["env", "--", *words]
        manifest = _Grown(os.path.join(self.queue.reports, ".incc", "manifest.jsonl"))
        log = _Grown(self.queue.log)
        # `_sleep` waits for the signals; the build itself receives them as usual.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            build = os.posix_spawn(
                *signals.tied(program, words, signal.SIGTERM),
                self.environment,
                setsigmask=(),
                setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),
            )
        except OSError as error:
            _say(f"error: {program}: {error.strerror}")
            return 126
        try:
            status = self._attend(build)
            self._drain()
        finally:
            if self.pool is not None:
                self.pool.stop()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        left = self.queue.count()
        if self.pool is not None and self.pool.aside:
            aside = ", ".join(self.pool.aside)
            _say(f"warning: the analysis of these jobs crashed; they are kept in {self.queue.failed}: {aside}")
        if refusal := _refusal(self.queue.reports):
            _say(f"warning: {self._folder()}: {refusal}; reports are missing")
        reports = _reports_in(manifest.lines())
        # Notes, such as those on link-time optimisation, matter only if there is no report.
        lines = sum(not (reports and line.startswith(b"incc: note: ")) for line in log.lines())
        if lines:
            _say(f"warning: {lines} {'message' if lines == 1 else 'messages'} in {log.path}")
        if left:
            wait = "unit waits" if left == 1 else "units wait"
            _say(f"{left} {wait} for analysis; run incc-report --drain {self._folder()}")
        if not self.stopped:
            self._report(status, reports, failed=bool(lines or refusal))
        return status

    def _folder(self) -> str:
        return os.path.relpath(self.queue.reports)

    def _attend(self, build: int) -> int:
        """Wait for the build while workers analyse its compilations, and return the build's exit status."""
        while True:
            self._sleep(build)
            ended, status = os.waitpid(build, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                return 128 - code if code < 0 else code
            if not self.stopped:
                self._tend()

    def _sleep(self, build: int = 0) -> None:
        """Wait a moment or for a signal, and pass the signal on to the build if necessary."""
        info = signal.sigtimedwait(_SIGNALS, _PAUSE)
        if info is None or info.si_signo == signal.SIGCHLD:
            return
        self.stopped = info.si_signo
        signals.received.append(info.si_signo)
        if self.pool is not None:
            self.pool.stop()
        # A terminal sends its signals to the build as well.
        if build and not (info.si_code > 0 and info.si_signo in (signal.SIGINT, signal.SIGQUIT)):
            os.kill(build, info.si_signo)

    def _tend(self) -> None:
        from incc.driver.builds.workers import Pool

        if self.pool is not None:
            self.pool.tend()
        elif self.queue.count():
            # Workers start with the first job, since a build may compile nothing.
            count = self.options.jobs or cpus()
            self.pool = Pool(self.queue, count)
            self.pool.start()

    def _drain(self) -> None:
        """Let the workers analyse the remaining jobs."""
        if not self.stopped:
            self._tend()
        if self.pool is None:
            return
        self.pool.finish()
        terminal = sys.stderr is not None and sys.stderr.isatty()
        while not self.stopped and self.pool.tend():
            if terminal and self.shown != (left := self.queue.count()):
                sys.stderr.write(f"\rincc-build: {left} left to analyse \x1b[K")
                sys.stderr.flush()
                self.shown = left
            self._sleep()
        if self.shown:
            sys.stderr.write("\r\x1b[K")

    def _report(self, status: int, reports: int, failed: bool) -> None:
        if not reports and not os.path.exists(os.path.join(self.queue.reports, ".incc", "manifest.jsonl")):
            if self.pool is not None or failed:
                why = "" if failed else ": the build writes its reports to other folders"
                _say(f"no report in {self._folder()}{why}")
            elif status:
                # The command itself has printed the reason.
                _say(f"{self.command[0]} failed ({_ending(status)}): nothing to report")
            else:
                remedy = (
                    "leave out --no-preload" if self.options.no_preload else "set CMAKE_<LANG>_COMPILER_LAUNCHER=incc"
                )
                _say(
                    "no compilation went through incc; if the build compiled something, let it call its compilers by "
                    f"name, or {remedy}"
                )
            return
        if self.options.no_report:
            _say(f"{reports} {'report' if reports == 1 else 'reports'} written to {self._folder()}")
            return
        try:
            process = signals.fork()
        except OSError as error:
            _say(f"warning: no ranking: {error.strerror}")
            return
        if not process:
            _rank([*_report_options(self.options), self.queue.reports])
        os.waitpid(process, 0)


def _rank(arguments: list[str]) -> NoReturn:
    """Run incc-report in this process, and end it.

    A new Python would load again what this one has loaded for its workers.
    """
    from incc.driver.commands import report

    collect_seldom()  # and do not search what has been loaded
    try:
        report.main(arguments)
    except Exception:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(0)


def _report_options(options: argparse.Namespace) -> list[str]:
    """Return the options for incc-report at the end of a build."""
    where = [f"--where={options.where.text}"] if options.where else []
    return [*where, *([f"--top={options.top}"] if options.top else [])]


def _ending(status: int) -> str:
    """Return an exit status in words; like in shells, it is 128 plus the number of a signal that ended the command."""
    if status > 128:
        try:
            return f"status {status}, {signal.Signals(status - 128).name}"
        except ValueError:
            pass
    return f"status {status}"


class _Grown:
    """A file that grows during the build."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._start = os.path.getsize(path)
        except OSError:
            self._start = 0

    def lines(self) -> list[bytes]:
        """Return the new lines."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self._start)
                return file.read().splitlines()
        except OSError:
            return []


def _reports_in(lines: list[bytes]) -> int:
    """Return the number of reports that these lines of the manifest list; a report that was replaced counts once."""
    return len({match[1] for line in lines if (match := re.search(rb'"report":("(?:[^"\\]|\\.)*")', line))})


def _refusal(folder: str) -> str:
    """Return the reason why nothing can be written to a folder, "" if something can."""
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            file.write(bytes(4096))
    except OSError as error:
        return error.strerror or str(error)
    return ""


if __name__ == "__main__":
    sys.exit(command())
