"""Code that is there already, as objects, libraries and programs: which files are that, and their kernels."""

from __future__ import annotations

import msgspec

from incc.driver.errors import AnalysisError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.driver.report.build import KernelPlace
    from incc.frontends.kernel import Kernel, LeftOut
    from incc.frontends.objects.kernels import KernelSource
    from incc.frontends.objects.spans import Addresses

# ELF, PE (and COFF for x86-64), Mach-O of either byte order and with several instruction sets.
OBJECT_MAGIC = (b"\x7fELF", b"MZ", b"\x64\x86", b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xca\xfe\xba\xbe")
"""What objects begin with."""

ASSEMBLY_ENDINGS = (".s", ".S", ".asm")


class ObjectCode(msgspec.Struct, frozen=True):
    """The loops or spans of an object, what of that is left out, and where they are in the source: one for each of
    them, or none without debug information."""

    kernels: list[Kernel]
    left_out: list[LeftOut]
    sources: list[KernelSource] = []

    def places(self) -> list[KernelPlace]:
        """Where the loops are, for reports."""
        from incc.driver.report.build import KernelPlace

        return [KernelPlace(lines=source.lines, near=None, place=source.place) for source in self.sources]


def object_code(
    source: str | bytes,
    name: str,
    functions: Sequence[str] = (),
    addresses: Sequence[Addresses] = (),
    marked: bool = False,
) -> ObjectCode:
    """The loops of an object at a path, or in bytes, which messages call `name`; or the code at these `addresses`, or,
    if it is to be `marked`, that between byte markers where there are some. `functions`: globs of names, none for all.
    Raises AnalysisError."""
    from incc.frontends.objects.kernels import addressed_kernels, located_kernels, marked_kernels
    from incc.frontends.objects.read import ObjectError

    try:
        if addresses:
            found = addressed_kernels(source, addresses)
        elif not marked or not ((found := marked_kernels(source)).kernels or found.left_out):
            found = located_kernels(source)
    except ObjectError as error:
        raise AnalysisError(f"{name}: {error}") from error
    except OSError as error:
        raise AnalysisError(f"{name}: {error.strerror}") from error
    return of_functions(ObjectCode(found.kernels, found.left_out, found.sources), functions)


def of_functions(code: ObjectCode, functions: Sequence[str]) -> ObjectCode:
    """What of it is in functions of such names; all of it without any."""
    if not functions:
        return code
    from incc.driver.report.demangle import choose_functions

    symbols = [kernel.region.function if kernel.region else "" for kernel in code.kernels]
    wanted = choose_functions([*symbols, *(x.function for x in code.left_out)], functions)
    return ObjectCode(
        [kernel for kernel, symbol in zip(code.kernels, symbols, strict=True) if symbol in wanted],
        [x for x in code.left_out if x.function in wanted],
        [source for source, symbol in zip(code.sources, symbols, strict=False) if symbol in wanted],
    )
