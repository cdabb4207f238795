"""The tables of a database (docs/database.md explains them).

Each name that conditions may use (`report/where.py`) is a column of `kernels` or `units`, so a new name changes
the tables and VERSION.
"""

from __future__ import annotations

from incc.report import types as t
from incc.report.where import NAMES, NUMBER, TRUTH, Value
from incc.support.text import without_surrogates

APPLICATION_ID = 0x696E6363
"""The id "incc" in the file's header, which distinguishes these databases from others."""

TABLES = (
    # A commit may be any name for a state of the sources; everything else refers to one.
    """CREATE TABLE commits (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        date INTEGER,
        added INTEGER NOT NULL
    )""",
    # Each text is stored once as JSON compressed with zlib, however many units and commits have it.
    """CREATE TABLE bodies (
        id INTEGER PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        data BLOB NOT NULL
    )""",
    """CREATE TABLE units (
        id INTEGER PRIMARY KEY,
        "commit" INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
        "key" BLOB NOT NULL,
        digest BLOB NOT NULL,
        body INTEGER NOT NULL REFERENCES bodies (id),
        added INTEGER NOT NULL,
        schema_version TEXT NOT NULL,
        tool_version TEXT NOT NULL,
        source TEXT NOT NULL,
        assembly_file TEXT NOT NULL,
        compiler TEXT NOT NULL,
        compiler_version TEXT NOT NULL,
        command TEXT NOT NULL,
        model TEXT NOT NULL,
        model_version TEXT NOT NULL,
        UNIQUE ("commit", digest)
    )""",
    'CREATE INDEX units_key ON units ("commit", "key")',
    "CREATE INDEX units_body ON units (body)",
    # These columns are for conditions on kernels and for tables. They are separate from the bodies, because queries
    # read thousands of rows and a body is a hundred times as large.
    """CREATE TABLE kernels (
        id INTEGER PRIMARY KEY REFERENCES bodies (id) ON DELETE CASCADE,
        kernel_id TEXT NOT NULL, content_hash TEXT NOT NULL, function TEXT NOT NULL, function_name TEXT NOT NULL,
        name TEXT NOT NULL, kind TEXT NOT NULL, label TEXT NOT NULL, role TEXT NOT NULL, isa TEXT NOT NULL,
        source_file TEXT, source_line INTEGER, assembly_line INTEGER, depth INTEGER NOT NULL,
        is_loop INTEGER NOT NULL, simulated INTEGER NOT NULL, at_least INTEGER NOT NULL,
        cycles REAL NOT NULL, cycles_least REAL NOT NULL, cycles_most REAL NOT NULL,
        cycles_l2 REAL, cycles_l3 REAL, cycles_memory REAL,
        elements REAL, cycles_per_element REAL,
        bound REAL NOT NULL, port REAL NOT NULL, divider REAL NOT NULL, front_end REAL NOT NULL, retire REAL NOT NULL,
        loop_carried REAL NOT NULL, critical_path REAL NOT NULL,
        ipc REAL NOT NULL, instructions INTEGER NOT NULL, uops INTEGER NOT NULL, port_uops INTEGER NOT NULL,
        bytes INTEGER NOT NULL, bytes_loaded INTEGER NOT NULL, bytes_stored INTEGER NOT NULL,
        loads INTEGER NOT NULL, stores INTEGER NOT NULL, spills INTEGER NOT NULL, reloads INTEGER NOT NULL,
        line_crossings REAL NOT NULL, patterns TEXT NOT NULL, stride REAL, line_use REAL,
        flop INTEGER NOT NULL, integer_operations INTEGER NOT NULL,
        flop_per_byte REAL, packed_share REAL, vector_bits INTEGER NOT NULL,
        unknown INTEGER NOT NULL, refused INTEGER NOT NULL, hints INTEGER NOT NULL,
        verdict TEXT NOT NULL, limited_by TEXT NOT NULL, rules TEXT NOT NULL,
        called TEXT NOT NULL, "limit" TEXT NOT NULL, vector TEXT NOT NULL, measured REAL
    )""",
    "CREATE INDEX kernels_kernel_id ON kernels (kernel_id)",
    "CREATE INDEX kernels_function ON kernels (function)",
    "CREATE INDEX kernels_content_hash ON kernels (content_hash)",
    """CREATE TABLE unit_kernels (
        unit INTEGER NOT NULL REFERENCES units (id) ON DELETE CASCADE,
        place INTEGER NOT NULL,
        kernel INTEGER NOT NULL REFERENCES kernels (id),
        PRIMARY KEY (unit, place)
    ) WITHOUT ROWID""",
    "CREATE INDEX unit_kernels_kernel ON unit_kernels (kernel)",
    """CREATE TABLE runs (
        "commit" INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
        command TEXT NOT NULL,
        model TEXT NOT NULL,
        digest BLOB NOT NULL,
        body INTEGER NOT NULL REFERENCES bodies (id),
        added INTEGER NOT NULL,
        PRIMARY KEY ("commit", digest)
    ) WITHOUT ROWID""",
    "CREATE INDEX runs_body ON runs (body)",
    """CREATE TABLE branches (
        "commit" INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        PRIMARY KEY ("commit", name)
    ) WITHOUT ROWID""",
    """CREATE TABLE baselines (
        name TEXT PRIMARY KEY,
        "commit" INTEGER NOT NULL REFERENCES commits (id),
        since INTEGER NOT NULL
    ) WITHOUT ROWID""",
    'CREATE INDEX baselines_commit ON baselines ("commit")',
)
"""The statements that create the tables."""

VERSION = 4

# --- columns and names ------------------------------------------------------------------------------------------------

OF_UNIT = ("source", "assembly_file", "compiler", "model")
"""Names of conditions that are columns of `units`."""

_PLACE = ("file", "line")
_WORDS = ("called", "limit", "vector")

FIGURES = tuple(name for name in NAMES if name not in (*OF_UNIT, *_PLACE))
"""Names of conditions that are columns of `kernels` with the same name."""

_OF = [(name, {NUMBER: float, TRUTH: bool}.get(NAMES[name].kind), NAMES[name].of) for name in FIGURES]

COLUMNS = ("source_file", "source_line", *FIGURES, *_WORDS)
"""The columns of `kernels` except its id, in the order of `values`."""


def values(unit: t.UnitReport, kernel: t.KernelReport) -> tuple[Value, ...]:
    """Return a kernel's row. Raises KeyError, TypeError or ValueError for a malformed kernel."""
    source, overview = kernel.source, kernel.overview
    place: list[Value] = [text(source.file), source.line] if source else [None, None]
    # Most values have the one type that needs no check.
    figures = [
        value if (value := of(unit, kernel)).__class__ is plain and value == value else _checked(name, value)
        for name, plain, of in _OF
    ]
    return (*place, *figures, text(overview.function), text(overview.limit), text(overview.vector))


def text(given: object) -> str:
    """Return text for a column, with bytes that are not UTF-8 replaced; file names may contain them.

    The bodies keep them unchanged.
    """
    if not isinstance(given, str):
        raise TypeError(f"{given!r} is no text")
    return without_surrogates(given)


_LARGEST = 2**63 - 1


def _checked(name: str, value: Value) -> Value:
    kind = NAMES[name].kind
    if value is None:
        return None
    if kind == TRUTH:
        if not isinstance(value, bool):
            raise TypeError(f"{name} is neither true nor false")
        return value
    if kind == NUMBER:
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise TypeError(f"{name} is no number")
        return value if isinstance(value, float) or abs(value) <= _LARGEST else float(value)
    return text(value)


def selected(names: tuple[str, ...]) -> str:
    """Return SQL expressions for names of conditions, in terms of the tables units u and kernels k."""
    columns = {name: f'{"u" if name in OF_UNIT else "k"}."{name}"' for name in names}
    return ", ".join(f'{_EXPRESSIONS.get(name, column)} AS "{name}"' for name, column in columns.items())


_EXPRESSIONS = {
    "file": "coalesce(k.source_file, u.assembly_file)",
    "line": "CASE WHEN k.source_file IS NULL THEN k.assembly_line ELSE nullif(k.source_line, 0) END",
}
