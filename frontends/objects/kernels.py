"""Kernels of object files, libraries and programs, for any instruction set."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from incc.frontends.asm.places import UserPlace
from incc.frontends.container import CodeAddresses, Container, ContainerCode, DebugInformation, Span
from incc.frontends.isa import DecodeError, isa
from incc.frontends.kernel import KernelCode, LeftOut, SourceLocation
from incc.frontends.objects.read import ObjectError, read
from incc.frontends.unit import IncludeFolders

if TYPE_CHECKING:
    from incc.frontends.objects.spans import Addresses


class KernelSource(msgspec.Struct, frozen=True):
    """The source of a kernel of an object."""

    lines: dict[int, SourceLocation]
    """The place of each line of the kernel's region."""
    place: UserPlace | None
    """None without debug information of functions."""
    debug: DebugInformation
    address: int
    """The address of the first instruction, as of `Section.debug_address`."""


class ObjectKernels(msgspec.Struct, frozen=True, kw_only=True):
    """The kernels of an object."""

    kernels: list[KernelCode]
    left_out: list[LeftOut]
    """Cycles of the control flow, or requested code, that are not analysed."""
    sources: list[KernelSource]
    """One for each kernel, none without debug information."""
    note: str
    """The reason why debug information could not be read, "" if it could."""


def object_kernels(source: str | bytes, paces: bool = True) -> tuple[list[KernelCode], list[LeftOut]]:
    """Return the innermost loops of an object, and the cycles of its control flow that are not analysed.

    Args:
        source: the object's path or its bytes.
        paces: compute the kernels' `pace`.

    Returns:
        Kernels, the lines of whose regions count the instructions of a section's disassembly.

    Raises:
        ObjectError: if the file is not an object with code that can be decoded.
        OSError: if the file cannot be read.
    """
    from incc.frontends.objects.parts import with_cuts

    loops = _kernels(with_cuts(read(source)), paces)
    return loops.kernels, loops.left_out


def located_kernels(
    source: str | bytes,
    paces: bool = True,
    folder: str | None = None,
    folders: IncludeFolders = IncludeFolders(),  # noqa: B008 -- it cannot be changed
    starts: frozenset[int] | None = None,
    part: Addresses | None = None,
) -> ObjectKernels:
    """Return the innermost loops of an object with their places in the source.

    Args:
        source: the object's path or its bytes.
        paces: compute the kernels' `pace`.
        folder: the folder with the debug information in other files (-gsplit-dwarf), by default the object's.
        folders: the folders that the compiler's command takes headers from; by default the system's usual ones.
        starts: the addresses of the functions to analyse, as `Section.debug_address` counts; None for all code.
        part: one of the parts of a large file (`parts.code_parts`), None for all code.

    Raises:
        ObjectError: if the file is not an object with code that can be decoded.
        OSError: if the file cannot be read.
    """
    from incc.frontends.objects.parts import part_of, with_cuts

    if part is not None:
        return _kernels(part_of(source, _folder(source, folder), part), paces, folders)
    container = with_cuts(read(source, _folder(source, folder)))
    return _kernels(container if starts is None else _only(container, starts), paces, folders)


def marked_kernels(source: str | bytes, folder: str | None = None) -> ObjectKernels:
    """Return the code between IACA's markers, and the markers without a counterpart, as `located_kernels` does."""
    from incc.frontends.objects.spans import marked_spans

    container = read(source, _folder(source, folder))
    return _of_spans(container, *marked_spans(container))


def addressed_kernels(source: str | bytes, ranges: Sequence[Addresses], folder: str | None = None) -> ObjectKernels:
    """Return the code at each of these addresses as straight-line code, as `located_kernels` does."""
    from incc.frontends.objects.spans import address_spans

    container = read(source, _folder(source, folder))
    return _of_spans(container, *address_spans(container, ranges))


def _folder(source: str | bytes, folder: str | None) -> str:
    if folder is not None:
        return folder
    return "" if isinstance(source, bytes) else os.path.dirname(source)


def _of_spans(container: Container, spans: Sequence[Span], left_out: Sequence[LeftOut]) -> ObjectKernels:
    try:
        code = isa(container.isa).container_spans(container, spans) if spans else ContainerCode([], [], [])
    except DecodeError as error:
        raise ObjectError(str(error)) from error
    return _in_source(container, replace(code, left_out=[*left_out, *code.left_out]), IncludeFolders())


def _only(container: Container, starts: frozenset[int]) -> Container:
    """Return a container in which only the functions that begin at these addresses are chosen."""
    return replace(
        container,
        sections=tuple(
            [
                replace(s, chosen=frozenset([at for at, _ in s.functions if s.debug_address + at in starts]))
                if s.executable
                else s
                for s in container.sections
            ]
        ),
    )


def _kernels(
    container: Container,
    paces: bool,
    folders: IncludeFolders = IncludeFolders(),  # noqa: B008 -- it cannot be changed
) -> ObjectKernels:
    try:
        code = isa(container.isa).container_kernels(container, paces)
    except DecodeError as error:
        raise ObjectError(str(error)) from error
    return _in_source(container, code, folders)


def _in_source(container: Container, code: ContainerCode, folders: IncludeFolders) -> ObjectKernels:
    kernels, left_out, addresses = code.kernels, code.left_out, code.addresses
    debug = container.debug
    if debug is None:
        return ObjectKernels(kernels=kernels, left_out=left_out, sources=[], note="")
    sources = _sources(kernels, addresses, debug, folders)
    kernels = [
        replace(kernel, region=replace(kernel.region, source=source.place.source))
        if kernel.region and source.place and source.place.source
        else kernel
        for kernel, source in zip(kernels, sources, strict=True)
    ]
    return ObjectKernels(kernels=kernels, left_out=left_out, sources=sources, note=debug.note)


def _sources(
    kernels: Sequence[KernelCode], addresses: Sequence[CodeAddresses], debug: DebugInformation, folders: IncludeFolders
) -> list[KernelSource]:
    from incc.frontends.asm.places import Places
    from incc.frontends.headers import Headers

    inlined = debug.inlined([address for code_addresses in addresses for address in code_addresses.body])
    places = None
    if inlined is not None:
        places = Places(debug.location, inlined, Headers(folders).is_system)
    sources = []
    for kernel, code_addresses in zip(kernels, addresses, strict=True):
        region = kernel.region
        assert region is not None, "kernels of objects have one"
        lines = {
            line: location
            for line, address in zip(region.body_lines, code_addresses.body, strict=True)
            if (location := debug.location(address)) is not None
        }
        place = (
            places.of(region.function, code_addresses.path, code_addresses.body, region.is_loop)
            if places and lines
            else None
        )
        sources.append(KernelSource(lines, place, debug, code_addresses.path[0]))
    return sources
