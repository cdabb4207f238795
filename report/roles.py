"""What part each loop has among those that do the same work, in words, and what is not advised because of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.report import types as t

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.core.roles import Role
    from incc.frontends.kernel import Kernel

# What holds whatever a loop is for: something is missing in its analysis.
_ALWAYS = frozenset(("unknown-instructions", "refused-statements"))


def is_side(role: t.Role) -> bool:
    """Whether nothing that holds for such a loop is worth advising to the author of the source: it is no main loop."""
    return role.name not in ("main", "")


def may_replace(role: t.Role) -> bool:
    """Whether a loop runs instead of its main loop where that cannot run, as where arrays may overlap."""
    return role.name == "fallback" or role.instead


def set_role(kernel: t.Kernel, role: Role, main_id: str = "", main: Kernel | None = None) -> None:
    """Give a kernel its role, and take back what is not to be advised to the author of a loop that the compiler added.

    `main`, `main_id`: the loop that the role is beside.
    """
    kernel.role = t.Role(
        name=role.name,
        of=main_id,
        instead=role.instead,
        basis=role.basis,
        text=_text(role, main),
    )
    if is_side(kernel.role):
        kernel.hints = [hint for hint in kernel.hints if hint.rule in _ALWAYS]


def withhold_not_vectorised(kernels: Sequence[t.Kernel]) -> None:
    """Take back that a loop is not vectorised where a loop of the same function is that comes from the same line, or
    from nobody knows which: this one may be what that leaves over, also where its role could not be told."""
    vectorised = [kernel for kernel in kernels if kernel.arithmetic.vector_bits and kernel.is_loop]
    for kernel in kernels:
        if any(
            other.function == kernel.function
            and (kernel.source is None or other.source is None or other.source == kernel.source)
            for other in vectorised
        ):
            kernel.hints = [hint for hint in kernel.hints if hint.rule != "scalar-arithmetic"]


def _text(role: Role, main: Kernel | None) -> str:
    if main is None:
        return "main loop" if role.name == "main" else role.name
    where = _where(main)
    stores = any(access.store for instruction in main.instructions for access in instruction.memory)
    # Only where something is stored does it matter whether arrays overlap.
    when = "few elements, or arrays that overlap" if stores else "few elements"
    if role.name == "remainder":
        also = f", and runs instead of it where that cannot run ({when})"
        return f"remainder: runs what {where} leaves over" + also * role.instead
    if role.name == "prologue":
        return f"prologue: runs before {where}"
    if role.name == "fallback":
        return f"fallback: runs instead of {where}, where that cannot run ({when})"
    return f"outer loop: what is left of the loop around {where} where that has nothing to do"


def _where(main: Kernel) -> str:
    region = main.region
    return f"the loop in lines {region.first_line}-{region.last_line}" if region else f"the loop {main.name}"
