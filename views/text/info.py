"""llvm-mca's table of instructions: µops, latency, reciprocal throughput, loads and stores, and remarks."""

from __future__ import annotations

from collections.abc import Iterator

from incc.report import types as t
from incc.views.layout import Layout


def lines(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield a row for each instruction."""
    yield "Instruction Info:"
    yield "[1]: #uOps"
    yield "[2]: Latency in cycles"
    yield "[3]: RThroughput in cycles"
    yield "[4]: MayLoad"
    yield "[5]: MayStore"
    yield from layout.wrap(f"[6]: Remarks{_legend(kernel)}", indent="     ")
    yield ""
    yield "[1]    [2]    [3]    [4]    [5]    [6]    Instructions:"
    for instruction in kernel.instructions:
        numbers = (f"{instruction.issue_slots}", f"{instruction.latency}", f"{instruction.rthroughput.cycles:.2f}")
        if instruction.unknown:
            numbers = ("X", "X", "X")
        loads, stores = ("*" if flag else "" for flag in (instruction.loads, instruction.stores))
        row = f" {numbers[0]:<6} {numbers[1]:<5} {numbers[2]:<7} {loads:<6} {stores:<6} {instruction.remarks:<6}"
        yield row + layout.cut(instruction.text, len(row))


_REMARKS = {
    "X": "not in the model, excluded from all totals",
    "F": "macro-fused with the previous one",
    "E": "move eliminated",
    "Z": "zero idiom",
    "D": "figures derived from another form",
    "L": "lacking on this core, figures of another",
}


def _legend(kernel: t.KernelReport) -> str:
    """Return the meaning of the remarks that occur."""
    used = "".join(instruction.remarks for instruction in kernel.instructions)
    words = [f"{letter} {meaning}" for letter, meaning in _REMARKS.items() if letter in used]
    return f" ({'; '.join(words)})" if words else ""
