"""Importers of models: one module a source, all behind one protocol, looked up by the source's name.

To add a source, write a module with the members of `Importer` and name it in SOURCES. The use of its forms is left to
models/importers/merge.py.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from incc.models.files.source import Forms, ModelSource

if TYPE_CHECKING:
    import argparse

    from incc.models.importers.common import Imported


class ImportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The input of an importer."""

    options: argparse.Namespace
    """The options of the command.

    Common ones (`fill`, `prefer`, `compare`, `keep_going`) and those that the importer added.
    """
    output: str
    """The model file."""
    chain: Sequence[ModelSource]
    """The model file and those it inherits from, as they are; [] for a new file."""
    isa: str
    own: Forms
    """The forms in the file that are kept."""
    kept: Forms
    """The forms that are kept, with those that the file inherits."""
    fusion: dict[str, tuple[str, ...]]
    """The file's macro-fusion classes that are kept."""
    search_path: Sequence[str]
    """The folders where other models are searched."""

    @property
    def keeps(self) -> bool:
        """True if the file's figures are kept at all."""
        return bool(self.options.fill or self.options.prefer or self.options.compare)

    @property
    def only_missing(self) -> bool:
        """True if only forms that the model lacks are of use."""
        return not (self.options.prefer or self.options.compare)


class Importer(Protocol):
    """A module of this folder that reads one source."""

    ISAS: tuple[str, ...]
    """The instruction sets for which it has data."""
    NEW_MODEL: str
    """The header of a new model file, with {name} in it; "" if the header must be written by hand."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the source's own options, and `files` if it reads some."""

    def import_forms(self, request: ImportRequest) -> Imported:
        """Return the source's figures. Raises ImportFailed, and ModelError for other models that cannot be read."""


SOURCES = {
    "uops.info": ("uops_info.importer", "measurements by uops.info, instructions.xml or JSON lines, plain or .gz"),
    "measured": ("measured.importer", "measurements by incc-bench, JSON lines"),
    "amd": ("uops_info.amd", "uops.info's measurements of AMD's cores, integer units as in another model"),
    "osaca": ("osaca.importer", "machine files of OSACA, YAML"),
    "fujitsu": ("fujitsu", "Fujitsu's A64FX Microarchitecture Manual, as text by pdftotext -layout"),
    "llvm": ("llvm.importer", "a scheduling model of LLVM (needs its development files)"),
    "ibench": ("benchmarks.ibench", "output of ibench, which replaces figures that the model has"),
    "asmbench": ("benchmarks.asmbench", "output of asmbench, with names, which replaces figures that the model has"),
    "predecessor": ("predecessor", "forms of another model, on this core's ports"),
    "derive": ("derive", "forms that behave like one that is in the model"),
}
"""Name of the source, as in [sources] of a model: (module, description)."""


def importer(source: str) -> Importer:
    """Load and return the importer of a source. Raises KeyError for a source that is not in SOURCES."""
    module: Importer = importlib.import_module(f"incc.models.importers.{SOURCES[source][0]}")
    return module
