"""The report on runs of a program without parts of a loop's work."""

from __future__ import annotations

from typing import Literal

import msgspec

from incc.frontends.kernel import SourceLocation


class LessWorkRun(msgspec.Struct, frozen=True, kw_only=True):
    """The loop without some of its work: predicted, and measured in runs of a changed copy."""

    text: str
    """The work in words, after “without”."""
    predicted: float
    """Predicted cycles per iteration."""
    measured: float | None
    """The least of all runs, in the report's unit; None if the variant was skipped."""
    spread: float
    """The largest of all runs minus the least, relative to the least."""
    skipped: str = ""
    """The reason why it was not measured; "" if it was."""
    remark: str = ""
    """The meaning of the difference between prediction and measurement; "" for none."""


class LessWorkReport(msgspec.Struct, frozen=True, kw_only=True):
    """Runs of a program without parts of a loop's work."""

    schema: Literal["incc-decrement"] = "incc-decrement"
    version: Literal[1] = 1
    command: tuple[str, ...]
    module: str
    """The program or library that the loop is in."""
    function_name: str
    loop: str
    """The loop's identity in its function."""
    source: SourceLocation | None
    core: str
    """The core of the predictions."""
    unit: Literal["cycles", "seconds"]
    """The measured quantity: cycles per iteration of the loop, by probes, or the program's processor time."""
    iterations: float | None
    """Iterations in one run; None without probes."""
    repetitions: int
    """Runs of each variant."""
    predicted: float
    """Predicted cycles per iteration with all of the work."""
    measured: float
    """The least of all runs of the unchanged program."""
    spread: float
    variants: tuple[LessWorkRun, ...]
    notes: tuple[str, ...]
