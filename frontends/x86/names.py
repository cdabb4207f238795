"""The names of instructions: in Intel's syntax, and in AT&T's with and without the suffix of the operands' size.

As iced-x86's formatters write them, so that there is no list to fall behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import iced_x86 as iced

# Spellings of conditions: iced-x86 has up to three names for each, and a formatter uses one.
_CONDITIONS = ("b", "ae", "e", "ne", "be", "a", "p", "np", "l", "ge", "le", "g")
_SPELLINGS = 3
_SUFFIXES = {"b": "R8", "w": "R16", "l": "R32", "q": "R64"}


@cache
def _formatters() -> tuple[Any, ...]:
    formatters = []
    for syntax in (iced.FormatterSyntax.GAS, iced.FormatterSyntax.INTEL):
        for with_suffix in (False, True) if syntax == iced.FormatterSyntax.GAS else (False,):
            for spelling in range(_SPELLINGS):
                formatter = iced.Formatter(syntax)
                formatter.gas_show_mnemonic_size_suffix = with_suffix
                for condition in _CONDITIONS:
                    names = [v for k, v in vars(getattr(iced, f"CC_{condition}")).items() if k.isupper()]
                    setattr(formatter, f"cc_{condition}", sorted(names)[min(spelling, len(names) - 1)])
                formatters.append(formatter)
    return tuple(formatters)


def names_of(instruction: Any, operands: Sequence[str]) -> frozenset[str]:
    """Return all names of an instruction of iced-x86's, in lower case. `operands` are as in `Shape.operands`.

    Where the formatter has no suffix for an instruction with a general-purpose register (cvttsd2si), assemblers accept
    that of the register's size.
    """
    names = {formatter.format_mnemonic(instruction).lower() for formatter in _formatters()}
    if len(names) == 1:
        names |= {f"{name}{suffix}" for name in tuple(names) for suffix, size in _SUFFIXES.items() if size in operands}
    return frozenset(names)
