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
        """Messages on models that are missing or have changed since the reports were made."""
        self._path = tuple(model_path)
        self._models: dict[str, MachineModel | None] = {}

    def find(self, reported: t.ModelReport) -> MachineModel | None:
        """Return the model that a report names; None if it is missing."""
        if reported.name not in self._models:
            try:
                self._models[reported.name] = load(reported.name, self._path)
            except ModelError as error:
                self._models[reported.name] = None
                self.problems[f"no ceilings of {reported.name}: {error}"] = None
        model = self._models[reported.name]
        if model is not None and model.version != reported.version:
            self.problems[f"the ceilings of {reported.name} are those of its current model, not of the report's"] = None
        return model

    def with_rooflines(self, report: t.AnalysisReport, ghz: float = 0) -> t.AnalysisReport:
        """Return a report with ceilings and points, as far as there are models; `ghz` is as for `with_roofline`."""
        units = []
        for unit in report.units:
            if unit.ceilings is None and (model := self.find(unit.model)) is not None:
                unit = with_roofline(unit, model, ghz)
            units.append(unit)
        return replace(report, units=units)
