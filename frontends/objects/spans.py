"""Code of an object that the user chose, instead of its loops: between byte markers, or between two addresses."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from incc.frontends.asm.regions import paired
from incc.frontends.container import Container, Section, Span
from incc.frontends.isa import isa
from incc.frontends.kernel import LeftOut


class Addresses(msgspec.Struct, frozen=True):
    """A range of addresses in a linked file, or in a section of an object."""

    first: int
    end: int
    """The address after the last byte."""

    def __str__(self) -> str:
        return f"{self.first:#x}-{self.end:#x}"


def marked_spans(container: Container) -> tuple[list[Span], list[LeftOut]]:
    """Return the code between IACA's markers, which are instructions, and the markers without a counterpart."""
    begin, end = isa(container.isa).markers.code
    spans: list[Span] = []
    left_out: list[LeftOut] = []
    for number, section in enumerate(container.sections):
        marks = _marks(section, begin, end) if section.executable else ()
        for first, last, problem in paired(marks, "IACA begin marker", "IACA end marker"):
            if problem:
                name = next((name for start, name in reversed(section.functions) if start <= first), "")
                left_out.append(LeftOut(function=name, reason=f"{problem} ({section.name}+{first:#x})"))
            else:
                spans.append(Span(section=number, start=first + len(begin), end=last, kind="marker", name=""))
    return spans, left_out


def _marks(section: Section, begin: bytes, end: bytes) -> list[tuple[int, bool, str]]:
    """Return the offset of each marker, in order, with True for the begin of a region, and its place."""
    marks = []
    for mark in (begin, end):
        data = bytes(section.data)
        at = data.find(mark)
        while at >= 0:
            marks.append((at, mark is begin, f"at {section.name}+{at:#x}"))
            at = data.find(mark, at + len(mark))
    return sorted(marks)


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
            left_out.append(LeftOut(reason=f"{wanted} is not within a section of code ({code})"))
    return spans, left_out
