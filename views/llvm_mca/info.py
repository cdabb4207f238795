"""Instruction info: what the model says of each instruction by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incc.views.llvm_mca.columns import padded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.report import types as t
    from incc.views.llvm_mca.asked import Options

_LEGEND = ("#uOps", "Latency", "RThroughput", "MayLoad", "MayStore", "HasSideEffects (U)")
_BARRIERS = ("LoadBarrier", "StoreBarrier")


def lines(unit: t.Unit, kernel: t.Kernel, options: Options) -> Iterator[str]:
    """A legend of the columns, then a row for each instruction."""
    legend = [*_LEGEND, *(_BARRIERS if options.barriers else ()), *(("Encoding Size",) if options.encoding else ())]
    yield ""
    yield ""
    yield "Instruction Info:"
    for number, name in enumerate(legend, 1):
        yield f"[{number}]: {name}"
    yield ""
    heads = "".join(f"[{number}]    " for number, _ in enumerate(legend, 1))
    yield heads + (f"{'Encodings:':<30}" if options.encoding else "") + "Instructions:"
    for instruction in kernel.instructions:
        row = f" {instruction.issue_slots:<3}    {instruction.latency:<3}   {_throughput(kernel, instruction)}"
        row += _mark("*", instruction.may_load) + _mark("*", instruction.may_store)
        row += _mark("U", _fact(instruction, "side_effects"))
        if options.barriers:
            row += _mark("*", _fact(instruction, "load_barrier")) + _mark("*", _fact(instruction, "store_barrier"))
        if options.encoding:
            code = bytes.fromhex(_fact(instruction, "encoding") or "")
            row += f" {len(code):<2}    " + padded("".join(f"{byte:02x} " for byte in code), 30)
        yield row + instruction.text


def document(kernel: t.Kernel) -> dict[str, Any]:
    """The same for JSON."""
    return {
        "InstructionList": [
            {
                "Instruction": instruction.index,
                "Latency": instruction.latency,
                "NumMicroOpcodes": instruction.issue_slots,
                "RThroughput": _cycles(kernel, instruction),
                "hasUnmodeledSideEffects": bool(_fact(instruction, "side_effects")),
                "mayLoad": instruction.may_load,
                "mayStore": instruction.may_store,
            }
            for instruction in kernel.instructions
        ]
    }


def _cycles(kernel: t.Kernel, instruction: t.Instruction) -> float:
    """As the model says or ports and units tell; what needs none of them comes at the rate of issue, as in LLVM."""
    cycles = instruction.measured_rthroughput or instruction.rthroughput.cycles
    return cycles or instruction.issue_slots / (kernel.dispatch_width or 1)


def _throughput(kernel: t.Kernel, instruction: t.Instruction) -> str:
    return " -     " if instruction.unknown else f"{_cycles(kernel, instruction):.2f}".ljust(6) + " "


def _mark(letter: str, holds: bool) -> str:
    return f" {letter}     " if holds else "       "


def _fact(instruction: t.Instruction, name: str) -> Any:
    """A fact that not every report has."""
    facts: Any = instruction
    return facts.get(name)
