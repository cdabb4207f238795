"""Rooflines of reports that were read: the ceilings come from the cores' models, unless the reports have them."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from incc.models.loading import load
from incc.models.model import MachineModel, ModelError
from incc.report import types as t
from incc.report.parts.roofline import with_roofline


class ReportedModels:
    """The models that reports name, each loaded once."""

    def __init__(self, model_path: Iterable[str] = ()) -> None:
        self.problems: dict[str, None] = {}
        """Models that are missing or have changed since, in words."""
        self._path = tuple(model_path)
        self._models: dict[str, MachineModel | None] = {}

    def find(self, of: t.ModelReport) -> MachineModel | None:
        """Return the model of this name; None if there is none any more."""
        if of.name not in self._models:
            try:
                self._models[of.name] = load(of.name, self._path)
            except ModelError as error:
                self._models[of.name] = None
                self.problems[f"no ceilings of {of.name}: {error}"] = None
        model = self._models[of.name]
        if model is not None and model.version != of.version:
            self.problems[f"the model of {of.name} has changed since the report; the ceilings are those of now"] = None
        return model

    def with_rooflines(self, report: t.AnalysisReport, ghz: float = 0) -> t.AnalysisReport:
        """Return a report with ceilings and points, as far as there are models; `ghz` is as for `with_roofline`."""
        units = []
        for unit in report.units:
            if unit.ceilings is None and (model := self.find(unit.model)) is not None:
                unit = with_roofline(unit, model, ghz)
            units.append(unit)
        return replace(report, units=units)
