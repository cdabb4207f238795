"""Instruction info: the model's figures for each instruction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from incc.report import types as t
from incc.views.llvm_mca.columns import padded
from incc.views.llvm_mca.requested import Views

_LEGEND = ("#uOps", "Latency", "RThroughput", "MayLoad", "MayStore", "HasSideEffects (U)")
_BARRIERS = ("LoadBarrier", "StoreBarrier")


def lines(kernel: t.KernelReport, views: Views) -> Iterator[str]:
    """Yield a legend of the columns, then a row for each instruction."""
    legend = [*_LEGEND, *(_BARRIERS if views.barriers else ()), *(("Encoding Size",) if views.encoding else ())]
    yield "Instruction Info:"
    for number, name in enumerate(legend, 1):
        yield f"[{number}]: {name}"
    yield ""
    heads = "".join(f"[{number}]    " for number, _ in enumerate(legend, 1))
    yield heads + (f"{'Encodings:':<30}" if views.encoding else "") + "Instructions:"
    for instruction in kernel.instructions:
        row = f" {instruction.issue_slots:<3}    {instruction.latency:<3}   {_throughput(kernel, instruction)}"
        row += _mark("*", instruction.may_load) + _mark("*", instruction.may_store)
        row += _mark("U", instruction.side_effects)
        if views.barriers:
            row += _mark("*", instruction.load_barrier) + _mark("*", instruction.store_barrier)
        if views.encoding:
            code = bytes.fromhex(instruction.encoding)
            row += f" {len(code):<2}    " + padded("".join(f"{byte:02x} " for byte in code), 30)
        yield row + instruction.text


def document(kernel: t.KernelReport) -> dict[str, Any]:
    """Return the view for JSON."""
    return {
        "InstructionList": [
            {
                "Instruction": instruction.index,
                "Latency": instruction.latency,
                "NumMicroOpcodes": instruction.issue_slots,
                "RThroughput": _cycles(kernel, instruction),
                "hasUnmodeledSideEffects": instruction.side_effects,
                "mayLoad": instruction.may_load,
                "mayStore": instruction.may_store,
            }
            for instruction in kernel.instructions
        ]
    }


def _cycles(kernel: t.KernelReport, instruction: t.InstructionReport) -> float:
    """Return the reciprocal throughput: measured, else by ports and units, else, as in LLVM, by the issue width."""
    cycles = instruction.measured_rthroughput or instruction.rthroughput.cycles
    return cycles or instruction.issue_slots / (kernel.dispatch_width or 1)


def _throughput(kernel: t.KernelReport, instruction: t.InstructionReport) -> str:
    return " -     " if instruction.unknown else f"{_cycles(kernel, instruction):.2f}".ljust(6) + " "


def _mark(letter: str, holds: bool) -> str:
    return f" {letter}     " if holds else "       "
