"""The results of a translation unit's analyses, which reports are built from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from incc.frontends.kernel import LeftOut, SourceLocation
from incc.frontends.marks import Mark, MarkError
from incc.report import types as t

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult
    from incc.core.roles import LoopPart
    from incc.core.ways import Ways
    from incc.frontends.asm.call_path import WantedTrips
    from incc.frontends.asm.places import UserPlace
    from incc.frontends.unit import Unit
    from incc.measuring.harness import LoopFailure
    from incc.measuring.kernels import KernelMeasurement
    from incc.models.model import MachineModel


class ReportSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The parts and the notation of a report."""

    iterations: int = 100
    """The number of iterations in the summaries; the default is llvm-mca's."""
    mispredict_rate: float | None = None
    """The share of mispredicted branches inside loops; None if unknown."""
    ghz: float = 0
    """The clock for rates per second, in GHz; 0 for no rates."""
    syntax: Literal["", "att", "intel"] = ""
    """LLVM's syntax to write instructions in; empty to keep their text."""
    hex_immediates: bool = False
    """Write immediate values in hexadecimal in that syntax."""
    port_model: bool = False
    """Include a description of the core."""
    roofline: bool = False
    """Include the core's ceilings and the kernels' points in the roofline model."""
    decrements: bool = False
    """Simulate the kernels without each part of their work."""
    quality: bool = False
    """Include the quality of the kernels' code."""
    control_flow: bool = False
    """Include the control flow of the analysed functions."""
    most_with_tables: int | None = None
    """The most main loops of a unit with tables of their instructions, dependencies and paths, which a text on many
    loops does not show; None for any number."""
    measure: bool = False
    """Run the kernels on this machine. If no core is named, use the host's model."""
    unsafe: bool = False
    """Run them even if the system cannot keep them from files and other processes."""


REPORT_SETTINGS = ReportSettings()
"""The default settings."""


class KernelPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel's place in the user's source."""

    lines: Mapping[int, SourceLocation]
    """The place of each line of the assembly."""
    near: SourceLocation | None
    """The nearest place in the function's own source, if the kernel comes from another file; otherwise None."""
    place: UserPlace | None = None
    """The place from debug information; None without any."""
    columns: Mapping[int, tuple[int, int]] = {}
    """Line and column in the source of the kernel's lines, as far as known."""


class UnitResult(msgspec.Struct, frozen=True, kw_only=True):
    """The results of a translation unit. Sequences "by kernel" have one item per kernel, or are empty."""

    unit: Unit
    model: MachineModel
    chosen_by: str
    """The option, command or default that selected the model."""
    results: tuple[KernelResult, ...]
    """The kernels' analyses."""
    settings: ReportSettings = REPORT_SETTINGS
    kernel_ids: tuple[str, ...] = ()
    """The identities by kernel."""
    places: tuple[KernelPlace, ...] = ()
    """The places by kernel."""
    left_out: tuple[LeftOut, ...] = ()
    """Loops and marked spans that are not analysed."""
    notes: tuple[str, ...] = ()
    """Notes that apply to every kernel."""
    ways: tuple[t.WaysReport, ...] | None = None
    """The result of `ways.py`; None if not requested."""
    control_flow: tuple[t.ControlFlowReport, ...] | None = None
    """The result of `control_flow.py`; None if not requested."""
    model_note: str = ""
    """A note on the choice of the model; empty for none."""
    inside: tuple[Ways | None, ...] = ()
    """The paths through the loop by kernel; None for a loop without branches inside."""
    system_loops: int = 0
    """See `selection.Selection`."""
    calls: tuple[t.LibraryCall, ...] = ()
    """See `selection.Selection`."""
    user_functions: Mapping[str, str] = {}
    """The user's function for each function that is a part of one."""
    not_found: tuple[t.NotFound, ...] = ()
    """The result of `not_found.py`."""
    call_reports: tuple[t.CallReport, ...] | None = None
    """Predictions of whole calls; None if no trip counts were given."""
    trips: Mapping[str, WantedTrips] = {}
    """The iterations of the source's loops by function, as far as they were given."""
    near_trips: Mapping[int, int] = {}
    """By the numbers of kernels: iterations from which on a call takes at most 10 % more per element than the loop."""
    passes: Mapping[int, Sequence[t.DataPass]] = {}
    """By the numbers of kernels: passes through data of the requested sizes."""
    parts: Sequence[LoopPart] = ()
    """Role and elements by kernel, if already known."""
    replaced: Mapping[int, int] = {}
    """By kernel: the one that runs instead in every call, because the check of the addresses fails."""
    measured: Sequence[KernelMeasurement | LoopFailure] = ()
    """Measurements or the reasons of failures by kernel; empty if not requested."""
    host: tuple[str, bool] = ("", False)
    """The host's core, and True if `model` is of that core."""
    marks: tuple[Mark, ...] = ()
    """The marks in the source that restrict the analysis."""
    marked: tuple[tuple[int, ...], ...] = ()
    """The indices of the marks by kernel."""
    mark_errors: tuple[MarkError, ...] = ()
    """Mistakes in other marks."""
    code: str = ""
    """See `types.UnitReport.code`."""
