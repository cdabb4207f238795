"""Code in objects, libraries and programs: which files these are, and their kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import msgspec

from incc.driver.settings import Scope
from incc.frontends.kernel import KernelCode, LeftOut
from incc.frontends.objects.archive import MAGIC, THIN_MAGIC
from incc.frontends.objects.read import COFF_MACHINES, ObjectError
from incc.report.source.demangle import choose_functions
from incc.report.unit_result import KernelPlace
from incc.support.errors import AnalysisError

if TYPE_CHECKING:
    from incc.frontends.objects.kernels import KernelSource
    from incc.frontends.objects.spans import Addresses

ASSEMBLY_ENDINGS = (".s", ".S", ".asm", ".cod")

# ELF, Mach-O of 64 and 32 bits in either order of bytes, WebAssembly.
_OBJECTS = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xce", b"\0asm")
_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")


def kind_of(start: bytes) -> Literal["object", "library", "bitcode", ""]:
    """Return the kind of a file by its first bytes; "bitcode" is LLVM's, "" is anything else.

    Args:
        start: The first 4 KB of the file. The header of a PE file may begin later, but rarely does.
    """
    if start.startswith((MAGIC, THIN_MAGIC)):
        return "library"
    if start.startswith(_BITCODE):
        return "bitcode"
    if start.startswith(_OBJECTS):
        is_object = True
    elif start.startswith(b"\xca\xfe\xba\xbe"):
        # A class of Java starts like a Mach-O file for several processors. Its version, which is at least 45, is where
        # the other has the number of processors.
        is_object = 0 < int.from_bytes(start[4:8], "big") < 40
    elif start.startswith(b"MZ"):
        # DOS programs have something else at the place of the PE header.
        at = int.from_bytes(start[0x3C:0x40], "little")
        is_object = start[at : at + 4] == b"PE\0\0"
    else:
        # COFF starts with the processor. An object has sections and no optional header.
        sections, optional = int.from_bytes(start[2:4], "little"), int.from_bytes(start[16:18], "little")
        machine = int.from_bytes(start[:2], "little")
        is_object = machine in COFF_MACHINES and len(start) >= 20 and sections > 0 and not optional
    return "object" if is_object else ""


class ObjectCode(msgspec.Struct, frozen=True):
    """The code of an object that is analysed."""

    kernels: list[KernelCode]
    """Loops, or spans of code."""
    left_out: list[LeftOut]
    """Loops and spans that cannot be analysed."""
    sources: list[KernelSource] = []
    """The place of each kernel in the source; empty without debug information."""

    @property
    def isa(self) -> str:
        """The name of the kernels' instruction set, "" if there are none."""
        return self.kernels[0].isa if self.kernels else ""

    def places(self) -> list[KernelPlace]:
        """Return where the kernels are in the source, for reports."""
        return [KernelPlace(lines=source.lines, near=None, place=source.place) for source in self.sources]

    def where(self, wanted: Callable[[str], bool]) -> ObjectCode:
        """Return the code of the wanted functions, by their symbols."""
        symbols = [kernel.region.function if kernel.region else "" for kernel in self.kernels]
        return ObjectCode(
            [kernel for kernel, symbol in zip(self.kernels, symbols, strict=True) if wanted(symbol)],
            [item for item in self.left_out if wanted(item.function)],
            [source for source, symbol in zip(self.sources, symbols, strict=False) if wanted(symbol)],
        )


def object_code(source: str | bytes, name: str, scope: Scope) -> ObjectCode:
    """Return the loops of an object, or the requested spans of code.

    Args:
        source: The object's path, or its bytes.
        name: The object's name in messages.
        scope: The code to return; marked regions are those between byte markers, if there are any.

    Raises:
        AnalysisError: The object cannot be read.
    """
    # The code of a large object is read in parts, of which functions that are not wanted are forgotten.
    parts = object_parts(source, name, scope)
    code = code_of(source, name, scope, parts[0] if parts else None)
    for part in parts[1:]:
        more = code_of(source, name, scope, part)
        code.kernels.extend(more.kernels)
        code.left_out.extend(more.left_out)
        code.sources.extend(more.sources)
    return code


def object_parts(source: str | bytes, name: str, scope: Scope) -> list[Addresses]:
    """Return the parts in which the loops of a large object are read, none for other objects and spans of code.

    Raises AnalysisError if the object cannot be read.
    """
    from incc.frontends.objects.kernels import marked_kernels
    from incc.frontends.objects.parts import code_parts

    with _named(name):
        parts = [] if scope.addresses else code_parts(source)
        if parts and scope.regions == "marked" and ((marked := marked_kernels(source)).kernels or marked.left_out):
            return []
        return parts


def code_of(source: str | bytes, name: str, scope: Scope, part: Addresses | None) -> ObjectCode:
    """Return the code of an object as `object_code` does, with a part the loops in that part."""
    from incc.frontends.objects.kernels import addressed_kernels, located_kernels, marked_kernels

    with _named(name):
        if part is not None:
            code = located_kernels(source, part=part)
        elif scope.addresses:
            code = addressed_kernels(source, scope.addresses)
        elif scope.regions != "marked" or not ((code := marked_kernels(source)).kernels or code.left_out):
            code = located_kernels(source)
    return of_functions(ObjectCode(code.kernels, code.left_out, code.sources), scope.functions)


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Turn errors about an object into AnalysisErrors with its name."""
    try:
        yield
    except ObjectError as error:
        raise AnalysisError(f"{name}: {error}") from error
    except OSError as error:
        raise AnalysisError(f"{name}: {error.strerror}") from error


def of_functions(code: ObjectCode, functions: Sequence[str]) -> ObjectCode:
    """Return the part of the code in functions whose names match one of the globs; all of it without globs."""
    if not functions:
        return code

    symbols = [kernel.region.function if kernel.region else "" for kernel in code.kernels]
    chosen = choose_functions([*symbols, *(item.function for item in code.left_out)], functions)
    return code.where(chosen.__contains__)
