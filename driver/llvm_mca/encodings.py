"""LLVM's text and bytes of instructions that were read without an assembler."""

from __future__ import annotations

from msgspec.structs import replace

from incc.frontends.isa import LlvmDialect, isa
from incc.report import types as t


def fill_encodings(report: t.AnalysisReport, dialect: LlvmDialect | None = None) -> list[str]:
    """Set the encodings that a report lacks, and return notes on those that stay unknown.

    `dialect`: also write the instructions as LLVM does.
    """
    notes: list[str] = []
    for unit in report.units:
        for name in dict.fromkeys(kernel.isa for kernel in unit.kernels):
            kernels = [kernel for kernel in unit.kernels if kernel.isa == name]
            statements = list(
                dict.fromkeys(i.text for kernel in kernels for i in kernel.instructions if not i.encoding)
            )
            wanted = dialect or LlvmDialect()
            rows = dict(zip(statements, isa(name).llvm_rows(statements, wanted) if statements else (), strict=False))
            for kernel in kernels:
                for number, i in enumerate(kernel.instructions):
                    if i.text in rows and not i.encoding:
                        row = rows[i.text]
                        text = row.text if dialect and row.text else i.text
                        kernel.instructions[number] = replace(i, encoding=row.code.hex(), text=text)
            if statements and not rows:
                notes.append(f"encodings are unknown without an assembler: install clang or {name}-linux-gnu-as")
    return list(dict.fromkeys(notes))
