"""The settings of an analysis, by topic.

Options (`cli/options.py`) and arguments of the Python API set them. The analysis of a kernel and the report take the
parts that concern them: `KernelSettings`, `ReportSettings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from incc.core.analysis import KernelSettings
from incc.report.unit_result import REPORT_SETTINGS, ReportSettings

if TYPE_CHECKING:
    from incc.frontends.asm.call_path import WantedTrips
    from incc.frontends.objects.spans import Addresses

    _Part = TypeVar("_Part", bound=msgspec.Struct)


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """The code to analyse."""

    functions: tuple[str, ...] = ()
    """Globs of function names; all functions if empty."""
    regions: Literal["loops", "marked", "llvm-mca"] = "loops"
    """"loops": every innermost loop. "marked": marked regions, or the whole file without any. "llvm-mca": the same by
    llvm-mca's rules, with only its markers."""
    marks: Literal["use", "only", "ignore"] = "use"
    """Marks in the source restrict the analysis (use). "only": without marks there is no analysis."""
    lines: tuple[tuple[int, int], ...] = ()
    """First and last line of spans of the assembly to analyse as one region, in place of `regions`."""
    addresses: tuple[Addresses, ...] = ()
    """Address ranges of an object to analyse instead of its loops."""
    system_headers: bool = False
    """Include loops without any line of the user's."""
    ways: tuple[Literal["paths", "branch"], ...] = ()
    """"paths": analyse every path through loops with branches. "branch": the sides of the first branch."""
    trust_includes: bool = False
    """Assembly that was given reads the files that `.include` and `.incbin` name."""
    trips: WantedTrips | None = None
    """Iterations of the source's loops in a call; None to predict no calls."""
    near_trips: bool = False
    """Without `trips`, find out how long calls are that come near a single main loop's cycles per element."""
    branch_probability: float | None = None
    """The probability that a branch is not taken; None if both sides are equally likely."""


class CoreSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The core to analyse for."""

    mcpu: str = ""
    """The core's name; "" for the unit's `cpu`, else the host."""
    isa: str = ""
    """The instruction set of assembly that could be of several; "" for x86."""
    model_path: tuple[str, ...] = ()
    """Folders and files of models that are searched before all others."""
    lacking: bool = False
    """Use LLVM's figures for instructions that the model lacks."""


class LimitSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of time and memory for the analysis of a single kernel."""

    seconds: int = 60
    """Seconds of the processor after which only bounds are computed; 0 for no limit."""
    memory: int = 300 << 20
    """Bytes that the analysis of a kernel may be expected to take, or else it is left out; 0 for no limit."""

    @property
    def instructions(self) -> int:
        """The most instructions of a kernel."""
        return self.memory // _BYTES_PER_INSTRUCTION if self.memory else _NO_LIMIT


_BYTES_PER_INSTRUCTION = 10 << 10
"""The memory of an analysis with all details and its report as JSON, by bench/growth.py."""
_NO_LIMIT = 1 << 40

REPORTED = KernelSettings(what_ifs=True, timeline_iterations=2, arrays="likely")
"""The default analysis of a kernel for a report."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of an analysis."""

    scope: Scope = Scope()
    core: CoreSettings = CoreSettings()
    kernel: KernelSettings = REPORTED
    report: ReportSettings = REPORT_SETTINGS
    limits: LimitSettings = LimitSettings()
    later: bool = False
    """Leave what only readers of a kernel need for later, and keep the code (`completion.py`), where that is possible:
    if nothing was requested that reports do not have by themselves."""

    def on(self, mcpu: str) -> Settings:
        """Return the settings for another core."""
        return replace(self, core=replace(self.core, mcpu=mcpu))

    @property
    def are_usual(self) -> bool:
        """True if they are those of any report, for some functions and some core with a model of incc's own."""
        usual = Settings(
            scope=Scope(functions=self.scope.functions, system_headers=self.scope.system_headers),
            core=CoreSettings(mcpu=self.core.mcpu),
            kernel=replace(REPORTED, timeline_iterations=self.kernel.timeline_iterations),
            limits=self.limits,
            later=self.later,
        )
        return self == usual

    def for_advice(self) -> Settings:
        """Return the settings that leave out what only readers of a kernel need."""
        return replace(self, kernel=replace(self.kernel, for_advice=True, timeline_iterations=0))


def with_values(settings: _Part, values: Mapping[str, Any]) -> _Part:
    """Return settings, or a part of them, with other values by the names of fields, as in "kernel.altered.decoders"."""
    fields: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        part, _, rest = name.partition(".")
        if rest:
            parts.setdefault(part, {})[rest] = value
        else:
            fields[name] = value
    fields |= {part: with_values(getattr(settings, part), inner) for part, inner in parts.items()}
    return replace(settings, **fields)
