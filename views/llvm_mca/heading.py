"""What stands above a region that markers begin: `[0] Code Region - name`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.views.llvm_mca.asked import Heading


def lines(heading: Heading | None) -> Iterator[str]:
    """Nothing where the whole file is the region."""
    if heading is not None and heading.number >= 0:
        yield ""
        yield f"[{heading.number}] Code Region" + (f" - {heading.name}" if heading.name else "")
        yield ""
