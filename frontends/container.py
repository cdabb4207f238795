"""The contents of an object file, library or program, whatever its format."""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from typing import Protocol

import msgspec

from incc.frontends.kernel import Inlined, KernelCode, LeftOut, RegionKind, Relocation, SourceLocation, Variable


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A section with contents."""

    name: str
    address: int
    """0 before linking, except in Mach-O."""
    data: bytes | memoryview
    executable: bool
    functions: tuple[tuple[int, str], ...]
    """Offset in bytes from the section's start and name, ascending."""
    relocations: tuple[Relocation, ...] = ()
    """Ascending by offset."""
    data_spans: tuple[tuple[int, int], ...] = ()
    """Begins and ends of data inside of code, as offsets, ascending."""
    alignment: int
    """In bytes: the section's own before linking, then that of a page."""
    debug_address: int = 0
    """The address that debug information has for the first byte."""
    cuts: tuple[int, ...] = ()
    """Offsets in code without symbols at which functions begin, or seem to, or at which long code is divided."""
    chosen: frozenset[int] | None = None
    """The offsets of the functions to analyse, among those of `functions` and `cuts`; None for all code."""


def debug_address(number: int) -> int:
    """Return `Section.debug_address` for the section of this number of an object that is not linked.

    Sections are far from each other, so that an address tells the section.
    """
    return (number + 1) << 40


class DebugInformation(Protocol):
    """The source of an object's code, by addresses as of `Section.debug_address`."""

    note: str
    """The reason why some of it could not be read, "" if all could."""

    def location(self, address: int) -> SourceLocation | None:
        """Return the place of an instruction in the source, None if it has none or it is unknown."""

    def inlined(self, addresses: Iterable[int]) -> dict[int, tuple[Inlined, ...]] | None:
        """Return the functions inlined at each of these addresses, outermost first.

        The result is None if there is no debug information of functions.
        """

    def variables(self, addresses: Iterable[int]) -> dict[int, tuple[Variable, ...]]:
        """Return the variables and parameters of the functions at each of these addresses, those of outer scopes first.

        Addresses without variables are left out.
        """


class Container(msgspec.Struct, frozen=True):
    """The contents of a file."""

    isa: str
    """The name of the code's instruction set."""
    sections: tuple[Section, ...]
    """Sections with contents, by address and name."""
    debug: DebugInformation | None = None
    """None if there is none that can be read, or it was not requested."""
    mapped: mmap.mmap | None = None
    """The file if it is large and therefore mapped into memory."""


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """Code between two places of a section."""

    section: int
    """The index of the section in `Container.sections`."""
    start: int
    """The offset of the first byte."""
    end: int
    """The offset after the last byte."""
    kind: RegionKind
    name: str
    """The name of the region, "" to name it by function and offset."""


class CodeAddresses(msgspec.Struct, frozen=True):
    """The addresses of a kernel's instructions, as of `Section.debug_address`."""

    path: tuple[int, ...]
    """Instructions on the path that is analysed, in the order of execution."""
    body: tuple[int, ...]
    """All instructions."""


class ContainerCode(msgspec.Struct, frozen=True):
    """The kernels of an object's code."""

    kernels: list[KernelCode]
    left_out: list[LeftOut]
    """Cycles of the control flow that are not analysed."""
    addresses: list[CodeAddresses]
    """The places of each kernel's instructions."""
