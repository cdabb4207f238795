"""The public Python API of comparisons: `incc.compare` and its results."""

from __future__ import annotations

import copy
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from incc.comparison import types as c
from incc.comparison.build import ComparisonSettings
from incc.comparison.side import ComparedBuild
from incc.driver.api import AnalysisError, Path, Report, _at_least, _data, _Frozen, _texts
from incc.driver.settings import Scope, Settings
from incc.report import types as t
from incc.report.where import Condition

Source = Path | Report | Mapping[str, Any] | t.AnalysisReport


class Comparison(_Frozen):
    """A comparison of the kernels of several builds, as by `incc-diff`."""

    __slots__ = ("_found", "_sides", "_wanted")
    _found: c.ComparisonReport
    _sides: tuple[ComparedBuild, ...]
    _wanted: ComparisonSettings

    def __init__(self, sides: Sequence[ComparedBuild], wanted: ComparisonSettings) -> None:
        from incc.comparison.build import compare

        object.__setattr__(self, "_sides", tuple(sides))
        object.__setattr__(self, "_wanted", wanted)
        object.__setattr__(self, "_found", compare(self._sides, wanted))

    @property
    def sides(self) -> tuple[c.Side, ...]:
        """Copies of the sides: labels, compilers, models, notes."""
        return tuple(copy.deepcopy(self._found.sides))

    @property
    def rows(self) -> tuple[c.ComparisonRow, ...]:
        """Copies of the rows: kernels of the same source loop, the most important first."""
        return tuple(copy.deepcopy(self._found.rows))

    @property
    def totals(self) -> tuple[c.PairTotals | None, ...]:
        """Numbers of equal, faster, slower … kernels by side; None for the first."""
        return tuple(copy.deepcopy(self._found.totals))

    def where(self, condition: str) -> tuple[c.ComparisonRow, ...]:
        """Return the rows with a pair that meets a condition. Repeats the comparison.

        Args:
            condition: A condition such as "cycles_b > 1.1*cycles_a" (docs/filters.md).

        Returns:
            The rows.

        Raises:
            ValueError: The condition is invalid.
        """
        from incc.comparison.build import compare

        wanted = replace(self._wanted, where=_condition(condition), fail_if=None)
        return tuple(compare(self._sides, wanted).rows)

    @property
    def offenders(self) -> tuple[c.FailingKernel, ...]:
        """Copies of the kernels that meet the condition `fail_if`."""
        gate = self._found.gate
        return tuple(copy.deepcopy(gate.offenders)) if gate else ()

    def to_dict(self) -> dict[str, Any]:
        """Return a copy of the comparison as in JSON (comparison/comparison.schema.json)."""
        found: dict[str, Any] = msgspec.to_builtins(self._found)
        return found

    def to_json(self) -> str:
        """Return the output of `incc-diff --format=json`."""
        from incc.views.json import render

        return render(self._found)

    def text(self, width: int = 120) -> str:
        """Return the output of `incc-diff`, in lines of at most `width` columns."""
        from incc.views.comparison import text

        return text.render(self._found, width)

    def markdown(self) -> str:
        """Return the output of `incc-diff --format=markdown`, for pull requests."""
        from incc.views.comparison import markdown

        return markdown.render(self._found)

    def html(self) -> str:
        """Return the page of `incc-diff --html`, with instructions if `assembly` was set."""
        from incc.views.comparison import page

        return page.render(self._found)

    def __iter__(self) -> Iterator[c.ComparisonRow]:
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
    data: str = "",
    cores: int = 1,
    let: Mapping[str, int] | None = None,
) -> Comparison:
    """Compare the kernels of two or more builds with those of the first.

    Args:
        sources: Paths of inputs of `incc-diff` (reports, folders of reports, databases, sources, assembly, objects,
            libraries and programs), `incc.Report` objects, or reports as dictionaries (`to_dict()`, `json.load`).
        labels: A label for each source; by default from their names.
        mcpu: Core to analyse code for; "" for the host.
        functions: Globs of function names; all functions if empty.
        model_path: Folders and files of models that are searched first.
        jobs: Number of processes that analyse code.
        where: Keep only rows that meet this condition (docs/filters.md).
        fail_if: Collect the kernels that meet this condition in `offenders`.
        assembly: Include instructions and their correspondence.
        data: Compare loops whose data are in this level, or of this size: "L2", "64M"; "" for L1.
        cores: With `data`: the number of cores that run the loops of code, each on its own data.
        let: Values of variables or 64-bit registers at the start of the loops of code, such as {"n": 1000}.

    Returns:
        The comparison.

    Raises:
        AnalysisError: A source cannot be read or analysed.
        ValueError: An argument is invalid.
    """
    from incc.comparison.build import ComparisonSettings
    from incc.comparison.level import with_data
    from incc.driver.settings import CoreSettings, Scope
    from incc.driver.sides.analyse import CODE
    from incc.driver.sides.labels import distinct
    from incc.models.memory import ALL
    from incc.report.documents import InputError

    if labels and len(_texts("labels", labels)) != len(sources):
        raise ValueError(f"{len(labels)} labels for {len(sources)} sources")
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, not {jobs}")
    wanted = ComparisonSettings(where=_condition(where), fail_if=_condition(fail_if), assembly=assembly)
    paths = tuple(os.fspath(place) for place in model_path)
    levels = _data(data)
    if len(levels) > 1 or ALL in levels:
        raise ValueError(f"data must be one level or size to compare, not {data!r}")
    settings = replace(
        CODE,
        scope=Scope(functions=_texts("functions", functions)),
        core=CoreSettings(mcpu=mcpu, model_path=paths),
        kernel=replace(CODE.kernel, data=levels, cores=_at_least("cores", cores, 1), let=tuple((let or {}).items())),
    )
    try:
        sides = _sides(sources, settings, jobs)
    except InputError as error:
        raise AnalysisError(str(error)) from error
    if len(sides) < 2:
        raise ValueError("a comparison needs two sources")
    if levels:
        sides = [with_data(side, levels[0]) for side in sides]
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


def _sides(sources: Sequence[Source], settings: Settings, jobs: int) -> list[ComparedBuild]:
    """Read the sides of all sources; code for several cores has several."""
    from incc.comparison.side import in_memory
    from incc.driver.sides.labels import distinct, letters
    from incc.driver.sides.read import read_sides
    from incc.report.documents import InputError

    names = [os.fspath(source) for source in sources if isinstance(source, (str, os.PathLike))]
    read_inputs = read_sides(names, settings, jobs)
    if problem := next((side.info.problem for side in read_inputs if side.info.problem), ""):
        raise InputError(problem)
    read = iter(read_inputs)
    if len(names) == len(sources):
        return list(read)
    if "," in settings.core.mcpu:
        raise ValueError("several cores apply only to code, not to reports")
    sides = []
    for source, letter in zip(sources, letters(len(sources)), strict=True):
        if isinstance(source, (str, os.PathLike)):
            sides.append(next(read))
        elif isinstance(source, Report):
            sides.append(_chosen(in_memory(source._found.report(), letter), settings.scope))
        else:
            sides.append(_of_dictionary(source, letter, settings.scope))
    named = distinct([side.info.label for side in sides])
    return [replace(side, info=replace(side.info, label=label)) for side, label in zip(sides, named, strict=True)]


def _chosen(side: ComparedBuild, scope: Scope) -> ComparedBuild:
    """Return the part of a side in the requested functions."""
    if not scope.functions:
        return side
    from incc.comparison.side import ComparedBuild, side_info
    from incc.report.source.demangle import choose_functions

    wanted = choose_functions({entry.kernel.function for entry in side.entries}, scope.functions)
    entries = [entry for entry in side.entries if entry.kernel.function in wanted]
    return ComparedBuild(side_info(entries, side.info.label, side.info.input, side.info.notes), entries)


def _of_dictionary(report: Any, label: str, scope: Scope) -> ComparedBuild:
    """Read a report given as a dictionary, with the same checks as for a file."""
    import json

    from incc.driver.sides.read import side_of_file

    try:
        if isinstance(report, msgspec.Struct):
            report = msgspec.to_builtins(report)
        text = json.dumps(report, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogateescape")
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{label}: not a report that JSON can represent: {error}") from error
    return side_of_file(io.BytesIO(text), label, scope)
