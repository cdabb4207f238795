"""What a comparison is made of: the kernels of each side, as far as a comparison needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from incc.compare import types as c
    from incc.report import types as t


class InputError(Exception):
    """An input that cannot be compared; the message names it, says where in it and why."""


class Entry:
    """A kernel of a side.

    `unit`: its translation unit, without kernels, ways and graphs. `kernel`: as in a report, without what a comparison
    does not look at (LEFT_OUT). `load`: its instructions, which are kept packed, for there are many; use
    `instructions()`.
    """

    __slots__ = ("_load", "kernel", "unit")

    def __init__(self, unit: t.Unit, kernel: t.Kernel, load: Callable[[], list[t.Instruction]]) -> None:
        self.unit = unit
        self.kernel = kernel
        self._load = load

    def instructions(self) -> list[t.Instruction]:
        """In the order of execution; unpacked anew at each call."""
        return self._load()


LEFT_OUT = frozenset(
    ("instructions", "timeline", "waits", "dependencies", "alignments", "cold", "mispredictions", "llvm_resources")
)
"""Fields of a report's kernel that entries have not."""


class Side(msgspec.Struct, frozen=True):
    """One of the builds to compare: `info` says how it came about, `entries` are its kernels in the order of the text
    and of units."""

    info: c.Side
    entries: Sequence[Entry]


def in_memory(report: t.Report, label: str, named: str = "") -> Side:
    """A side of a report that is there already."""
    entries = [_entry(unit, kernel) for unit in report["units"] for kernel in unit["kernels"]]
    return Side(side_info(entries, label, named or label), entries)


def side_info(entries: Sequence[Entry], label: str, named: str, notes: Sequence[str] = ()) -> c.Side:
    """What there is to say of a side with these kernels."""
    compilers: dict[str, None] = {}
    models: dict[tuple[str, str], c.ComparedModel] = {}
    for entry in entries:
        unit = entry.unit
        if unit["compiler"]:
            compilers[f"{unit['compiler']} {unit['compiler_version']}".strip()] = None
        model = unit["model"]
        models[model["name"], model["version"]] = {k: model[k] for k in ("name", "title", "version")}  # type: ignore
    notes = [*notes, *_not_counted(entries)]
    return {
        "label": label,
        "input": named,
        "compilers": list(compilers),
        "models": list(models.values()),
        "kernels": len(entries),
        "variant": None,
        "problem": "",
        "notes": notes,
    }


NOT_COUNTED = "Not counted: "
"""What such a sentence begins with."""


def _not_counted(entries: Sequence[Entry]) -> list[str]:
    """Sentences on what is in no figure of the kernels: statements that could not be decoded, and instructions that the
    model lacks; each with the place of the first."""
    refused = [(entry, each) for entry in entries for each in entry.kernel["refused"]]
    unknown = [(entry, each) for entry in entries for each in entry.kernel["unknown_instructions"]]
    found = []
    if refused:
        entry, first = refused[0]
        what = f"{len(refused)} statements" if len(refused) > 1 else "a statement"
        found.append(
            f"{NOT_COUNTED}{what} that could not be decoded, {_place(entry, first['line'])}{first['message']}."
        )
    if unknown:
        entry, instruction = unknown[0]
        what = f"{len(unknown)} instructions" if len(unknown) > 1 else "an instruction"
        text = " ".join(instruction["text"].split())
        found.append(f"{NOT_COUNTED}{what} that the model lacks, {_place(entry, instruction['line'])}{text}.")
    return found


def _place(entry: Entry, line: int) -> str:
    return f"{entry.unit['assembly_file']}:{line}: " if line else ""


def _entry(unit: t.Unit, kernel: t.Kernel) -> Entry:
    def load(instructions: list[t.Instruction] = kernel["instructions"]) -> list[t.Instruction]:
        return instructions

    kept: Any = {name: value for name, value in kernel.items() if name not in LEFT_OUT}
    return Entry(unit, kept, load)
