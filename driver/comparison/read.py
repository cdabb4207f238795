"""Makes a side of whatever was named: a report, a folder of them, a database, assembly, an object or program."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.driver.comparison.side import Side


class Reading(NamedTuple):
    """How inputs are read. `mcpu`: the core for code, "" for the host. `functions`: globs of names, none for all.
    `model_path`: folders of models. `jobs`: processes that analyse code."""

    mcpu: str = ""
    functions: tuple[str, ...] = ()
    model_path: tuple[str, ...] = ()
    jobs: int = 1


def read_sides(names: Sequence[str], reading: Reading = Reading()) -> list[Side]:  # noqa: B008 -- it cannot be changed
    """A side of each name, with labels that tell them apart. Raises InputError."""
    raise NotImplementedError
