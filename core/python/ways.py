"""Branches inside a loop: each path through it is analysed as its own kernel, and all are weighted."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from incc.core.analysis import KernelResult, KernelSettings, analyze_kernel
from incc.frontends.asm.loops import LoopPath
from incc.frontends.kernel import KernelCode
from incc.models.model import MachineModel


class Way(msgspec.Struct, frozen=True):
    """A path through a loop."""

    path: LoopPath
    share: float
    """The fraction of iterations that take the path."""
    result: KernelResult
    """The analysis of a loop that always takes the path."""


class Ways(msgspec.Struct, frozen=True):
    """The paths through a loop."""

    ways: tuple[Way, ...]
    weighted_cycles: float
    """Cycles per iteration weighted by shares. Mispredictions and the overlap of iterations with different paths are
    left out."""
    complete: bool = True
    """True if `ways` lists all paths."""


def analyze_ways(
    paths: Sequence[LoopPath], kernels: Sequence[KernelCode], model: MachineModel, settings: KernelSettings
) -> Ways:
    """Analyse each of the paths, whose code is in `kernels`. Raises ValueError as `analyze_kernel` does."""
    total = sum(path.probability for path in paths)
    shares = [path.probability / total if total else 1 / len(paths) for path in paths]
    ways = tuple(
        Way(path, share, analyze_kernel(kernel, model, settings))
        for path, share, kernel in zip(paths, shares, kernels, strict=True)
    )
    return Ways(ways, sum(way.share * float(way.result.cycles) for way in ways))
