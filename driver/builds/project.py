"""A project's file `incc.toml`: what of it is analysed, for which cores, and which thresholds its loops have to keep.

The file is looked for from the source's folder upwards; the first one counts. It holds wherever commands are analysed
(`incc` in both modes, jobs, `incc-scan -p`), all of which ask here:

    [analyze]
    cores = ["skylake-avx512", "znver4"]
    functions = ["gemm_*", "ns::solve*"]
    files = ["src/*"]
    exclude = ["src/third_party"]

    [thresholds]
    fail-if = ["cycles > 2*bound"]
    warn-if = ["has('gather')"]

It says how to analyse, never that: only arguments and environment switch the analysis on, and what they say wins.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from incc.driver.pipeline import Settings

NAME = "incc.toml"


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """What a project's file says. `folder`: where it is, "" for no file. `cores`: to analyse for, none for what the
    command says. `functions`, `files`, `exclude`: globs, the last two of paths relative to `folder`, in which `*` also
    stands for slashes and a folder for all that is in it. `fail_if`, `warn_if`: conditions (docs/filters.md).
    `problems`: mistakes in the file, a line each; what has one counts as if it were not there."""

    folder: str = ""
    cores: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    fail_if: tuple[str, ...] = ()
    warn_if: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def wants(self, source: str) -> bool:
        """Whether the source at this absolute path is to be analysed."""
        if not self.folder:
            return True
        name = os.path.relpath(source, self.folder)
        if self.files and not any(_fits(name, pattern) for pattern in self.files):
            return False
        return not self.excludes(source)

    def excludes(self, path: str) -> bool:
        """Whether the file at this absolute path is left out by name. What is linked is no source, so that `files` says
        nothing of it, but of the sources of its loops."""
        if not self.folder:
            return False
        name = os.path.relpath(path, self.folder)
        return any(_fits(name, pattern) for pattern in self.exclude)

    def applied(self, settings: Settings, problems: list[str]) -> list[Settings]:
        """The settings for each core. What they have already goes before what the file says; of its cores those without
        a model are not there, which is added to `problems`. Raises AnalysisError for others without a model."""
        from incc.driver.cores import cores_of, for_each_core

        if self.functions and not settings.functions:
            settings = replace(settings, functions=self.functions)
        # What runs here is compared with this machine's core.
        if not self.cores or settings.mcpu or settings.measure:
            return cores_of(settings)
        from incc.driver.pipeline import AnalysisError, choose_model

        known = []
        for core in self.cores:
            try:
                choose_model(core, "", settings.model_path)
            except AnalysisError as error:
                problems.append(f"{self.path}: [analyze] cores: {error}")
            else:
                known.append(core)
        return for_each_core(settings, known)

    @property
    def path(self) -> str:
        """The file."""
        return os.path.join(self.folder, NAME)


def project_of(source: str) -> Project:
    """What the project of a source (an absolute path) says; an empty project where there is no file. Its thresholds,
    which are for reports, are not looked at closely. Never raises."""
    return _of_folder(os.path.dirname(source), False)


def project_in(folder: str) -> Project:
    """The same of a folder and those that it is in, with its thresholds."""
    return _of_folder(os.path.abspath(folder), True)


_read: dict[tuple[str, bool], tuple[tuple[int, int], Project]] = {}


def _of_folder(folder: str, thresholds: bool) -> Project:
    while True:
        path = os.path.join(folder, NAME)
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            above = os.path.dirname(folder)
            if above == folder:
                return Project()
            folder = above
            continue
        # A worker reads it for thousands of sources.
        stamp = status.st_mtime_ns, status.st_size
        known = _read.get((path, thresholds))
        if known is None or known[0] != stamp:
            known = _read[path, thresholds] = stamp, read_project(path, thresholds)
        return known[1]


_TABLES: Mapping[str, Mapping[str, str]] = {
    "analyze": {"cores": "cores", "functions": "functions", "files": "files", "exclude": "exclude"},
    "thresholds": {"fail-if": "fail_if", "warn-if": "warn_if"},
}


def read_project(path: str, thresholds: bool = True) -> Project:
    """What is in a file. Never raises: `problems` has what is wrong; of thresholds only if these are wanted, since
    reading conditions takes as long as analysing a small source."""
    import tomllib

    folder = os.path.dirname(os.path.abspath(path))
    try:
        with open(path, "rb") as file:
            document: Mapping[str, Any] = tomllib.load(file)
    except OSError as error:
        return Project(folder=folder, problems=(f"{path}: {error.strerror}",))
    except (ValueError, RecursionError) as error:  # no TOML, or no UTF-8
        return Project(folder=folder, problems=(f"{path}: {' '.join(str(error).split())}",))
    problems: list[str] = []
    fields: dict[str, tuple[str, ...]] = {}
    for table, entries in document.items():
        names = _TABLES.get(table)
        if names is None or not isinstance(entries, dict):
            problems.append(f"{path}: unknown: {table}; there are {' and '.join(f'[{name}]' for name in _TABLES)}")
            continue
        for name, value in entries.items():
            values = [value] if isinstance(value, str) else value
            if name not in names:
                problems.append(f"{path}: [{table}] has no {name}; it has {', '.join(names)}")
            elif not isinstance(values, list) or not all(isinstance(v, str) and v for v in values):
                problems.append(f"{path}: [{table}] {name}: a list of texts, not {value!r}")
            elif thresholds and table == "thresholds" and (wrong := _wrong_condition(values)):
                problems.append(f"{path}: [{table}] {name}: {wrong}")
            else:
                fields[names[name]] = tuple(values)
    return Project(folder=folder, problems=tuple(problems), **fields)


def _wrong_condition(values: list[str]) -> str:
    from incc.report.where import parse

    for text in values:
        try:
            parse(text, ranked=True)
        except ValueError as error:
            return str(error)
    return ""


def _fits(name: str, pattern: str) -> bool:
    from fnmatch import fnmatchcase

    pattern = pattern.removeprefix("./").rstrip("/")
    return fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}/*")
