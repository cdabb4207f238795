"""The resources of the pressure views.

They are those of LLVM's scheduling model where incc's model says which of its ports and units they stand for, else
incc's own ports and units, numbered in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from incc.report import types as t


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """A column of the pressure view."""

    label: str
    """The resource's number, followed by that of the instance if it has several: 12.1."""
    name: str
    member: int
    """The number of the instance, -1 if the resource has only one."""
    cycles: float
    """Cycles per iteration."""
    instructions: Sequence[float]
    """Cycles per iteration of each instruction."""


def resources(kernel: t.KernelReport) -> list[Resource]:
    """Return the resources in the order of their columns. Neighbours of the same name are instances of one resource."""
    if kernel.llvm_resources is not None:
        rows = [(row.name, row.cycles, row.instructions) for row in kernel.llvm_resources]
    else:
        rows = [
            (_without_blanks(resource.title), resource.load, [i.pressure[n] for i in kernel.instructions])
            for n, resource in enumerate(kernel.resources)
        ]
    names = ["", *[name for name, _, _ in rows], ""]
    columns: list[Resource] = []
    number = member = -1
    for (name, cycles, instructions), previous, following in zip(rows, names, names[2:], strict=False):
        if name != previous:
            number, member = number + 1, -1
        if name in (previous, following):
            member += 1
        label = str(number) if member < 0 else f"{number}.{member}"
        columns.append(Resource(label=label, name=name, member=member, cycles=cycles, instructions=instructions))
    return columns


def llvm_name(kernel: t.KernelReport, index: int) -> str:
    """Return LLVM's name of one of incc's resources, incc's own where LLVM has none."""
    for row in kernel.llvm_resources or ():
        if row.resource == index:
            return row.name
    return _without_blanks(kernel.resources[index].title)


def _without_blanks(title: str) -> str:
    """Return a title as one word: programs that read the rows would take it for several columns."""
    return title.replace(" ", "_")
