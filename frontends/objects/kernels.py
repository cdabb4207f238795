"""Loops of object files, libraries and programs: a path in, kernels out, whatever instruction set the file is of."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from incc.frontends.container import ContainerCode
from incc.frontends.isa import DecodeError, isa
from incc.frontends.objects.read import ObjectError, read
from incc.frontends.unit import IncludeFolders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.frontends.asm.places import UserPlace
    from incc.frontends.container import CodeAddresses, Container, DebugInformation, Span
    from incc.frontends.kernel import Kernel, LeftOut, SourceLocation
    from incc.frontends.objects.spans import Addresses


class KernelSource(msgspec.Struct, frozen=True):
    """Where a kernel of an object is in the source: `lines`, the place of each line of its region, and `place`, None
    without debug information of functions."""

    lines: dict[int, SourceLocation]
    place: UserPlace | None


class ObjectKernels(msgspec.Struct, frozen=True, kw_only=True):
    """The loops of an object, the cycles that are left out, and where the loops are in the source: one for each, or
    none without debug information. `note`: what kept that from being read, "" if nothing did."""

    kernels: list[Kernel]
    left_out: list[LeftOut]
    sources: list[KernelSource]
    note: str


def object_kernels(source: str | bytes, paces: bool = True) -> tuple[list[Kernel], list[LeftOut]]:
    """The innermost loops of the functions of an object, at a path or as bytes, and the cycles that are left out.

    The lines of their regions count the instructions of a section's disassembly. `paces`: the kernels' `pace` is
    wanted. Raises ObjectError and OSError.
    """
    found = _kernels(read(source), paces)
    return found.kernels, found.left_out


def located_kernels(
    source: str | bytes,
    paces: bool = True,
    folder: str | None = None,
    folders: IncludeFolders = IncludeFolders(),  # noqa: B008 -- it cannot be changed
    starts: frozenset[int] | None = None,
) -> ObjectKernels:
    """The same, with their places in the source from the object's debug information. `folder`: where parts of it may be
    that are in other files (-gsplit-dwarf), by default beside the object. `folders`: where its headers come from, if a
    command says so; without, those of the system are in the usual places. `starts`: where the functions begin
    that are looked at, as `Section.debug_address` counts; None for all of the code."""
    container = read(source, _folder(source, folder))
    return _kernels(container if starts is None else _only(container, starts), paces, folders)


def marked_kernels(source: str | bytes, folder: str | None = None) -> ObjectKernels:
    """The code between IACA's markers, and markers that mark nothing; as `located_kernels`."""
    from incc.frontends.objects.spans import marked_spans

    container = read(source, _folder(source, folder))
    return _of_spans(container, *marked_spans(container))


def addressed_kernels(source: str | bytes, ranges: Sequence[Addresses], folder: str | None = None) -> ObjectKernels:
    """The code at these addresses, each as straight code; as `located_kernels`."""
    from incc.frontends.objects.spans import address_spans

    container = read(source, _folder(source, folder))
    return _of_spans(container, *address_spans(container, ranges))


def _folder(source: str | bytes, folder: str | None) -> str:
    if folder is not None:
        return folder
    return "" if isinstance(source, bytes) else os.path.dirname(source)


def _of_spans(container: Container, spans: Sequence[Span], left_out: Sequence[LeftOut]) -> ObjectKernels:
    try:
        found = isa(container.isa).container_spans(container, spans) if spans else ContainerCode([], [], [])
    except DecodeError as error:
        raise ObjectError(str(error)) from error
    return _in_source(container, replace(found, left_out=[*left_out, *found.left_out]), IncludeFolders())


def _only(container: Container, starts: frozenset[int]) -> Container:
    """A container of whose code only the functions that begin at these places are looked at."""
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
        found = isa(container.isa).container_kernels(container, paces)
    except DecodeError as error:
        raise ObjectError(str(error)) from error
    return _in_source(container, found, folders)


def _in_source(container: Container, found: ContainerCode, folders: IncludeFolders) -> ObjectKernels:
    kernels, left_out, addresses = found.kernels, found.left_out, found.addresses
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
    kernels: Sequence[Kernel],
    addresses: Sequence[CodeAddresses],
    debug: DebugInformation,
    folders: IncludeFolders,
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
        sources.append(KernelSource(lines, place))
    return sources
