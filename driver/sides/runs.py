"""Reports of `incc-run` as inputs of a comparison."""

from __future__ import annotations

import msgspec

from incc.report.documents import InputError
from incc.report.runs import RunReport
from incc.support.files import LARGEST_INPUT, read_regular


def is_run(path: str) -> bool:
    """Return True if a file begins as a report of incc-run."""
    try:
        with open(path, "rb") as file:
            return b'"incc-run"' in file.read(100)
    except (OSError, ValueError):
        return False


def read_run(path: str) -> RunReport:
    """Read a report of incc-run. Raises InputError."""
    try:
        return msgspec.json.decode(read_regular(path, LARGEST_INPUT), type=RunReport)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise InputError(f"{path}: not a report of this version of incc-run: {error}") from error
