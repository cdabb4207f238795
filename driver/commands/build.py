"""The command `incc-build`: runs a build with the analysis on, whatever builds it, and reports at the end."""

from __future__ import annotations

import os
import re
import signal
import sys
from functools import partial
from typing import TYPE_CHECKING

from incc.driver.messages import say

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from incc.driver.builds.workers import Pool, Queue

OK, USAGE, NOT_FOUND = 0, 2, 127

DEFAULT = "incc-reports"
"""The folder of reports where none is named."""

COMPILERS = re.compile(
    r"([\w.]+-)*(gcc|g\+\+|cc|c\+\+|clang|clang\+\+|gfortran|icx|icpx|ifx|flang|flang-new|amdclang|amdclang\+\+)(-\d[\d.]*)?"
)
"""Names of compilers that incc stands in for: `x86_64-linux-gnu-gcc-12`, `clang++-19`."""

LAUNCHERS = ("ccache", "sccache", "distcc", "icecc", "buildcache")
"""Programs that start compilers, before which incc stands too: what they find in a cache, or have compiled elsewhere,
is analysed as what they made. `Launchers` in front/compiler.cpp has them, too."""

VARIABLES = ("CC", "CXX", "FC", "F77", "F90", "OBJC", "OBJCXX")
"""Variables that name compilers to make, configure, CMake and meson."""

_PAUSE = 0.1
"""Seconds between two looks at the build, its jobs and the workers."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns the build's exit status, or 2 for a mistake on the command line."""
    options = _parser().parse_args(sys.argv[1:] if arguments is None else arguments)
    command: list[str] = options.command
    if command[:1] == ["--"]:
        del command[0]
    if options.cmake_dir:
        return _cmake_folder()
    if options.cache_stats or options.clear_cache:
        return _cache(options)
    if not command:
        _say("error: there is no command to build with: incc-build -- make -j8")
        return USAGE
    from incc.driver.builds.workers import Queue
    from incc.support.files import no_file_name

    queue = Queue(options.output)
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
    for note in notes:
        _say(f"note: {note}")
    return _Build(options, queue, command, environment).run()


_say = partial(say, "incc-build")


def _parser() -> argparse.ArgumentParser:
    import argparse

    from incc.driver.cli.parsers import Parser, positive

    parser = Parser(
        prog="incc-build",
        summary="a build with the analysis on, and what is worth a look at its end",
        usage="incc-build [options] -- COMMAND…",
        description="Run a build with the analysis on: compilers that it calls by name are found to be incc, which "
        "compiles as they do; what they compile is analysed beside the build, and reported on at its end.",
        status="that of the command, 128 and the signal's number where one ended it; 127 if there is no "
        "such command; 2 for a mistake on the command line",
    )
    parser.add_argument(
        "-o",
        dest="output",
        default=DEFAULT,
        metavar="DIR",
        help=f"the folder of reports (default: {DEFAULT}); those of what is not compiled again stay",
    )
    parser.add_argument(
        "-j", dest="jobs", type=positive, default=0, metavar="N", help="processes that analyse (default: one a CPU)"
    )
    parser.add_argument(
        "--mode",
        choices=("lean", "full"),
        help="lean (default): one compilation, of which the code is analysed; full: a second one beside it, for source "
        "lines without -g",
    )
    parser.add_argument("--mcpu", "-mcpu", default="", metavar="NAME,…", help="the core to analyse for, or several")
    parser.add_argument("--no-report", action="store_true", help="do not run incc-report at the end")
    parser.add_argument("--cache-stats", action="store_true", help="say what the caches have, and nothing else")
    parser.add_argument("--clear-cache", action="store_true", help="empty the caches, and nothing else")
    parser.add_argument(
        "--cmake-dir",
        action="store_true",
        help="say where find_package(Incc) finds incc, for CMAKE_PREFIX_PATH, and nothing else",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="what builds, with its arguments")
    return parser


def _cmake_folder() -> int:
    """Print the folder of the CMake package: <prefix>/share/cmake/Incc of <prefix>/bin/incc."""
    try:
        folder = os.path.join(os.path.dirname(os.path.dirname(incc_program())), "share", "cmake", "Incc")
    except OSError as error:
        _say(f"error: {error.filename}: {error.strerror}")
        return USAGE
    if not os.path.exists(os.path.join(folder, "InccConfig.cmake")):
        _say(f"error: {folder}: not installed")
        return USAGE
    print(folder)
    return OK


def _cache(options: argparse.Namespace) -> int:
    from incc.driver.builds.jobs import unit_cache

    units = unit_cache(os.environ)
    if not units.folder:
        print("incc-build: there is no cache: INCC_CACHE is 0, or there is no home folder")
        return OK
    if options.clear_cache:
        units.clear()
    count, size = units.stats()
    share = 100 * size / units.size if units.size else 100
    print(f"{units.folder}: {count} units, {size / 1e6:.1f} MB of {units.size / 1e6:.0f} ({share:.0f} %)")
    return OK


# --- what the build sees ----------------------------------------------------------------------------------------------


def _environment(
    options: argparse.Namespace, queue: Queue, given: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """The build's environment, and what must be said of it. Raises OSError."""
    import shutil

    environment = dict(given)
    notes: list[str] = []
    incc = incc_program()
    links = make_links(given, incc, queue)
    environment["PATH"] = os.pathsep.join((links, given.get("PATH", os.defpath)))
    environment["INCC_ANALYZE"] = "1"
    environment["INCC_OUTPUT"] = queue.reports
    environment["INCC_QUEUE"] = queue.jobs
    queue.log = environment["INCC_LOG"] = os.path.abspath(environment.get("INCC_LOG") or queue.log)
    environment.setdefault("INCC_FORMAT", "json")
    if options.mode:
        environment["INCC_MODE"] = options.mode
    if options.mcpu:
        environment["INCC_MCPU"] = options.mcpu
    environment.pop("INCC_DEPTH", None)
    # It would be the compiler for C++ and Fortran as well, which have names of their own here.
    if (real := environment.pop("INCC_CC", "")) and not environment.get("CC"):
        environment["CC"] = real
        notes.append(f"INCC_CC is taken for CC: {real}")
    for name in VARIABLES:
        words = environment.get(name, "").split()
        if words and os.path.isabs(words[0]) and stands_for(words[0]):
            # A path leads past PATH.
            environment[name] = f"{incc} {environment[name]}"
    for name in _CMAKE_LAUNCHERS:
        words = environment.get(name, "").split(";")
        if os.path.isabs(words[0]) and os.path.basename(words[0]) in LAUNCHERS:
            environment[name] = f"{incc};{environment[name]}"
    if any(_starts_incc(environment.get(name, "")) for name in (*VARIABLES, *_CMAKE_LAUNCHERS)):
        # Where a script calls ccache by its path, all compilers behind incc are the same program to it.
        environment.setdefault("CCACHE_COMPILERCHECK", "%compiler% --version")
    path = given.get("PATH", os.defpath)
    if shutil.which("ccache", path=path):
        # By itself ccache would find the links to incc, and take them for the compilers.
        environment.setdefault("CCACHE_PATH", path)
    return environment, notes


_CMAKE_LAUNCHERS = tuple(f"CMAKE_{language}_COMPILER_LAUNCHER" for language in ("C", "CXX", "Fortran"))


def stands_for(program: str) -> bool:
    """Whether incc stands in for a program of this path or name."""
    name = os.path.basename(program)
    return name in LAUNCHERS or COMPILERS.fullmatch(name) is not None


def _starts_incc(value: str) -> bool:
    """Whether a value of such a variable has a cache start incc."""
    words = [os.path.basename(word) for word in value.replace(";", " ").split()]
    return words[:1] in (["ccache"], ["sccache"]) and "incc" in words


def incc_program() -> str:
    """The path of `incc`: beside this command, else in PATH. Raises FileNotFoundError."""
    import shutil

    beside = [os.path.join(os.path.dirname(os.path.realpath(p)), "incc") for p in (sys.argv[0], sys.executable)]
    beside.insert(1, os.path.join(os.path.dirname(sys.executable), "incc"))
    found = next((path for path in beside if os.access(path, os.X_OK)), None) or shutil.which("incc")
    if not found:
        raise FileNotFoundError(2, "not found beside incc-build or in PATH", "incc")
    return os.path.abspath(found)


def make_links(environment: Mapping[str, str], incc: str, queue: Queue) -> str:
    """A folder with a link to incc for each compiler in PATH, by its name; returns its path. Raises OSError.

    It stays where it is: a build that is configured now keeps the compiler's path, and is run on later days, when the
    link compiles as the compiler would.
    """
    base = environment.get("XDG_DATA_HOME", "")
    if not os.path.isabs(base):
        home = environment.get("HOME", "")
        base = os.path.join(home, ".local", "share") if os.path.isabs(home) else ""
    places = [os.path.join(base, "incc", "links")] if base else []
    places.append(os.path.join(queue.reports, ".incc", "links"))
    own = os.path.realpath(incc)
    for place in places:
        try:
            os.makedirs(place, exist_ok=True)
            _link(place, incc, [n for n in compilers(environment.get("PATH", os.defpath), own) if n != "incc"])
        except OSError:
            if place == places[-1]:
                raise
            continue
        return place
    raise AssertionError("the last place has returned or raised")


def compilers(path: str, own: str) -> list[str]:
    """Names of the compilers and launchers in these folders, other than the program at `own`, sorted."""
    found = set()
    for folder in path.split(os.pathsep):
        try:
            with os.scandir(folder or ".") as items:
                for item in items:
                    if stands_for(item.name) and os.path.realpath(item.path) != own and os.access(item.path, os.X_OK):
                        found.add(item.name)
        except OSError:
            continue
    return sorted(found)


def _link(place: str, incc: str, names: Sequence[str]) -> None:
    for name in names:
        link = os.path.join(place, name)
        try:
            if os.readlink(link) == incc:
                continue
        except OSError:
            pass
        # Others may be looking for a compiler here at this moment.
        new = f"{link}.{os.getpid()}.new"
        os.symlink(incc, new)
        os.replace(new, link)


# --- the build --------------------------------------------------------------------------------------------------------

_SIGNALS = (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class _Build:
    """A build, and the workers beside it."""

    def __init__(
        self, options: argparse.Namespace, queue: Queue, command: list[str], environment: dict[str, str]
    ) -> None:
        self.options = options
        self.queue = queue
        self.command = command
        self.environment = environment
        self.pool: Pool | None = None
        self.stopped = 0
        self.told = 0

    def run(self) -> int:
        """Build, analyse what is left, and report; returns the exit status."""
        import shutil

        program = shutil.which(self.command[0], path=self.environment["PATH"])
        if program is None:
            _say(f"error: {self.command[0]}: no such command")
            return NOT_FOUND
        manifest = _Grown(os.path.join(self.queue.reports, ".incc", "manifest.jsonl"))
        log = _Grown(self.queue.log)
        # Signals are waited for, and so wake whoever sleeps; the build itself gets them as usual.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            build = os.posix_spawn(
                program,
                self.command,
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
        left = len(self.queue.waiting())
        if self.pool is not None and self.pool.aside:
            aside = ", ".join(self.pool.aside)
            _say(f"warning: analysis ended whole processes; put aside in {self.queue.failed}: {aside}")
        lines = log.lines()
        if lines:
            _say(f"warning: {lines} {'message' if lines == 1 else 'messages'} in {log.path}")
        if left:
            _say(f"{left} {'unit waits' if left == 1 else 'units wait'} to be analysed: incc-report {self._shown()}")
        if not self.stopped:
            self._report(status, manifest.lines(), failed=lines > 0)
        return status

    def _shown(self) -> str:
        return os.path.relpath(self.queue.reports)

    def _attend(self, build: int) -> int:
        """Wait for the build while workers analyse what it compiles; returns its exit status."""
        while True:
            self._sleep(build)
            ended, status = os.waitpid(build, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                return 128 - code if code < 0 else code
            if not self.stopped:
                self._tend()

    def _sleep(self, build: int = 0) -> None:
        """Wait a moment, or for a signal, which the build gets too where it has not got it already."""
        info = signal.sigtimedwait(_SIGNALS, _PAUSE)
        if info is None or info.si_signo == signal.SIGCHLD:
            return
        self.stopped = info.si_signo
        if self.pool is not None:
            self.pool.stop()
        # What comes from a terminal comes to all that run in it.
        if build and not (info.si_code > 0 and info.si_signo in (signal.SIGINT, signal.SIGQUIT)):
            os.kill(build, info.si_signo)

    def _tend(self) -> None:
        from incc.driver.builds.workers import Pool

        if self.pool is not None:
            self.pool.tend()
        elif self.queue.waiting():
            # Not before there is work: a build may have nothing to compile.
            count = self.options.jobs or len(os.sched_getaffinity(0))
            self.pool = Pool(self.queue, count)
            self.pool.start()

    def _drain(self) -> None:
        """Let the workers analyse what the build has left."""
        if not self.stopped:
            self._tend()
        if self.pool is None:
            return
        self.pool.finish()
        terminal = sys.stderr is not None and sys.stderr.isatty()
        while not self.stopped and self.pool.tend():
            if terminal and self.told != (left := len(self.queue.waiting())):
                sys.stderr.write(f"\rincc-build: {left} left to analyse \x1b[K")
                sys.stderr.flush()
                self.told = left
            self._sleep()
        if self.told:
            sys.stderr.write("\r\x1b[K")

    def _report(self, status: int, reports: int, failed: bool) -> None:
        import subprocess

        known = os.path.exists(os.path.join(self.queue.reports, ".incc", "manifest.jsonl"))
        if not reports and not known and self.pool is not None:
            why = "" if failed else ": the build has what it compiles reported on in other folders"
            _say(f"no report in {self._shown()}{why}")
            return
        if not reports and not known and status:
            # Why is what the command itself has said: a guess would lead away from it.
            _say(f"{self.command[0]} failed ({_ending(status)}): there is nothing to report on")
            return
        if not reports and not known:
            _say(
                "nothing that was compiled came through incc. A build that was configured before names its compiler by "
                "path: configure it anew under incc-build, or with CMAKE_<LANG>_COMPILER_LAUNCHER=incc"
            )
            return
        program = os.path.join(os.path.dirname(incc_program()), "incc-report")
        if self.options.no_report or not os.access(program, os.X_OK):
            _say(f"{reports} {'report' if reports == 1 else 'reports'} written to {self._shown()}")
            return
        sys.stdout.flush()
        try:
            subprocess.run([program, self.queue.reports], check=False)
        except OSError as error:
            _say(f"warning: {program}: {error.strerror}")


def _ending(status: int) -> str:
    """An exit status in words. Shells, too, add 128 to the number of the signal that ended a command."""
    if status > 128:
        try:
            return f"status {status}, {signal.Signals(status - 128).name}"
        except ValueError:
            pass
    return f"status {status}"


class _Grown:
    """A file to which lines are added while something else goes on."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._start = os.path.getsize(path)
        except OSError:
            self._start = 0

    def lines(self) -> int:
        """How many were added."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self._start)
                return file.read().count(b"\n")
        except OSError:
            return 0


if __name__ == "__main__":
    sys.exit(main())
