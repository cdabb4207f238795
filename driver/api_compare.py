"""The public Python API of comparisons: `incc.compare` and what it returns."""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from incc.driver.api import AnalysisError, Path, Report, _Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from incc.comparison import types as c
    from incc.comparison.build import Wanted
    from incc.comparison.side import Side
    from incc.driver.sides.read import Reading
    from incc.report import types as t
    from incc.report.where import Condition

    Source = Path | Report | Mapping[str, Any] | t.Report


class Comparison(_Frozen):
    """What became of the kernels of several builds, as `incc-diff` finds it."""

    __slots__ = ("_found", "_sides", "_wanted")
    _found: c.Comparison
    _sides: tuple[Side, ...]
    _wanted: Wanted

    def __init__(self, sides: Sequence[Side], wanted: Wanted) -> None:
        from incc.comparison.build import compare

        object.__setattr__(self, "_sides", tuple(sides))
        object.__setattr__(self, "_wanted", wanted)
        object.__setattr__(self, "_found", compare(self._sides, wanted))

    @property
    def sides(self) -> tuple[c.Side, ...]:
        """What is compared: labels, compilers, models, notes. Copies."""
        return tuple(copy.deepcopy(self._found.sides))

    @property
    def rows(self) -> tuple[c.Row, ...]:
        """Kernels that are one loop of the source, those that matter most first. Copies."""
        return tuple(copy.deepcopy(self._found.rows))

    @property
    def totals(self) -> tuple[c.Totals | None, ...]:
        """How many are the same, faster, slower …, by side; None for the first."""
        return tuple(copy.deepcopy(self._found.totals))

    def where(self, condition: str) -> tuple[c.Row, ...]:
        """The rows of which a pair fulfils a condition, such as "cycles_b > 1.1*cycles_a" (docs/filters.md). Takes as
        long as comparing.

        Raises ValueError for what is no condition.
        """
        from incc.comparison.build import compare

        wanted = replace(self._wanted, where=_condition(condition), fail_if=None)
        return tuple(compare(self._sides, wanted).rows)

    @property
    def offenders(self) -> tuple[c.Offender, ...]:
        """The kernels for which `fail_if` holds. Copies."""
        gate = self._found.gate
        return tuple(copy.deepcopy(gate.offenders)) if gate else ()

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as its JSON has it (comparison/comparison.schema.json)."""
        comparison: dict[str, Any] = msgspec.to_builtins(self._found)
        return comparison

    def to_json(self) -> str:
        """The same as `incc-diff --format=json` prints."""
        from incc.views.json import render

        return render(self._found)

    def text(self, width: int = 120) -> str:
        """The same as `incc-diff` prints, in lines of at most so many columns."""
        from incc.views.comparison import text

        return text.render(self._found, width)

    def markdown(self) -> str:
        """The same as `incc-diff --format=markdown` prints, for pull requests."""
        from incc.views.comparison import markdown

        return markdown.render(self._found)

    def html(self) -> str:
        """The page for the browser that `incc-diff --html` writes; instructions only if `assembly` was wanted."""
        from incc.views.comparison import page

        return page.render(self._found)

    def __iter__(self) -> Iterator[c.Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self._found.rows)

    def __repr__(self) -> str:
        labels = ", ".join(side.label for side in self._found.sides)
        return f"<incc.Comparison of {labels}: {len(self)} rows>"


def compare(
    *sources: Source,
    labels: Sequence[str] = (),
    mcpu: str = "",
    functions: Sequence[str] = (),
    model_path: Sequence[Path] = (),
    jobs: int = 1,
    where: str = "",
    fail_if: str = "",
    assembly: bool = False,
) -> Comparison:
    """Compare the kernels of two or more builds, all with those of the first.

    `sources`: what `incc-diff` takes, as paths (reports, folders of them, databases, assembly, objects, libraries and
    programs), an `incc.Report`, or a report as a dictionary (`to_dict()`, `json.load`). `labels`: what to call them, as
    many as there are. `mcpu`: the core for code, by default the host. `functions`: globs of function names, none for
    all. `model_path`: folders and files of models to look in first. `jobs`: processes that analyse code. `where`: keep
    the rows for which this holds; `fail_if`: find those for which this does (docs/filters.md). `assembly`: with
    instructions and how they correspond.

    Raises AnalysisError for what cannot be read, ValueError for arguments that are no good.
    """
    from incc.comparison.build import Wanted
    from incc.driver.api import _texts
    from incc.driver.sides.labels import distinct
    from incc.driver.sides.read import Reading
    from incc.report.documents import InputError

    if labels and len(_texts("labels", labels)) != len(sources):
        raise ValueError(f"{len(labels)} labels for {len(sources)} sources")
    if jobs < 1:
        raise ValueError(f"jobs is at least 1, not {jobs}")
    wanted = Wanted(where=_condition(where), fail_if=_condition(fail_if), assembly=assembly)
    paths = tuple(os.fspath(place) for place in model_path)
    reading = Reading(mcpu=mcpu, functions=_texts("functions", functions), model_path=paths, jobs=jobs)
    try:
        sides = _sides(sources, reading)
    except InputError as error:
        raise AnalysisError(str(error)) from error
    if len(sides) < 2:
        raise ValueError("a comparison needs two sources")
    if labels and len(sides) == len(sources):
        sides = [
            replace(side, info=replace(side.info, label=label))
            for side, label in zip(sides, distinct(labels), strict=True)
        ]
    return Comparison(sides, wanted)


def _condition(text: str) -> Condition | None:
    if not text:
        return None
    from incc.report.where import parse

    return parse(text, pairs=True)


def _sides(sources: Sequence[Source], reading: Reading) -> list[Side]:
    """A side of each source; of code for several cores several."""
    from incc.comparison.side import in_memory
    from incc.driver.sides.labels import distinct, letters
    from incc.driver.sides.read import read_sides

    names = [os.fspath(source) for source in sources if isinstance(source, (str, os.PathLike))]
    read = iter(read_sides(names, reading))
    if len(names) == len(sources):
        return list(read)
    if "," in reading.mcpu:
        raise ValueError("several cores are for code, not for reports")
    found = []
    for source, letter in zip(sources, letters(len(sources)), strict=True):
        if isinstance(source, (str, os.PathLike)):
            found.append(next(read))
        elif isinstance(source, Report):
            found.append(_chosen(in_memory(source._found.report(), letter), reading))
        else:
            found.append(_of_dictionary(source, letter, reading))
    named = distinct([side.info.label for side in found])
    return [replace(side, info=replace(side.info, label=label)) for side, label in zip(found, named, strict=True)]


def _chosen(side: Side, reading: Reading) -> Side:
    """What of it is in functions that are wanted."""
    if not reading.functions:
        return side
    from incc.comparison.side import Side, side_info
    from incc.report.source.demangle import choose_functions

    wanted = choose_functions({entry.kernel.function for entry in side.entries}, reading.functions)
    entries = [entry for entry in side.entries if entry.kernel.function in wanted]
    return Side(side_info(entries, side.info.label, side.info.input, side.info.notes), entries)


def _of_dictionary(report: Any, label: str, reading: Reading) -> Side:
    """A side of a report as JSON has it, read as a file would be: it may be anybody's."""
    import io
    import json

    from incc.driver.sides.read import side_of_file

    try:
        text = json.dumps(msgspec.to_builtins(report), ensure_ascii=False, allow_nan=False).encode(
            "utf-8", "surrogateescape"
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{label}: no report as JSON has it: {error}") from error
    return side_of_file(io.BytesIO(text), label, reading)
