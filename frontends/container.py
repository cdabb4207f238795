"""What an object file, library or program contains, whatever its format."""

from __future__ import annotations

import msgspec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from incc.frontends.kernel import Inlined, Kernel, LeftOut, RegionKind, Relocation, SourceLocation
else:
    Protocol = object  # importing `typing` takes 4 ms


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A section: its name, address and bytes, whether it is code, the functions in it and its relocations.

    `functions` are (offset, name), ascending, offsets in bytes from the section's start; `relocations` ascend too.
    `alignment` in bytes: its own before it is linked, then that of a page. `debug_address`: where debug information has
    the first byte, which before it is linked is another address for each section. `chosen`: of the functions those
    that are looked at, by their offsets; None for all of the code.
    """

    name: str
    address: int
    data: bytes
    executable: bool
    functions: tuple[tuple[int, str], ...]
    relocations: tuple[Relocation, ...]
    alignment: int
    debug_address: int = 0
    chosen: frozenset[int] | None = None


class DebugInformation(Protocol):
    """What an object says of its source, by addresses as of `Section.debug_address`. `note`: what kept it from being
    read, "" as long as nothing did."""

    note: str

    def location(self, address: int) -> SourceLocation | None:
        """The place of an instruction in the source; None where it has none, or it is not known."""

    def inlined(self, addresses: Iterable[int]) -> dict[int, tuple[Inlined, ...]] | None:
        """The functions inlined at each of these addresses, outermost first. None where there is no debug information
        of functions."""


class Container(msgspec.Struct, frozen=True):
    """`isa` is the name of the instruction set of its code; `sections` are those that have bytes, by address and name.

    Before it is linked all sections are at address 0, except in Mach-O. `debug`: None where there is no debug
    information that can be read, or it was not asked for.
    """

    isa: str
    sections: tuple[Section, ...]
    debug: DebugInformation | None = None


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """Code between two places: of the section of that number, the bytes from `start` up to `end`. `kind` and `name` are
    those of the region that it becomes, "" for a name of function and offset."""

    section: int
    start: int
    end: int
    kind: RegionKind
    name: str


class CodeAddresses(msgspec.Struct, frozen=True):
    """Where the instructions of a kernel are, as debug information has it: those on the path that is analysed, in the
    order of execution, and all."""

    path: tuple[int, ...]
    body: tuple[int, ...]


class ContainerCode(msgspec.Struct, frozen=True):
    """Kernels of an object's code, the cycles that are left out, and of each loop where its instructions are."""

    kernels: list[Kernel]
    left_out: list[LeftOut]
    addresses: list[CodeAddresses]
