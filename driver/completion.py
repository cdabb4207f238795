"""The second step of an analysis: completes the kernels that somebody looks at.

Builds analyse every kernel, most of which nobody ever sees. With `Settings.later`, the first step therefore computes
what a ranking needs: predictions, bounds, roles and advice. Simulations of changed cores, paths through the loop and
the ranges that follow from them cost as much again. The report keeps the unit's code instead, and `completed` analyses
the functions of wanted kernels from it with all details, which gives what a complete analysis would have given.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence

import msgspec
from msgspec.structs import replace

from incc.driver.deliver import DeliveryRequest, text_of
from incc.ranking.kernels import RankedKernel, ReportPlace, ranked_kernels
from incc.report import types as t
from incc.report.documents import InputError, read_report, texts
from incc.report.folder import manifest
from incc.report.folder.cache import Cached
from incc.report.folder.outcome import rest_of
from incc.support.errors import AnalysisError
from incc.support.files import replace_file
from incc.support.version import __version__


class Completion(msgspec.Struct, frozen=True):
    """A report with complete kernels."""

    report: t.AnalysisReport
    problems: tuple[str, ...] = ()
    """The reasons why kernels could not be completed."""


def completed(report: t.AnalysisReport, wanted: Collection[str] | None = None) -> Completion:
    """Complete the kernels of a report with these kernel_ids, or all."""
    problems: dict[str, None] = {}
    units = []
    for unit in report.units:
        kernels = [k for k in unit.kernels if k.incomplete and (wanted is None or k.kernel_id in wanted)]
        if kernels:
            try:
                unit = _completed(unit, kernels, report.tool.version)
            except AnalysisError as error:
                problems[f"{unit.source or unit.assembly_file}: not completed: {error}"] = None
        units.append(unit)
    return Completion(replace(report, units=units), tuple(problems))


def _completed(unit: t.UnitReport, kernels: Sequence[t.KernelReport], version: str) -> t.UnitReport:
    """Return a unit in which these kernels are complete. Raises AnalysisError."""
    # Most reports are complete.
    from incc.driver.pipeline import ChosenModel, WantedKernels, analyze_marked, analyze_object
    from incc.driver.settings import REPORTED, Scope, Settings
    from incc.frontends.kept import unpack
    from incc.models.loading import load
    from incc.models.model import ModelError
    from incc.report.build import build_report, unit_report

    if version != __version__:
        raise AnalysisError(f"incc {version} analysed it, but this is {__version__}; compile it again")
    try:
        kept = unpack(unit.code)
        model = load(unit.model.name, ())
    except ValueError as error:
        raise AnalysisError(f"its code in the report is {error}") from error
    except ModelError as error:
        raise AnalysisError(str(error)) from error
    if model.version != unit.model.version:
        raise AnalysisError(f"the model of {model.name} has changed since; compile it again")
    settings = Settings(
        scope=Scope(functions=kept.functions, system_headers=kept.system_headers),
        kernel=replace(REPORTED, timeline_iterations=kept.timeline_iterations),
    )
    choice = ChosenModel(model, unit.model.chosen_by, unit.model.note)
    wanted = WantedKernels(frozenset(k.function for k in kernels), frozenset(k.kernel_id for k in kernels))
    if kept.code:
        result = analyze_object(kept.unit, kept.code, settings, None, choice, wanted)
    else:
        marked = analyze_marked(kept.unit, settings, None, choice, wanted)
        assert marked is not None
        result = marked
    (made,) = build_report([unit_report(result, only_complete=True)]).units
    complete = {kernel.kernel_id: kernel for kernel in made.kernels if not kernel.incomplete}
    if missing := [kernel.name for kernel in kernels if kernel.kernel_id not in complete]:
        raise AnalysisError(f"its code in the report has no {missing[0]}")
    done = [complete.get(kernel.kernel_id, kernel) for kernel in unit.kernels]
    return replace(unit, kernels=done, code=unit.code if any(kernel.incomplete for kernel in done) else "")


# --- reports in files -------------------------------------------------------------------------------------------------


class Completer:
    """Completes kernels of reports in files. In folders that builds write, the results replace the reports."""

    def __init__(self, names: Iterable[str] = (), texts: bool = False) -> None:
        """`names` and `texts` are as for `ranking.kernels.ranked_kernels`."""
        self.problems: dict[str, None] = {}
        """The reasons why kernels could not be completed, each once."""
        self._names = frozenset(names)
        self._texts = texts

    def whole(self, report: t.AnalysisReport) -> t.AnalysisReport:
        """Return a report with all kernels complete, as far as that is possible."""
        done = completed(report)
        self.problems.update(dict.fromkeys(done.problems))
        return done.report

    def kernels(self, wanted: Sequence[RankedKernel]) -> dict[tuple[ReportPlace, str, str], RankedKernel]:
        """Complete kernels in their files; see `ranking.build.Complete`."""
        by_path: dict[str, dict[int, list[RankedKernel]]] = {}
        for ranked in wanted:
            by_path.setdefault(ranked.origin.path, {}).setdefault(ranked.origin.line, []).append(ranked)
        found = {}
        for path, by_line in by_path.items():
            for report, origin, some in self._completed_in(path, by_line):
                ids = {ranked.kernel.kernel_id for ranked in some}
                for unit in report.units:
                    shown = replace(unit, kernels=[k for k in unit.kernels if not k.incomplete and k.kernel_id in ids])
                    for ranked in ranked_kernels(shown, some[0].report, origin, self._names, self._texts):
                        found[origin, unit.model.name, ranked.kernel.kernel_id] = ranked
        return found

    def _completed_in(
        self, path: str, by_line: dict[int, list[RankedKernel]]
    ) -> list[tuple[t.AnalysisReport, ReportPlace, list[RankedKernel]]]:
        """Return the reports of a file with complete kernels, and these kernels as they were, by lines of the file."""
        results = []
        try:
            with open(path, "rb") as file:
                status = os.fstat(file.fileno())
                documents = [(line, text) for line, text in texts(file)]
            for line, text in documents:
                if some := by_line.get(line):
                    ids = frozenset(ranked.kernel.kernel_id for ranked in some)
                    done = completed(read_report(text, path, line), ids)
                    self.problems.update(dict.fromkeys(done.problems))
                    results.append((done.report, ReportPlace(path, line), some))
                    if len(documents) == 1:
                        _keep(path, status, text, done.report)
        except (OSError, InputError) as error:
            self.problems[f"{path}: not completed: {error}"] = None
        return results


def _keep(path: str, status: os.stat_result, before: bytes, report: t.AnalysisReport) -> None:
    """Replace a report that a build has written by one with more complete kernels, unless it has changed since.

    The same goes for the cache of units, if it has the same report. That none of this is possible is no problem.
    """
    folder, name = os.path.split(path)
    try:
        entry = manifest.read(folder).get(name)
        now = os.stat(path)
        if entry is None or (now.st_ino, now.st_mtime_ns) != (status.st_ino, status.st_mtime_ns):
            return
        text = text_of(report, DeliveryRequest(format="json", append=True))
        replace_file(path, text)
    except OSError:
        return
    from incc.driver.builds.jobs import unit_cache

    cache = unit_cache(os.environ)
    cached = cache.find(entry.key) if entry.key else None
    if cached is not None and cached.report.strip() == before:
        cache.store(entry.key, Cached(name, rest_of(entry), text))
