"""Branches inside a loop: each way through it is analysed as a kernel of its own, and all are weighted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from incc.core.analysis import analyze_kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.core.analysis import KernelResult, KernelSettings
    from incc.frontends.asm.loops import LoopPath
    from incc.frontends.kernel import Kernel
    from incc.models.model import MachineModel


class Way(msgspec.Struct, frozen=True):
    """A way through a loop, its share of the iterations, 0 to 1, and the analysis of an execution that always goes this
    way."""

    path: LoopPath
    share: float
    result: KernelResult


class Ways(msgspec.Struct, frozen=True):
    """The ways through a loop, and the cycles per iteration of all of them, weighted by their shares. That leaves out
    what branches cost that are predicted wrongly, and that iterations of different ways may overlap. `complete`: these
    are all ways."""

    ways: tuple[Way, ...]
    weighted_cycles: float
    complete: bool = True


def analyze_ways(
    paths: Sequence[LoopPath], kernels: Sequence[Kernel], model: MachineModel, settings: KernelSettings
) -> Ways:
    """The analysis of each of the paths, of which `kernels` are the code. Raises ValueError as `analyze_kernel`."""
    total = sum(path.probability for path in paths)
    shares = [path.probability / total if total else 1 / len(paths) for path in paths]
    ways = tuple(
        Way(path, share, analyze_kernel(kernel, model, settings))
        for path, share, kernel in zip(paths, shares, kernels, strict=True)
    )
    return Ways(ways, sum(way.share * float(way.result.cycles) for way in ways))
