"""The file `incc.toml` of a project: the sources and cores to analyse, and thresholds for its loops.

The first such file in the source's folder and those above it in the project counts. It applies wherever commands are
analysed (`incc` in both modes, jobs, `incc-scan -p`):

    [analyze]
    cores = ["skylake-avx512", "znver4"]
    functions = ["gemm_*", "ns::solve*"]
    files = ["src/*"]
    exclude = ["src/third_party"]
    data = ["L2", "64M"]

    [thresholds]
    fail-if = ["cycles > 2*bound"]
    warn-if = ["has('gather')"]

    [editor]
    compiler = "clang-19"
    flags = ["-fno-math-errno"]
    also = ["gcc-12", "-O2"]
    where = ["role == 'main'"]

The table `editor` is for `incc-lsp` alone. The file does not turn the analysis on. Arguments and environment variables
override it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import takewhile
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from incc.report.where import parse
from incc.support.files import read_regular

if TYPE_CHECKING:
    from incc.driver.settings import Settings

NAME = "incc.toml"


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a project."""

    folder: str = ""
    """The folder of the file; "" if there is no file."""
    cores: tuple[str, ...] = ()
    """The cores to analyse for; empty for the command's."""
    functions: tuple[str, ...] = ()
    """Globs of function names; all functions if empty."""
    files: tuple[str, ...] = ()
    """Globs of paths relative to `folder`. `*` also matches slashes; a folder matches its contents."""
    exclude: tuple[str, ...] = ()
    """Globs like `files`."""
    data: tuple[str, ...] = ()
    """Levels, or sizes of the data, whose predictions to show."""
    fail_if: tuple[str, ...] = ()
    """Conditions (docs/filters.md)."""
    warn_if: tuple[str, ...] = ()
    compilers: tuple[str, ...] = ()
    """In editors, the compiler in place of the command's; at most one."""
    flags: tuple[str, ...] = ()
    """In editors, flags that are added to commands."""
    also: tuple[str, ...] = ()
    """In editors, other ways to compile that are shown too (`live.requests.EditorSettings`)."""
    where: tuple[str, ...] = ()
    """In editors, conditions that loops must meet to be shown."""
    problems: tuple[str, ...] = ()
    """Mistakes in the file, one line each. Invalid entries are ignored."""

    def wants(self, source: str) -> bool:
        """Return True if the source at this absolute path is to be analysed."""
        if not self.folder:
            return True
        name = os.path.relpath(source, self.folder)
        if self.files and not any(_fits(name, pattern) for pattern in self.files):
            return False
        return not self.excludes(source)

    def excludes(self, path: str) -> bool:
        """Return True if `exclude` matches the file at this absolute path.

        For linked files only this matters; `files` applies to the sources of their loops.
        """
        if not self.folder:
            return False
        name = os.path.relpath(path, self.folder)
        return any(_fits(name, pattern) for pattern in self.exclude)

    def applied(self, settings: Settings, problems: list[str]) -> list[Settings]:
        """Return the settings for each core, completed by those of the project.

        Cores of the project without a model are left out and added to `problems`. Raises AnalysisError for other cores
        without a model.
        """
        from incc.driver.cores import cores_of, for_each_core

        if self.functions and not settings.scope.functions:
            settings = replace(settings, scope=replace(settings.scope, functions=self.functions))
        if self.data and not settings.kernel.data:
            from incc.driver import UsageError
            from incc.driver.cli.kinds import ONE

            try:
                data = ONE["data"](f"{self.path}: [analyze] data", ",".join(self.data))
            except UsageError as error:
                problems.append(str(error))
            else:
                settings = replace(settings, kernel=replace(settings.kernel, data=data))
        # Measurements are compared with the host.
        if not self.cores or settings.core.mcpu or settings.report.measure:
            return cores_of(settings)
        from incc.driver.pipeline import AnalysisError, choose_model

        modelled = []
        for core in self.cores:
            try:
                choose_model(core, "", settings.core.model_path)
            except AnalysisError as error:
                problems.append(f"{self.path}: [analyze] cores: {error}")
            else:
                modelled.append(core)
        return for_each_core(settings, modelled)

    @property
    def compiler(self) -> str:
        """The compiler in editors, "" for that of the file's command."""
        return "".join(self.compilers[:1])

    @property
    def path(self) -> str:
        """The path of the file."""
        return os.path.join(self.folder, NAME)


def project_of(source: str) -> Project:
    """Return the project of a source at an absolute path, empty if there is no file, with unchecked thresholds."""
    return _of_folder(os.path.dirname(source), False)


def project_in(folder: str) -> Project:
    """Return the project of a folder, with checked thresholds."""
    return _of_folder(os.path.abspath(folder), True)


_read: dict[tuple[str, bool], tuple[tuple[int, int], Project]] = {}


_ROOTS = (".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", ".fslckout")
"""The files and folders of version control systems in the root of a project."""


@lru_cache(1 << 12)
def _folders(folder: str) -> tuple[str, ...]:
    """Return a folder of a project and those above it up to the project's root.

    That is the nearest folder under version control; without one, the last folder above that belongs to the same user
    and that not everybody may write.
    """
    above = [folder, *map(str, PurePath(folder).parents)]
    for number, place in enumerate(above, 1):
        if any(os.path.lexists(os.path.join(place, name)) for name in _ROOTS):
            return tuple(above[:number])
    owned = takewhile(lambda place: _belongs_to(place, _status(folder)), above[1:])
    return folder, *owned


def _belongs_to(place: str, inner: os.stat_result | None) -> bool:
    status = _status(place)
    return not status or (not status.st_mode & stat.S_IWOTH and (not inner or status.st_uid == inner.st_uid))


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def _of_folder(folder: str, thresholds: bool) -> Project:
    for place in _folders(folder):
        path = os.path.join(place, NAME)
        status = _status(path)
        if status is None:
            continue
        # Cached, since workers need it for thousands of sources.
        stamp = status.st_mtime_ns, status.st_size
        cached = _read.get((path, thresholds))
        if cached is None or cached[0] != stamp:
            cached = _read[path, thresholds] = stamp, read_project(path, thresholds)
        return cached[1]
    return Project()


_LARGEST = 1 << 20
"""Most bytes of a project's file."""

_TABLES: Mapping[str, Mapping[str, str]] = {
    "analyze": {"cores": "cores", "functions": "functions", "files": "files", "exclude": "exclude", "data": "data"},
    "thresholds": {"fail-if": "fail_if", "warn-if": "warn_if"},
    "editor": {"compiler": "compilers", "flags": "flags", "also": "also", "where": "where"},
}


def read_project(path: str, thresholds: bool = True) -> Project:
    """Read a project's file. Mistakes are in `problems`.

    Thresholds are checked only on request, since parsing conditions takes as long as analysing a small source.
    """
    import tomllib

    folder = os.path.dirname(os.path.abspath(path))
    try:
        document: Mapping[str, Any] = tomllib.loads(read_regular(path, _LARGEST).decode())
    except OSError as error:
        return Project(folder=folder, problems=(f"{path}: {error.strerror}",))
    except ValueError as error:  # not TOML, or not UTF-8
        return Project(folder=folder, problems=(f"{path}: {' '.join(str(error).split())}",))
    except RecursionError:
        return Project(folder=folder, problems=(f"{path}: nested too deeply",))
    problems: list[str] = []
    fields: dict[str, tuple[str, ...]] = {}
    for table, entries in document.items():
        names = _TABLES.get(table)
        if names is None or not isinstance(entries, dict):
            problems.append(f"{path}: unknown table {table!r}; valid are {', '.join(f'[{name}]' for name in _TABLES)}")
            continue
        for name, value in entries.items():
            values = [value] if isinstance(value, str) else value
            if name not in names:
                problems.append(f"{path}: [{table}] has no {name!r}; valid are {', '.join(names)}")
            elif not isinstance(values, list) or not all(isinstance(v, str) and v for v in values):
                problems.append(f"{path}: [{table}] {name}: expected a list of strings, not {value!r}")
            elif thresholds and table == "thresholds" and (wrong := _wrong_condition(values)):
                problems.append(f"{path}: [{table}] {name}: {wrong}")
            else:
                fields[names[name]] = tuple(values)
    return Project(folder=folder, problems=tuple(problems), **fields)


def _wrong_condition(values: list[str]) -> str:
    for text in values:
        try:
            parse(text, ranked=True)
        except ValueError as error:
            return str(error)
    return ""


def _fits(name: str, pattern: str) -> bool:
    pattern = pattern.removeprefix("./").rstrip("/")
    return fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}/*")
