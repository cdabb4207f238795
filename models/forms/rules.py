"""What models of each instruction set must know of its forms, behind one protocol.

The modules forms_x86 and forms_aarch64 have it; nothing else here asks which instruction set a model is of.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


class FormRules(Protocol):
    """The rules of one instruction set.

    `TITLE`: what it is called; `RESULTS_ARE_COMPUTED`: a µop that is not for memory alone makes every result that takes
    cycles.
    """

    TITLE: str
    RESULTS_ARE_COMPUTED: bool

    def findings(self, form: str, entries: Mapping[tuple[str, ...], Mapping[str, Any]]) -> list[str]:
        """What is wrong with a form by itself: one that the decoder never gives, latencies of no operand."""

    def needs_latency(self, form: str) -> bool:
        """Whether a form surely has a result that depends on something."""

    def is_called(self, form: str, mnemonic: str) -> bool:
        """Whether the form is of the instruction that a user calls so, in any case and syntax."""

    def mnemonics(self) -> set[str]:
        """The names by which `is_called` knows forms, in lower case, as far as they are not the first word of a key."""

    def dependences(self, form: str) -> list[tuple[str, str]]:
        """(to, from) of all pairs of operands that a latency is needed for."""


MODULES = {"x86": "x86", "aarch64": "aarch64"}
"""The modules of this folder by the name of their instruction set, as `isa` of a model says it."""


def rules_of(isa: str) -> FormRules:
    """The rules of an instruction set. Raises KeyError for one that no model can be of."""
    module: FormRules = importlib.import_module(f"incc.models.forms.{MODULES[isa]}")
    return module
