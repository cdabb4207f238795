"""The resources whose use is shown: LLVM's of this core where the model knows how they go together with ours, else
our own ports and units, numbered in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.report import types as t


class Resource:
    """One unit. `label`: its number, with that of the instance where the resource has several, 12.1. `member`: the
    number of the instance, -1 for an only one. Cycles are those of an iteration, in all and of each instruction."""

    __slots__ = ("cycles", "instructions", "label", "member", "name")

    def __init__(self, label: str, name: str, member: int, cycles: float, instructions: Sequence[float]) -> None:
        self.label = label
        self.name = name
        self.member = member
        self.cycles = cycles
        self.instructions = instructions


def resources(kernel: t.Kernel) -> list[Resource]:
    """In the order of their columns. Neighbours of the same name are the instances of one resource."""
    report: Any = kernel
    rows = report["llvm_resources"]
    if rows is None:
        rows = [
            {
                "name": _word(resource.title),
                "cycles": resource.load,
                "instructions": [instruction.pressure[n] for instruction in kernel.instructions],
            }
            for n, resource in enumerate(kernel.resources)
        ]
    found: list[Resource] = []
    number = member = -1
    for place, row in enumerate(rows):
        first = not place or rows[place - 1]["name"] != row["name"]
        several = not first or (place + 1 < len(rows) and rows[place + 1]["name"] == row["name"])
        number += first
        member = (0 if first else member + 1) if several else -1
        label = f"{number}.{member}" if several else f"{number}"
        found.append(Resource(label, row["name"], member, row["cycles"], row["instructions"]))
    return found


def called(kernel: t.Kernel, index: int) -> str:
    """What llvm-mca calls one of our resources: where LLVM's rows say which `resource` of ours they are, by the first
    that is this one."""
    report: Any = kernel
    for row in report["llvm_resources"] or ():
        if row["resource"] == index:
            return str(row["name"])
    return _word(kernel.resources[index].title)


def _word(title: str) -> str:
    """A name without blanks, as LLVM's are: what reads a row may take it for several columns."""
    return title.replace(" ", "_")
