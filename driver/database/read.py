"""What comparisons take from a database: the kernels of a commit."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypedDict, cast

import msgspec

from incc.driver.comparison.documents import NOT_KEPT
from incc.driver.comparison.side import LEFT_OUT, Entry, InputError
from incc.driver.database.reports import current, lacking, unpacked
from incc.driver.database.store import no_circles, open_reading, shown
from incc.driver.report import types
from incc.driver.report.build import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from incc.driver.report import types as t


def _part(name: str, fields: list[str]) -> Any:
    return TypedDict(name, dict.fromkeys(fields, Any), total=False)  # type: ignore[operator]


# A kernel without what nobody looks at, which is two thirds of it and need not be made into objects.
_KERNEL = msgspec.json.Decoder(_part("Kept", [name for name in types.Kernel.__annotations__ if name not in LEFT_OUT]))
_INSTRUCTIONS = msgspec.json.Decoder(_part("Instructions", ["instructions"]))
_NOT_OF_UNITS = NOT_KEPT["Unit"] | {"kernels"}


def entries(path: str, name: str = "") -> tuple[list[Entry], str, list[str]]:
    """The kernels of a commit, what to call it, and what a reader must know. `name`: a baseline, a commit or its
    beginning, "" for the newest. Raises InputError."""
    with no_circles(), open_reading(path) as database:
        commit = database.named(name)
        units: dict[int, t.Unit] = {}
        older: dict[int, tuple[Any, str]] = {}
        for number, data, version in database.rows(
            'SELECT u.id, b.data, u.schema_version FROM units u JOIN bodies b ON b.id = u.body WHERE u."commit" = ?',
            [commit.id],
        ):
            body = unpacked(data, path)
            units[number] = _unit(body, path)
            if version != SCHEMA_VERSION:
                older[number] = body["units"][0], version
        rows = database.rows(
            """SELECT l.unit, b.data FROM units u JOIN unit_kernels l ON l.unit = u.id JOIN bodies b ON b.id = l.kernel
            WHERE u."commit" = ? ORDER BY u.source, u.assembly_file, u."key", u.digest, l.place""",
            [commit.id],
        )
        found: list[Entry] = []
        for number, some in groupby(rows, lambda row: row[0]):
            if number in older:
                found += _older_entries(*older[number], [unpacked(data, path) for _, data in some])
            else:
                found += [_entry(units[number], data, path) for _, data in some]
        twice = database.row(
            """SELECT count(*) FROM (SELECT 1 FROM units WHERE "commit" = ? GROUP BY "key" HAVING count(*) > 1)""",
            [commit.id],
        )[0]
    notes = _notes(units.values(), [version for _, version in older.values()])
    if twice:
        notes.append(
            f"{twice} of its units {'is' if twice == 1 else 'are'} there in several versions, from databases that were "
            "merged or sources of one name."
        )
    # A baseline is called what it was asked for by, unlike a beginning of a commit's name.
    label = shown(commit.name) if not name or commit.name.startswith(name) else name
    return found, label, notes


def _notes(units: Iterable[t.Unit], versions: list[str]) -> list[str]:
    """What a reader must know, as of reports that are read from files."""
    notes = dict.fromkeys(lacking(versions))
    left_out = 0
    for unit in units:
        left_out += len(unit["left_out"])
        if note := unit["model"]["note"]:
            notes[f"{note[:1].upper()}{note[1:]}."] = None
    if left_out:
        notes[f"{left_out} {'loop was' if left_out == 1 else 'loops were'} not analysed."] = None
    return list(notes)


def _unit(body: Any, path: str) -> t.Unit:
    try:
        kept = {key: value for key, value in body["units"][0].items() if key not in _NOT_OF_UNITS}
    except (KeyError, TypeError, IndexError, AttributeError):
        raise InputError(f"{path}: damaged: a unit in it is none") from None
    return cast("t.Unit", kept)


def _entry(unit: t.Unit, data: bytes, path: str) -> Entry:
    kernel: Any = unpacked(data, path, _KERNEL)
    return Entry(unit, {key: value for key, value in kernel.items() if key not in LEFT_OUT}, _loader(data, path))  # type: ignore


def _older_entries(unit: Any, version: str, kernels: list[Any]) -> list[Entry]:
    """The entries of a unit of a report that an older incc wrote."""
    now = current(cast("t.Unit", {**unit, "kernels": kernels}), version)
    kept = cast("t.Unit", {key: value for key, value in now.items() if key not in _NOT_OF_UNITS})
    return [
        Entry(
            kept,
            cast("t.Kernel", {key: value for key, value in kernel.items() if key not in LEFT_OUT}),
            partial(list, kernel["instructions"]),
        )
        for kernel in now["kernels"]
    ]


def _loader(data: bytes, path: str) -> Callable[[], list[t.Instruction]]:
    def load() -> list[t.Instruction]:
        found: list[t.Instruction] = unpacked(data, path, _INSTRUCTIONS)["instructions"]
        return found

    return load
