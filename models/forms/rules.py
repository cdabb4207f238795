"""The rules for forms that models need from each instruction set, behind one protocol.

The modules `x86` and `aarch64` of this package implement it; nothing else in models/ depends on the instruction set.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

INSTRUCTION_SETS = ("x86", "aarch64")
"""The instruction sets that a model can be for, by its `isa`; each is a module of this package."""


class FormRules(Protocol):
    """The rules of one instruction set."""

    TITLE: str
    """The name of the instruction set."""
    HAS_SHAPES: bool
    """True if the kinds of a form's operands are known (`shapes.py`)."""
    RESULTS_ARE_COMPUTED: bool
    """True if every result that takes cycles is made by a µop that is not for memory alone."""

    def findings(self, form: str, entries: Mapping[tuple[str, ...], Mapping[str, Any]]) -> list[str]:
        """Return the errors of a form by itself: the decoder never produces it, or a latency names no operand."""

    def needs_latency(self, form: str) -> bool:
        """Return True if a form is known to have a result that depends on an input."""

    def is_called(self, form: str, mnemonic: str) -> bool:
        """Return True if users call the form's instruction by this mnemonic, in any case and syntax."""

    def spelled(self, form: str, conditions: Sequence[str] = ()) -> str:
        """Return a form as people spell it: "vaddpd ymm, ymm, m256"; the key if it is no form of the decoder's."""

    def encoding(self, form: str) -> str:
        """Return the encoding of a form if others have the same operands ("EVEX"), else ""."""

    def mnemonics(self) -> set[str]:
        """Return the names that `is_called` accepts, in lower case, unless they are the first word of a key."""

    def dependences(self, form: str) -> list[tuple[str, str]]:
        """Return (to, from) of all pairs of operands that need a latency."""


def rules_of(isa: str) -> FormRules:
    """Return the rules of one of INSTRUCTION_SETS. Raises KeyError for another name."""
    if isa not in INSTRUCTION_SETS:
        raise KeyError(isa)
    module: FormRules = importlib.import_module(f"incc.models.forms.{isa}")
    return module
