"""Messages about forms before any is read, and the processors on which they can be measured."""

from __future__ import annotations

import platform

from incc.frontends.isa import isa, of_target
from incc.measuring.harness import missing

FORMS = (
    "'vfmadd231pd ymm, ymm, ymm', 'addq $i, %rbx', 'imul r64, m': operands by kind (i, r, r64, m, xmm, k …), Intel's "
    "or AT&T's order; or a form's key (IMUL_R64_RM64/r)"
)
"""The description for the help, in argparse's form."""
NO_FORM = "name a form ('imul r64, r64'), or --all, or --match=GLOB, or --loops=FILE, or --memory"


def wrong_model(isa: str, name: str) -> str:
    """Return why a model of that instruction set is of no use here, or "" if it is."""
    if isa == "x86":
        return ""
    more = (
        "" if isa != "aarch64" else "; on an AArch64 processor, `incc-model make host` measures data-processing forms"
    )
    return f"{name} is no x86-64 core, of which alone single forms can be measured or simulated{more}"


def wrong_machine() -> str:
    """Return why nothing can be measured here, or "" if it can."""
    machine = platform.machine()
    return missing() or ("" if machine == "x86_64" else f"forms are measured on x86-64 only, not on {machine}")


def other_machine(isa_name: str) -> str:
    """Return why code of that instruction set does not run here, or "" if it does."""
    machine = platform.machine()
    return "" if of_target(machine) == isa_name else f"{isa(isa_name).title} code cannot be measured on {machine}"
