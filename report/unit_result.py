"""What analyses found of a translation unit: what reports are built from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from incc.core.analysis import KernelResult
    from incc.core.roles import Part
    from incc.core.ways import Ways
    from incc.frontends.asm.places import UserPlace
    from incc.frontends.kernel import LeftOut, SourceLocation
    from incc.frontends.marks import Mark, MarkError
    from incc.frontends.unit import Unit
    from incc.measuring.harness import Failure
    from incc.measuring.kernels import KernelMeasurement
    from incc.models.model import MachineModel
    from incc.report import types as t
    from incc.report.source.selection import LibraryCall

ITERATIONS = 100
"""How many the summary counts unless told otherwise; llvm-mca's default."""


class KernelPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a kernel is in the user's source: of each line of the assembly, what is next to a kernel that comes from
    another file, else None, and what debug information says of it, if there is any. `columns`: line and column of the
    source for lines of the kernel, as far as they are known."""

    lines: Mapping[int, SourceLocation]
    near: SourceLocation | None
    place: UserPlace | None = None
    columns: Mapping[int, tuple[int, int]] = {}


class UnitResult(msgspec.Struct, frozen=True, kw_only=True):
    """What was found of a translation unit.

    `chosen_by`: what named the model. `results` and `kernel_ids`: of its kernels, in the order given; `places`: one for
    each of them, or none. `left_out`: loops and marked spans that are not analysed. `notes`: what is to be said of
    every kernel. `ways` (from `ways.py`), `control_flow` (from `control_flow.py`): None where they were not asked for.
    `iterations`: how many the summaries count. `model_note`: what must be said of the choice of the model, if anything.
    `inside`: of each kernel the ways through its loop, None without branches inside; or none at all. `mispredict_rate`:
    of those branches, None where it is not known. `system_loops`, `calls`: see `selection.Selection`. `user_functions`:
    of functions that are parts of others, those. `not_found`: from `not_found.py`. `ghz`: the clock for rates a
    second, 0 for none. `parts`: role and elements of each kernel, if they are known already. `measured`: what each
    takes on this machine, or why that is not known; none if it was not asked for. `host`: the core that this is, and
    whether `model` is of that core. `marks`: those in the source that restrict the analysis, and of each kernel the
    indices of its marks (`marked`); `mark_errors`: what is wrong with others. `syntax`: instructions are written as
    LLVM does it, in this syntax, "" for as they are; `hex_immediates`: with hexadecimal numbers. `port_model`: the core
    itself is wanted.
    """

    unit: Unit
    model: MachineModel
    chosen_by: str
    results: tuple[KernelResult, ...]
    kernel_ids: tuple[str, ...] = ()
    places: tuple[KernelPlace, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    ways: tuple[t.Ways, ...] | None = None
    control_flow: tuple[t.ControlFlow, ...] | None = None
    iterations: int = ITERATIONS
    model_note: str = ""
    inside: tuple[Ways | None, ...] = ()
    mispredict_rate: float | None = None
    system_loops: int = 0
    calls: tuple[LibraryCall, ...] = ()
    user_functions: Mapping[str, str] = {}
    not_found: tuple[t.NotFound, ...] = ()
    ghz: float = 0
    parts: Sequence[Part] = ()
    measured: Sequence[KernelMeasurement | Failure] = ()
    host: tuple[str, bool] = ("", False)
    marks: tuple[Mark, ...] = ()
    marked: tuple[tuple[int, ...], ...] = ()
    mark_errors: tuple[MarkError, ...] = ()
    syntax: str = ""
    hex_immediates: bool = False
    port_model: bool = False
