"""The columns of a dataset: the names of conditions on kernels (`report/where.py`), the kernel's place and versions."""

from __future__ import annotations

from incc.report import types as t
from incc.report.where import NAMES, NUMBER, TEXT, Name, Value
from incc.support.version import __version__


def _unknown(unit: t.UnitReport, kernel: t.KernelReport) -> Value:
    """Return None: the scan sets this column, which reports do not have."""
    return None


COLUMNS: dict[str, Name] = {
    "row": Name(NUMBER, "number of the kernel in the order of the scan, from 0; the same on every core", _unknown),
    "binary": Name(TEXT, "the scanned file, as the scan names it; for files in archives the archive", _unknown),
    "member": Name(TEXT, "the path inside the archive; empty for other files", _unknown),
    "symbol": Name(TEXT, "the function's symbol, as `function`", lambda u, k: k.function),
    "hash": Name(
        TEXT, "identifies the kernel's report in the dataset; equal for code that was analysed once", _unknown
    ),
    **NAMES,
    "compiler_version": Name(TEXT, "the compiler's version; may be empty", lambda u, k: u.compiler_version),
    "incc_version": Name(TEXT, "the version of incc", lambda u, k: __version__),
    "model_version": Name(TEXT, "the version of the core's model", lambda u, k: u.model.version),
}
"""All columns in their order. The core is also the name of the folder that a file is in, `core=NAME`."""

INTEGERS = ("row",)
"""The columns that are integers; all other numbers are floating-point numbers."""

PLACES = (
    *("binary", "member", "symbol", "function", "function_name", "name", "kernel_id", "label"),
    *("file", "line", "source", "assembly_file", "assembly_line", "compiler", "compiler_version"),
)
"""The columns that differ between occurrences of the same code, besides `row`."""

OF_CORE = ("model", "incc_version", "model_version")
"""The columns that are the same for all kernels on a core."""

ANALYSED = tuple(name for name in COLUMNS if name not in {"row", *PLACES, *OF_CORE})
"""The columns that are the result of a kernel's analysis on a core."""
