"""The kinds of input: a module for each, whose strategy makes runs. See README.md on how to add one."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from test.fuzz.kinds import (
    archives,
    assembly,
    compilations,
    compiled,
    databases,
    machine_code,
    measurements,
    models,
    objects,
    options,
    profiles,
    projects,
    reports,
    response_files,
)
from test.fuzz.runs import Run

KINDS: dict[str, Callable[[], st.SearchStrategy[Run]]] = {
    "machine-code": machine_code.runs,
    "assembly": assembly.runs,
    "aarch64": assembly.arm_runs,
    "compiled": compiled.runs,
    "elf": lambda: objects.runs("elf"),
    "coff": lambda: objects.runs("coff"),
    "macho": lambda: objects.runs("macho"),
    "archive": lambda: objects.runs("archive"),
    "packages": archives.runs,
    "models": models.runs,
    "measurements": measurements.runs,
    "reports": reports.runs,
    "databases": databases.runs,
    "options": options.runs,
    "projects": projects.runs,
    "profiles": profiles.runs,
    "response-files": response_files.runs,
    "compilations": compilations.runs,
}
"""The strategies by the names that `--only` takes."""
