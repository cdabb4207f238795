"""Code that is there already, as objects, libraries and programs: which files are that, and their kernels."""

from __future__ import annotations

from incc.driver.errors import AnalysisError
from incc.frontends.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.frontends.kernel import Kernel, LeftOut

# ELF, PE (and COFF for x86-64), Mach-O of either byte order and with several instruction sets.
OBJECT_MAGIC = (b"\x7fELF", b"MZ", b"\x64\x86", b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xca\xfe\xba\xbe")
"""What objects begin with."""

ASSEMBLY_ENDINGS = (".s", ".S", ".asm")


class ObjectCode(NamedTuple):
    """The loops of an object, and the cycles of its control flow that are left out."""

    kernels: list[Kernel]
    left_out: list[LeftOut]


def object_code(source: str | bytes, name: str, functions: Sequence[str] = ()) -> ObjectCode:
    """The loops of an object at a path, or in bytes, which messages call `name`; `functions`: globs of names, none for
    all. Raises AnalysisError."""
    from incc.frontends.objects.kernels import object_kernels
    from incc.frontends.objects.read import ObjectError

    try:
        kernels, left_out = object_kernels(source)
    except ObjectError as error:
        raise AnalysisError(f"{name}: {error}") from error
    except OSError as error:
        raise AnalysisError(f"{name}: {error.strerror}") from error
    return of_functions(ObjectCode(kernels, left_out), functions)


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
    )
