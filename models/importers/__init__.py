"""Where models come from: one module a source, all behind one protocol, looked up by the source's name.

To add a source, write a module with the members of `Importer` and name it in SOURCES. What becomes of the forms that it
gives is not its business (models/importers/merge.py).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from incc.models.files.source import Forms, ModelSource
    from incc.models.importers.common import Imported


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What an importer is asked for.

    `options`: those of the command, common ones (`fill`, `prefer`, `compare`, `keep_going`) and those that the importer
    added; `output`: the model file; `chain`: it and what it inherits from, as they are, [] for a new file; `isa`.
    `own`: the forms in the file that are kept, `kept`: with those that it inherits; `fusion`: its macro-fusion classes
    that are kept. `search_path`: where other models are found.
    """

    options: argparse.Namespace
    output: str
    chain: Sequence[ModelSource]
    isa: str
    own: Forms
    kept: Forms
    fusion: dict[str, tuple[str, ...]]
    search_path: Sequence[str]

    @property
    def keeps(self) -> bool:
        """Whether what the file has is kept at all."""
        return bool(self.options.fill or self.options.prefer or self.options.compare)

    @property
    def only_missing(self) -> bool:
        """Whether only forms that the model lacks are of use."""
        return not (self.options.prefer or self.options.compare)


class Importer(Protocol):
    """A module of this folder that reads one source.

    `ISAS`: the instruction sets for which it has something; `NEW_MODEL`: the header of a model file that is not there
    yet, with {name} in it, or "" if the header must have been written by hand.
    """

    ISAS: tuple[str, ...]
    NEW_MODEL: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the source's own options, and `files` if it reads some."""

    def import_forms(self, request: Request) -> Imported:
        """What the source says. Raises ImportFailed, and ModelError for other models that cannot be read."""


SOURCES = {
    "uops.info": ("uops_info.importer", "measurements by uops.info, instructions.xml or JSON lines, plain or .gz"),
    "measured": ("measured.importer", "measurements by incc-bench, JSON lines"),
    "amd": ("uops_info.amd", "uops.info's measurements of AMD's cores, integer units as in another model"),
    "osaca": ("osaca.importer", "machine files of OSACA, YAML"),
    "llvm": ("llvm.importer", "a scheduling model of LLVM (needs its development files)"),
    "ibench": ("benchmarks.ibench", "output of ibench, which replaces figures that the model has"),
    "asmbench": ("benchmarks.asmbench", "output of asmbench, with names, which replaces figures that the model has"),
    "predecessor": ("predecessor", "forms of another model, on this core's ports"),
    "derive": ("derive", "forms that behave like one that is in the model"),
}
"""Name of the source, as in [sources] of a model: (module, what it is)."""


def importer(source: str) -> Importer:
    """The importer of a source, which is only loaded now. Raises KeyError for a source that is not in SOURCES."""
    module: Importer = importlib.import_module(f"incc.models.importers.{SOURCES[source][0]}")
    return module
