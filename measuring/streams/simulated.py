"""A simulated machine whose streams take the times that a model predicts, for trials and tests.

Non-temporal stores take as long as loads if the model does not know their cost.
"""

from __future__ import annotations

from functools import cache

from msgspec.structs import replace

from incc.measuring.streams.fit import core_times
from incc.measuring.streams.loops import StreamLoop
from incc.measuring.streams.study import StreamTime, StudyPoint
from incc.models.model import MachineModel


class SimulatedStreams:
    """A machine that streams through arrays with the caches and the memory of a model's core."""

    def __init__(self, model: MachineModel, cores: int = 1) -> None:
        assert model.memory is not None
        self.model = model
        *caches, last = model.memory.levels
        with_cost = replace(last, non_temporal=last.non_temporal or last.read)
        self.memory = replace(model.memory, levels=(*caches, with_cost))
        self.cores = cores
        self._predicted = cache(self._predict)

    def measure(self, point: StudyPoint) -> StreamTime:
        """Return the predicted time of a point."""
        predicted = self._predicted(point.loop, point.cores)
        level = next(
            n
            for n, level in enumerate(self.memory.levels)
            if level.size is None or point.bytes <= level.size / min(level.cores, point.cores)
        )
        return StreamTime(cycles=predicted[level], spread=0.0, disturbed=0.0, ghz=1.0)

    def _predict(self, loop: StreamLoop, cores: int) -> list[float]:
        return core_times(loop, self.model, line=self.memory.line).predicted(self.memory, cores)

    def close(self) -> None:
        """Do nothing, since there is no process to end."""
