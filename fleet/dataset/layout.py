"""The files of a dataset."""

from __future__ import annotations

import os
from urllib.parse import quote, unquote_to_bytes

ABOUT, KERNELS, FAILURES = "_about.json", "_kernels.sqlite", "_failures.parquet"
"""Files next to the rows. Programs that read all Parquet files of a folder skip names that begin with "_"."""

FORMAT = 1
"""The version of a dataset's layout."""

_CORE = "core="


def is_dataset(folder: str) -> bool:
    """Return True for a folder with a dataset, which may be incomplete."""
    return os.path.isfile(os.path.join(folder, ABOUT))


def cores_in(folder: str) -> list[str]:
    """Return the cores of a dataset that have rows."""
    names = sorted(name for name in os.listdir(folder) if name.startswith(_CORE))
    return [unquote_to_bytes(name.removeprefix(_CORE)).decode("utf-8", "surrogateescape") for name in names]


def file_name(number: int) -> str:
    """Return the name of a core's file of rows with a number."""
    return f"rows-{number:06}.parquet"


def folder_of(folder: str, core: str) -> str:
    """Return the folder of a core's files in the folder of a dataset."""
    return os.path.join(folder, _CORE + quote(core.encode("utf-8", "surrogateescape"), safe=""))
