"""The roles of loops that do the same work in words, and the advice that is withheld because of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from incc.frontends.kernel import KernelCode
from incc.report import types as t

if TYPE_CHECKING:
    from incc.core.roles import Role


def set_role(kernel: t.KernelReport, role: Role, main_id: str = "", main: KernelCode | None = None) -> None:
    """Set a kernel's role.

    `main` and `main_id` are the main loop that the role refers to.
    """
    kernel.role = t.RoleReport(
        name=role.name, of=main_id, instead=role.instead, basis=role.basis, text=_text(role, main)
    )


def withhold_not_vectorised(kernels: Sequence[t.KernelReport]) -> None:
    """Withhold the report that a loop is not vectorised if a vectorised loop of the function may be its main loop.

    That one has the same line or an unknown line, so this loop may be its remainder even if the role is unknown.
    """
    vectorised: dict[str, list[t.KernelReport]] = {}
    for kernel in kernels:
        if kernel.arithmetic.vector_bits and kernel.is_loop:
            vectorised.setdefault(kernel.function, []).append(kernel)
    for kernel in kernels:
        if any(
            kernel.source is None or other.source is None or other.source == kernel.source
            for other in vectorised.get(kernel.function, ())
        ):
            kernel.hints = [hint for hint in kernel.hints if hint.rule != "scalar-arithmetic"]


_ALONE = {"main": "main loop", "partial": "partial: the iterations that enter no loop inside"}
"""The roles that refer to no other loop."""


def _text(role: Role, main: KernelCode | None) -> str:
    if main is None:
        return _ALONE.get(role.name, role.name)
    region = main.region
    where = f"the loop {main.name}"
    if region:
        lines = "lines" if main.line_names is None else "asm"
        where = f"the loop in {lines} {region.first_line}-{region.last_line}"
    stores = any(access.store for instruction in main.instructions for access in instruction.memory)
    # Overlapping arrays matter only if something is stored.
    when = "few elements or overlapping arrays" if stores else "few elements"
    match role.name:
        case "remainder":
            also = f", and replaces it for {when}" if role.instead else ""
            return f"remainder: runs the iterations that {where} leaves over{also}"
        case "prologue":
            return f"prologue: runs before {where}"
        case "fallback":
            return f"fallback: replaces {where} for {'a stride of 1' if role.unit_stride else when}"
        case _:
            return f"outer loop: surrounds {where} and runs alone if that loop has no iterations"
