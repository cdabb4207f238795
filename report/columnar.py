"""Tables of kernels' values as Arrow's record batches, for Parquet files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from incc.report.documents import InputError
from incc.report.where import NUMBER, TEXT, TRUTH, Name
from incc.support.text import without_surrogates


def parquet() -> tuple[Any, Any]:
    """Return the modules pyarrow and pyarrow.parquet. Raises InputError without pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError("Parquet needs pyarrow: pip install pyarrow") from None
    return pyarrow, pyarrow.parquet


def schema_of(names: Mapping[str, Name], integers: Sequence[str] = ()) -> Any:
    """Return the Arrow schema of a table with these columns; the metadata of each field has its meaning.

    Numbers are float64, except those in `integers`, which are int64; texts are strings.
    """
    arrow, _ = parquet()
    kinds = {NUMBER: arrow.float64(), TEXT: arrow.string(), TRUTH: arrow.bool_()}
    return arrow.schema(
        [
            arrow.field(
                name, arrow.int64() if name in integers else kinds[entry.kind], True, {"meaning": entry.meaning}
            )
            for name, entry in names.items()
        ]
    )


def batch_of(rows: Sequence[Sequence[Any]], schema: Any) -> Any:
    """Return rows, each with a value for every field of the schema, as a record batch.

    Bytes of texts that are not UTF-8 are replaced, and integers that no float64 has are rounded.
    """
    arrow, _ = parquet()
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [_array(arrow, column, field.type) for column, field in zip(columns, schema, strict=True)]
    return arrow.record_batch(arrays, schema=schema)


def _array(arrow: Any, values: Sequence[Any], kind: Any) -> Any:
    try:
        return arrow.array(values, type=kind)
    except UnicodeEncodeError:
        return arrow.array([value if value is None else without_surrogates(value) for value in values], type=kind)
    except (arrow.ArrowInvalid, OverflowError):
        if kind != arrow.float64():
            raise
        return arrow.array([value if value is None else float(value) for value in values], type=kind)
