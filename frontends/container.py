"""What an object file, library or program contains, whatever its format."""

from __future__ import annotations

from incc.frontends.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from incc.frontends.kernel import Relocation


class Section(NamedTuple):
    """A section: its name, address and bytes, whether it is code, the functions in it and its relocations.

    `functions` are (offset, name), ascending, offsets in bytes from the section's start; `relocations` ascend too.
    `alignment` in bytes: its own before it is linked, then that of a page.
    """

    name: str
    address: int
    data: bytes
    executable: bool
    functions: tuple[tuple[int, str], ...]
    relocations: tuple[Relocation, ...]
    alignment: int


class Container(NamedTuple):
    """`isa` is the name of the instruction set of its code; `sections` are those that have bytes, by address and name.

    Before it is linked all sections are at address 0, except in Mach-O.
    """

    isa: str
    sections: tuple[Section, ...]
