"""The cycles of a kernel without each part of its work, in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from incc.core.analysis import KernelResult
from incc.core.decrement import LessWork, decrements
from incc.core.figures import DECIMALS
from incc.frontends.kernel import KernelCode
from incc.report import types as t
from incc.report.wording import numbered, places

_OPERAND = re.compile(r"[-+\w.$@]*\([^()]*\)(?:\{[^}]*\})?|(?:[\w:]+ )?(?:\w+ ptr )?(?:\w+:)?\[[^\]]*\](?:, #-?\w+|!)?")
"""A memory operand in AT&T's, Intel's or Arm's syntax."""


def decrement_reports(result: KernelResult) -> list[t.DecrementReport]:
    """Return the simulations without each part of the work, in the order of `decrements`."""
    return [
        t.DecrementReport(
            kind=each.work.kind,
            instructions=list(each.work.left_out),
            kept=list(each.work.kept),
            text=work_text(result.kernel, each.work),
            cycles=float(each.cycles),
            exact=str(each.cycles),
            gained=round(float(result.cycles - each.cycles), DECIMALS),
        )
        for each in decrements(result)
    ]


def work_text(kernel: KernelCode, work: LessWork, lines: Mapping[int, int] = MappingProxyType({})) -> str:
    """Return the work in words, as in “the store of (%rdi,%rax,8) (line 12)”, with what stays of it.

    `lines` are those of the source by the indices of instructions, for machine code.
    """

    def where_are(instructions: Sequence[int]) -> str:
        if lines and all(i in lines for i in instructions):
            return numbered("line", sorted({lines[i] for i in instructions}))
        return places(kernel, instructions)

    stays = f", except {where_are(work.kept)}" if work.kept and work.left_out else ""
    return f"{_all_of(kernel, work, where_are)}{stays}"


def _all_of(kernel: KernelCode, work: LessWork, where_are: Callable[[Sequence[int]], str]) -> str:
    accesses = sorted((*work.left_out, *work.kept))
    where = where_are(accesses)
    match work.kind:
        case "load" | "store":
            instruction = kernel.instructions[accesses[0]]
            operand = _OPERAND.search(instruction.text)
            verb = "load and store" if any(access.load and access.store for access in instruction.memory) else work.kind
            return f"the {verb} of {operand[0]} ({where})" if operand else f"{instruction.text} ({where})"
        case "array":
            return f"the {len(accesses)} accesses to one array ({where})"
        case "loads" | "stores":
            return f"all {len(accesses)} {work.kind}"
        case "memory":
            return f"all {len(accesses)} accesses to memory"
        case "arithmetic":
            return "floating-point arithmetic"
        case _:
            return "anything but floating-point arithmetic and branches"
