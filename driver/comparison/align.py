"""Two kernels' instructions side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.driver.comparison import types as c
    from incc.driver.report import types as t


def align(a: Sequence[t.Instruction], b: Sequence[t.Instruction]) -> list[c.Aligned]:
    """The rows, each with an instruction of a, of b, or both; each instruction is in one of them."""
    raise NotImplementedError
