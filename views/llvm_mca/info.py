"""Instruction info: the model's figures for each instruction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from incc.report import types as t
from incc.views.llvm_mca.columns import padded
from incc.views.llvm_mca.requested import Views
from incc.views.llvm_mca.resources import resources

_LEGEND = ("#uOps", "Latency", "RThroughput", "MayLoad", "MayStore", "HasSideEffects (U)")
_BARRIERS = ("LoadBarrier", "StoreBarrier")


def lines(kernel: t.KernelReport, views: Views) -> Iterator[str]:
    """Yield a legend of the columns, then a row for each instruction."""
    if views.full_tables:
        yield from _full_lines(kernel, views)
        return
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
            row += f" {len(code) or instruction.bytes:<2}    " + padded("".join(f"{byte:02x} " for byte in code), 30)
        yield row + instruction.text


_FULL = ("Bypass Latency", "Resources", "LLVM Opcode Name")
_COLUMNS = (0, 7, 14, 21, 28, 35, 42, 49, 106)
"""The columns in which the fields of full tables begin."""


def _full_lines(kernel: t.KernelReport, views: Views) -> Iterator[str]:
    """Yield LLVM 22's full instruction tables: the resources, then rows with three more fields.

    The bypass latency is the latency, the resources are the ports and units of the model's figures, and the name of the
    opcode is that of incc's form.
    """
    yield "Resources:"
    names = [resource.name for resource in resources(kernel)]
    for number, name in enumerate(dict.fromkeys(names)):
        yield padded(f"[{number}]", 6) + f"- {name}:{names.count(name)}"
    yield from ("", "")
    fields = [*_LEGEND, *_FULL, *(_BARRIERS if views.barriers else ())]
    columns = [*_COLUMNS, *((113, 120) if views.barriers else ())]
    ends = ["Instructions:"]
    last = columns[-1]
    if views.encoding:
        fields.append("Encoding Size")
        ends.insert(0, "Encodings:")
        columns += [last + 7, last + 14, last + 44]
    else:
        columns.append(last + 27)
    yield "Instruction Info:"
    for number, name in enumerate(fields, 1):
        yield f"[{number}]: {name}"
    yield ""
    yield _at(columns, [*[f"[{number}]" for number, _ in enumerate(fields, 1)], *ends])
    for i in kernel.instructions:
        cells = [f" {i.issue_slots}", f" {i.latency}", _throughput(kernel, i).rstrip()]
        cells += [_mark("*", i.may_load), _mark("*", i.may_store), _mark("U", i.side_effects)]
        cells += [f" {i.latency}", f" {_used(i.ports)}", f" {i.form}"]
        if views.barriers:
            cells += [_mark("*", i.load_barrier), _mark("*", i.store_barrier)]
        if views.encoding:
            code = bytes.fromhex(i.encoding)
            cells += [f" {len(code) or i.bytes}", code.hex(" ")]
        yield _at(columns, [*[cell.rstrip() for cell in cells], f"{i.text}\t"])


def _at(columns: Sequence[int], cells: Sequence[str]) -> str:
    """Return a line with each cell in its column, or one blank after the previous one."""
    line = ""
    for column, cell in zip(columns, cells, strict=True):
        line = (padded(line, column) if column else "") + cell
    return line


def _used(ports: str) -> str:
    """Return the ports and units of an instruction as LLVM writes resources: `p01,p23[2]`, the cycles if not one."""
    terms = [term.partition("*") for term in ports.split("+") if term]
    return ",".join(name if count == "1" else f"{name}[{count}]" for count, _, name in terms)


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
