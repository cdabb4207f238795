"""The files with the rows of a dataset."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from incc.fleet.dataset.layout import file_name, folder_of
from incc.fleet.dataset.store import DatasetError
from incc.report import columnar
from incc.report.documents import printable

_ROWS = re.compile(r"rows-([0-9]{6,9})\.parquet")


def row_files(folder: str, core: str) -> list[tuple[str, int]]:
    """Return path and number of a core's files of rows, in their order. Raises DatasetError if one is missing."""
    place = folder_of(folder, core)
    names = os.listdir(place) if os.path.isdir(place) else []
    numbers = sorted(int(match[1]) for name in names if (match := _ROWS.fullmatch(name)))
    for expected, number in enumerate(numbers, 1):
        if number != expected:
            raise DatasetError(f"{printable(os.path.join(place, file_name(expected)))}: missing")
    return [(os.path.join(place, file_name(number)), number) for number in numbers]


def check_complete(folder: str, cores: Iterable[str]) -> None:
    """Raise DatasetError if a core of a complete dataset has no file of rows."""
    for core in cores:
        if not row_files(folder, core):
            raise DatasetError(f"{printable(os.path.join(folder_of(folder, core), file_name(1)))}: missing")


@contextmanager
def opened_rows(path: str) -> Iterator[Any]:
    """Open a file of rows as a ParquetFile.

    Raises DatasetError for a damaged file, also while it is read, and OSError for an unreadable one.
    """
    arrow, parquet = columnar.parquet()
    try:
        with open(path, "rb") as file, parquet.ParquetFile(file, page_checksum_verification=True) as opened:
            yield opened
    except (arrow.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        message = next(iter(str(error).splitlines()), type(error).__name__)
        raise DatasetError(f"{printable(path)}: damaged: {message}") from None
