"""The options of a command line of `incc` or `incc-mca`, converted to settings, views and files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from incc.driver import UsageError
from incc.driver.cli.kinds import FILES, MANY, MCA, MOST, NO_VALUE, WRAPPER, Option, read_value
from incc.driver.cli.options import OPTIONS, PAGE_ITERATIONS, find, options_of
from incc.driver.settings import REPORTED, Settings, with_values
from incc.support.errors import suggestion

if TYPE_CHECKING:
    from incc.core.whatif import CoreChange
    from incc.driver.deliver import DeliveryRequest


class OptionValues:
    """The values of a command's options by name, and the names of the options on its command line."""

    __slots__ = ("_values", "command", "names")

    def __init__(self, command: str) -> None:
        self.command = command
        self.names: set[str] = set()
        self._values: dict[str, Any] = {option.name: option.default for option in options_of(command)}

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def take(self, spelled: str, value: str | None) -> None:
        """Parse an option and its value, None if it has none. Raises UsageError."""
        option = find(self.command, spelled)
        if option.kind == "changes" and value is None:
            # Without a change, the option selects the view of all standard changes.
            option = next(o for o in options_of(self.command) if o.view == "what-if")
        self.put(option, spelled, value)

    def put(self, option: Option, spelled: str, value: str | None) -> None:
        """Parse the value of an option, whose name is `spelled` in messages. Raises UsageError."""
        parsed = self._values[option.name] = self._read(option, spelled, value)
        self.names.add(option.name)
        if option.stands_for:
            other = next(o for o in options_of(self.command) if o.name == option.into)
            # As in llvm-mca, `-json=0` takes `-json` back.
            self._values[option.into] = option.stands_for if parsed else other.default
            self.names.add(option.into)

    def _read(self, option: Option, spelled: str, value: str | None) -> Any:
        if not value and option.kind not in NO_VALUE:
            raise UsageError(f"{spelled} needs a value: {spelled}=…")
        if option.kind == "views":
            return _views(spelled, value or "")
        parsed = read_value(option, spelled, value)
        before = self._values[option.name]
        if option.kind == "commas":
            return (*before, *parsed.split(","))
        return (*before, parsed) if option.kind in MANY else parsed

    def settings(self) -> Settings:
        """Return the settings of the analysis."""
        names = {option.sets: option.name for option in options_of(self.command) if option.sets}
        values = {sets: READERS[sets](self) if sets in READERS else self[name] for sets, name in names.items()}
        return with_values(Settings(), values)

    def views(self) -> list[str]:
        """Return the views of the text."""
        everything = self["all-views"]
        only_named = ("all-views" in self.names and not everything) or "views" in self.names
        chosen = []
        for option in options_of(self.command):
            if not option.view:
                continue
            if option.kind == "count":
                # By default a timeline is shown, unless views are named or an HTML page has it.
                by_default = (not only_named and not self["html"]) or option.view in self["views"]
                wanted = self[option.name] > 0 or (self[option.name] < 0 and by_default)
            elif option.name in self.names:
                wanted = self[option.name]
            else:
                named = option.view in self["views"]
                wanted = everything or named or (self[option.name] and not only_named)
            if wanted:
                chosen.append(option.view)
        return chosen

    def files(self) -> dict[str, str]:
        """Return the additional files to write, by the names of their options."""
        names = [option.name for option in options_of(self.command) if option.kind in FILES]
        return {name: self[name] for name in names if self[name]}

    def request(self, form: str, output: str, append: bool = False) -> DeliveryRequest:
        """Return the request to deliver the report in the format `form` to `output`."""
        from incc.driver.deliver import DeliveryRequest

        chosen = {"views", "kernel", "all-views"}
        # The view of the core model does not concern kernels.
        chosen |= {o.name for o in options_of(self.command) if o.view and o.sets != "report.port_model"}
        wrapper = self.command == WRAPPER
        return DeliveryRequest(
            format=form,
            output=output,
            append=append,
            files=self.files(),
            views=self.views(),
            places=self["detail"],
            overview=(1 if wrapper else 2) if self["overview"] else 0,
            kernels=self["kernel"],
            where=self["where"],
            top=self["top"],
            brief=not chosen & self.names,
            prefix="--analyze-" if wrapper else "--",
            uops=self["timeline-uops"],
            wait=not wrapper,
        )


def _views(option: str, value: str) -> tuple[str, ...]:
    views = [o.view for o in OPTIONS if o.view]
    chosen = [] if value == "none" else views if value == "all" else value.split(",")
    for name in chosen:
        if name not in views:
            valid = f"; there are {', '.join(dict.fromkeys(views))}"
            raise UsageError(f"{option}: no view {name!r}{suggestion(name, views, otherwise=valid)}")
    return tuple(dict.fromkeys(chosen))


# --- settings of the analysis ----------------------------------------------------------------------------------------


def _timeline(given: OptionValues) -> int:
    if given.command == MCA:
        wanted = "timeline" in given.views() or given["timeline-uops"] or given["html"]
        return (given["timeline-max-iterations"] or PAGE_ITERATIONS) if wanted else 0
    if given["timeline"] >= 0:
        return int(given["timeline"])
    if given["html"]:
        return PAGE_ITERATIONS

    return REPORTED.timeline_iterations


def _changes(given: OptionValues) -> tuple[CoreChange, ...]:
    named = {"perfect-front-end": "front-end", "unlimited-ports": "unlimited-ports"}
    chosen = [change for option, change in named.items() if given[option]]
    left_out = given["no-dependencies"]
    if left_out:
        chosen.append("dependencies" if left_out == "all" else f"{left_out}-dependencies")
    if not chosen:
        return tuple(given["what-if"])
    from incc.core.whatif import NAMED

    return (*(NAMED[name] for name in chosen), *given["what-if"])


_STATS = ("dispatch-stats", "scheduler-stats", "retire-stats", "register-file-stats")
_LLVM_VIEWS = (*_STATS, "bottleneck-analysis", "instruction-tables", "show-encoding", "show-barriers")


def llvm_views(given: OptionValues) -> set[str]:
    """Return the names of the requested views that only llvm-mca has."""
    requested = {name for name in _LLVM_VIEWS if given[name] not in (False, "none")}
    general = _STATS if given["all-stats"] else ()
    if given["all-views"]:
        # As in llvm-mca, -all-stats=0 excludes the statistics, and an option for a single view wins over -all-views.
        general = ("bottleneck-analysis", *(_STATS if given["all-stats"] or "all-stats" not in given.names else ()))
    return requested.union(name for name in general if name not in given.names)


READERS: dict[str, Callable[[OptionValues], Any]] = {
    "scope.regions": lambda given: "loops" if given["auto"] else "marked",
    "kernel.flag_dependencies": lambda given: not given["no-flag-dependencies"],
    "report.iterations": lambda given: given["iterations"] or 100,
    "kernel.timeline_cycles": lambda given: given["timeline-max-cycles"] or MOST,
    "kernel.pressure": lambda given: "bottleneck-analysis" in llvm_views(given),
    "report.syntax": lambda given: {0: "att", 1: "intel"}.get(given["output-asm-variant"], ""),
    "kernel.timeline_iterations": _timeline,
    "kernel.changes": _changes,
    "report.port_model": lambda given: "port-model" in given.views(),
    "kernel.waits": lambda given: "waits" in given.views() or bool(given["detail"]),
    "kernel.beyond_l1": lambda given: "memory" in given.views(),
    "report.quality": lambda given: "quality" in given.views(),
    "report.decrements": lambda given: "decremental" in given.views(),
    "scope.ways": lambda given: tuple(name for name in ("branch", "paths") if given[name]),
    "report.roofline": lambda given: bool(given["roofline"] or given["html"]),
    "report.control_flow": lambda given: bool(given["cfg"]),
}
"""The fields of `Settings` that depend on several options, or differ from the option's value."""
