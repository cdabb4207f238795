"""Results of the native core, shared by kernels that it cannot distinguish.

Kernels of a project are often alike except for names and constants: loops of inline functions, loops that a compiler
cloned or instantiated from a template, files that are compiled for a static and a shared library, regions that a script
wrote. Bound to a core they are the same numbers, so their results are the same too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from marshal import dumps
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from incc import core
from incc.core import Analysis, Bounds, Simulation
from incc.models.binding.bound import BoundKernel, Pipeline

if TYPE_CHECKING:
    from incc.core.waits import Waits

R = TypeVar("R")

MOST = 1024
"""The most cached results. With their keys and kernels they take some 30 MB; recorded runs are not kept."""

# The core reads all fields of a kernel, but of the names of columns and locations only the number.
_NAMES = ("location_names", "port_names")
_of_kernel = attrgetter(*[name for name in BoundKernel.__slots__ if name not in (*_NAMES, "pipeline")])
_of_pipeline = attrgetter(*Pipeline.__slots__)


class CachedCore:
    """The functions of `core` with the same names, with their results cached.

    It serves the analyses of one thread, which must not change a kernel after its first use.
    """

    def __init__(self) -> None:
        self._results: dict[tuple[object, ...], Any] = {}
        self._last: BoundKernel | None = None
        self._contents = b""
        # Contents by the fields' identities, with the fields, which live as long: kernels that are alike have them in
        # common (models.binding.pieces).
        self._seen: dict[tuple[int, ...], tuple[bytes, object]] = {}

    def bounds(self, bound: BoundKernel) -> Bounds:
        """Return `core.bounds`."""
        return self._of(bound, ("bounds",), lambda: core.bounds(bound))

    def analyze(self, bound: BoundKernel) -> Analysis:
        """Return `core.analyze`."""
        return self._of(bound, ("analyze",), lambda: core.analyze(bound))

    def bounds_and_simulation(self, bound: BoundKernel) -> tuple[Bounds, Simulation]:
        """Return `core.bounds_and_simulation`."""
        return self._of(bound, ("bounds and simulation",), lambda: core.bounds_and_simulation(bound))

    def simulate(self, bound: BoundKernel, **options: Any) -> Simulation:
        """Return `core.simulate`."""
        return self._of(bound, ("simulate", *options.items()), lambda: core.simulate(bound, **options))

    def cold_run(self, bound: BoundKernel, iterations: int, **options: Any) -> Simulation:
        """Return `core.cold_run`; the options must be hashable."""
        request = ("cold run", iterations, *options.items())
        return self._of(bound, request, lambda: core.cold_run(bound, iterations, **options))

    def waits(self, bound: BoundKernel, instructions: int) -> Waits:
        """Return the `waits` of a run that is recorded for them. Raises what `core.simulate` raises."""
        from incc.core.waits import waits

        request = ("waits", instructions)
        return self._of(bound, request, lambda: waits(core.simulate(bound, record=True), instructions))

    def once(self, what: str, of: object, make: Callable[[], Any]) -> Any:
        """Return a value derived from one of these results, cached under its name."""
        key = what, id(of)
        if key not in self._results:
            if len(self._results) >= MOST:
                self._results.clear()
            # The key's object is stored too, so that its identity stays valid.
            self._results[key] = make(), of
        return self._results[key][0]

    def _of(self, bound: BoundKernel, request: tuple[object, ...], compute: Callable[[], R]) -> R:
        if bound is not self._last:
            try:
                self._contents = self._contents_of(bound)
            except (AttributeError, ValueError):  # the core reports missing or wrong fields
                return compute()
            self._last = bound
        key = (self._contents, *request)
        if key not in self._results:
            result = compute()
            if len(self._results) >= MOST:
                self._results.clear()
            self._results[key] = result
        cached: R = self._results[key]
        return cached

    def _contents_of(self, bound: BoundKernel) -> bytes:
        fields = _of_kernel(bound)
        # The objects themselves do not change; a kernel's attributes do, and a pipeline's do not.
        counts = len(bound.location_names), len(bound.port_names)
        identities = (*counts, id(bound.pipeline), *map(id, fields))
        seen = self._seen.get(identities)
        if seen is None:
            if len(self._seen) >= MOST:
                self._seen.clear()
            seen = self._seen[identities] = _contents(bound), (bound.pipeline, fields)
        return seen[0]


_local = threading.local()


def of_thread() -> CachedCore:
    """Return the results that all analyses of this thread share."""
    cache: CachedCore | None = getattr(_local, "cache", None)
    if cache is None:
        cache = _local.cache = CachedCore()
    return cache


def forget() -> None:
    """Drop the results that the analyses of this thread share."""
    _local.cache = None


def _contents(bound: BoundKernel) -> bytes:
    """Return everything that the core sees of a kernel. Raises AttributeError and ValueError if it is no kernel."""
    p = bound.pipeline
    pipeline = None if p is None else _of_pipeline(p)
    # Version 2 is the last one that writes equal numbers equally, whatever else refers to them.
    return dumps((_of_kernel(bound), len(bound.location_names), len(bound.port_names), pipeline), 2)
