"""The options of an analysis, the same for both commands: `--wait-view` of incc-mca, `--analyze-wait-view` of incc."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from incc.core.whatif import Change
    from incc.driver.pipeline import Settings
    from incc.driver.report.places import Place

SWITCHES = {
    "fixed-ports": False,
    "simulate": True,
    "perfect-front-end": False,
    "unlimited-ports": False,
    "branch": False,
    "paths": False,
    "summary-view": True,
    "instruction-info": True,
    "resource-pressure": True,
    "dependency-view": True,
    "wait-view": False,
    "timeline": False,
    "all-views": False,
}
NUMBERS = {"iterations": 100, "timeline-max-iterations": 10, "timeline-max-cycles": 80, "loop": 0}
TEXTS = ("mcpu", "graph", "html", "cfg", "branch-probability", "alignment", "no-dependencies")
LISTS = ("function", "model-path", "what-if", "detail")
FILES = ("graph", "html", "cfg")
"""The options that name a file to write."""

_ALIASES = {"dg": "graph"}
_VIEWS = {
    "summary-view": "summary",
    "instruction-info": "info",
    "resource-pressure": "pressure",
    "wait-view": "waits",
    "timeline": "timeline",
    "dependency-view": "dependencies",
}


class UsageError(Exception):
    """A mistake on the command line; the message says which."""


class AnalysisOptions:
    """The options given so far: switches, numbers, texts and lists of texts by name.

    `prefix` is what stands before a name on the command line, for messages. `given`: the names of switches given.
    """

    __slots__ = ("given", "lists", "numbers", "prefix", "switches", "texts")

    def __init__(self, prefix: str = "-") -> None:
        self.prefix = prefix
        self.switches = dict(SWITCHES)
        self.numbers = dict(NUMBERS)
        self.texts = dict.fromkeys(TEXTS, "")
        self.lists: dict[str, list[str]] = {name: [] for name in LISTS}
        self.given: set[str] = set()

    def knows(self, name: str) -> bool:
        """Whether there is an option of this name."""
        name = _ALIASES.get(name, name)
        return name in self.switches or name == "no-dependencies" or self.takes_value(name)

    def takes_value(self, name: str) -> bool:
        """Whether the option must have a value; a switch may have true or false, `no-dependencies` one of its own."""
        name = _ALIASES.get(name, name)
        return name != "no-dependencies" and (name in self.numbers or name in self.texts or name in self.lists)

    def take(self, name: str, value: str | None) -> None:
        """Take an option that `knows` knows; None: without a value. Raises UsageError."""
        name = _ALIASES.get(name, name)
        option = self.prefix + name
        if name in self.switches:
            if value not in (None, "true", "false", "1", "0"):
                raise UsageError(f"{option} is true or false, not {value!r}")
            self.switches[name] = value in (None, "true", "1")
            self.given.add(name)
            return
        if name == "no-dependencies":
            if value not in (None, "all", "register", "memory"):
                raise UsageError(f"{option} takes register or memory, not {value!r}")
            self.texts[name] = value or "all"
            return
        if not value:
            raise UsageError(f"{option} needs a value")
        if name in self.lists:
            self.lists[name].append(value)
        elif name in self.texts:
            self.texts[name] = value
        elif value.isdecimal() and int(value) > 0:
            self.numbers[name] = int(value)
        else:
            raise UsageError(f"{option} needs a number above 0, not {value!r}")

    def settings(self, regions: str, timeline_iterations: int) -> Settings:
        """What the analysis is told: `regions` as Settings has it, and so many iterations in the timeline (0: none).

        Raises UsageError for values that are no good.
        """
        from incc.driver.pipeline import Settings

        return Settings(
            mcpu=self.texts["mcpu"],
            functions=tuple(self.lists["function"]),
            fixed_ports=self.switches["fixed-ports"],
            regions=regions,
            iterations=self.numbers["iterations"],
            timeline_iterations=timeline_iterations,
            timeline_cycles=self.numbers["timeline-max-cycles"],
            model_path=tuple(self.lists["model-path"]),
            simulate=self.switches["simulate"],
            what_if=self._changes(),
            waits=self.switches["wait-view"] or self.switches["all-views"] or bool(self.lists["detail"]),
            cold_iterations=self.numbers["loop"],
            alignment=self._alignment(),
            ways=tuple(name for name in ("branch", "paths") if self.switches[name]),
            branch_probability=self._probability(),
            control_flow=bool(self.texts["cfg"]),
        )

    def check(self) -> None:
        """Raises UsageError for values that are no good, as `settings` does; for commands that ask for these later."""
        self._changes()
        self._alignment()
        self._probability()
        self.places()

    def views(self) -> tuple[str, ...]:
        """The views to print, in the report's order."""
        everything = self.switches["all-views"]
        only_named = "all-views" in self.given and not everything
        chosen = []
        for name, view in _VIEWS.items():
            if name in self.given:
                wanted = self.switches[name]
            else:
                wanted = everything or (self.switches[name] and not only_named)
            if wanted:
                chosen.append(view)
        return tuple(chosen)

    def places(self) -> list[Place]:
        """The lines of `detail`. Raises UsageError for what names none."""
        if not self.lists["detail"]:
            return []
        from incc.driver.report.places import parse

        try:
            return [parse(text) for text in self.lists["detail"]]
        except ValueError as error:
            raise UsageError(f"{self.prefix}detail {error}") from error

    def files(self) -> dict[str, str]:
        """The files to write beside the report, by the names of their options."""
        return {name: self.texts[name] for name in FILES if self.texts[name]}

    def _changes(self) -> tuple[Change, ...]:
        named = {"perfect-front-end": "front-end", "unlimited-ports": "unlimited-ports"}
        chosen = [change for option, change in named.items() if self.switches[option]]
        left_out = self.texts["no-dependencies"]
        if left_out:
            chosen.append("dependencies" if left_out == "all" else f"{left_out}-dependencies")
        if not chosen and not self.lists["what-if"]:
            return ()
        from incc.core.whatif import NAMED

        changes = [NAMED[name] for name in chosen]
        if self.lists["what-if"]:
            from incc.core.changes import parse

            try:
                changes += [parse(text) for text in self.lists["what-if"]]
            except ValueError as error:
                raise UsageError(str(error)) from error
        return tuple(changes)

    def _alignment(self) -> int:
        text = self.texts["alignment"]
        if text in ("", "all"):
            return -2 if text else -1
        if not (text.isdecimal() and int(text) < 64):
            raise UsageError(f"{self.prefix}alignment is a number below 64, or all, not {text!r}")
        return int(text)

    def _probability(self) -> float | None:
        text = self.texts["branch-probability"]
        try:
            value = float(text) if text else None
        except ValueError:
            value = -1.0
        if value is not None and not 0 <= value <= 1:
            raise UsageError(f"{self.prefix}branch-probability is a number from 0 to 1, not {text!r}")
        return value


def check_targets(targets: Iterable[tuple[str, str]], inputs: Iterable[str] = ()) -> None:
    """Raises UsageError if two options name the same file, or one a file of the command that is not theirs to write.

    `targets` are pairs of the option and its file, `inputs` the names of those files.
    """
    import os

    taken: dict[str, str] = {}
    for option, file in targets:
        if os.path.isdir(file) or file.startswith("/dev/"):
            continue
        path = os.path.realpath(file)
        if path in taken:
            raise UsageError(f"{taken[path]} and {option} name the same file, {file}")
        taken[path] = option
    for file in inputs:
        option_of = taken.get(os.path.realpath(file))
        if option_of:
            raise UsageError(f"{option_of} would overwrite {file}")
