"""Code of an object that the user chose, instead of its loops: between byte markers, or between two addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from incc.frontends.container import Span
from incc.frontends.isa import isa
from incc.frontends.kernel import LeftOut

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.frontends.container import Container, Section


class Addresses(msgspec.Struct, frozen=True):
    """A range of addresses in a linked file, or in a section of an object."""

    first: int
    end: int
    """The address behind the last byte."""

    def __str__(self) -> str:
        return f"{self.first:#x}-{self.end:#x}"


def marked_spans(container: Container) -> tuple[list[Span], list[LeftOut]]:
    """Return the code between IACA's markers, which are instructions, and the markers without a counterpart."""
    begin, end = isa(container.isa).markers.code
    spans: list[Span] = []
    left_out: list[LeftOut] = []
    for number, section in enumerate(container.sections):
        if not section.executable:
            continue
        start = -1
        for at, is_begin in _marks(section, begin, end):
            where = f"{section.name}+{at:#x}"
            if is_begin:
                if start >= 0:
                    left_out.append(_lone(section, start - len(begin), f"IACA begin marker, and again at {where}"))
                start = at + len(begin)
            elif start < 0:
                left_out.append(_lone(section, at, "IACA end marker without begin marker"))
            else:
                spans.append(Span(section=number, start=start, end=at, kind="marker", name=""))
                start = -1
        if start >= 0:
            left_out.append(_lone(section, start - len(begin), "IACA begin marker without end marker"))
    return spans, left_out


def _marks(section: Section, begin: bytes, end: bytes) -> Iterator[tuple[int, bool]]:
    """Yield the offset of each marker, in order, and True for the begin of a region."""
    marks = []
    for mark in (begin, end):
        at = section.data.find(mark)
        while at >= 0:
            marks.append((at, mark is begin))
            at = section.data.find(mark, at + len(mark))
    yield from sorted(marks)


def _lone(section: Section, at: int, reason: str) -> LeftOut:
    name = next((name for start, name in reversed(section.functions) if start <= at), "")
    return LeftOut(first_line=0, last_line=0, function=name, label="", reason=f"{reason} ({section.name}+{at:#x})")


def address_spans(container: Container, ranges: Sequence[Addresses]) -> tuple[list[Span], list[LeftOut]]:
    """Return the code at these addresses, and the ranges that are in no section of code.

    The sections of an object all begin at address 0; a range is looked up in the first one that is long enough.
    """
    spans: list[Span] = []
    left_out: list[LeftOut] = []
    for wanted in ranges:
        for number, section in enumerate(container.sections):
            start = section.address
            if section.executable and start <= wanted.first and wanted.end <= start + len(section.data):
                spans.append(
                    Span(section=number, start=wanted.first - start, end=wanted.end - start, kind="address", name="")
                )
                break
        else:
            code = ", ".join(
                f"{s.name} at {s.address:#x}-{s.address + len(s.data):#x}" for s in container.sections if s.executable
            )
            left_out.append(
                LeftOut(
                    first_line=0,
                    last_line=0,
                    function="",
                    label="",
                    reason=f"{wanted} is not within a section of code ({code})",
                )
            )
    return spans, left_out
