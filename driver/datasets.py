"""Datasets of scans among the inputs of commands that read reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from incc.fleet.dataset.layout import is_dataset as is_dataset
from incc.report.documents import InputError, printable, reason

if TYPE_CHECKING:
    from incc.fleet.dataset.reading import Dataset


@contextmanager
def opened_dataset(folder: str) -> Iterator[Dataset]:
    """Open the dataset in a folder. Raises InputError, also for what goes wrong while it is read."""
    from incc.fleet.dataset.reading import Dataset
    from incc.fleet.dataset.store import DatasetError

    try:
        with Dataset(folder) as dataset:
            yield dataset
    except DatasetError as error:
        raise InputError(str(error)) from None
    except OSError as error:
        raise InputError(f"{printable(str(error.filename or folder))}: {reason(error)}") from None
