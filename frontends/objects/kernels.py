"""Loops of object files, libraries and programs: a path in, kernels out, whatever instruction set the file is of."""

from __future__ import annotations

from incc.frontends.isa import DecodeError, isa
from incc.frontends.objects.read import ObjectError, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from incc.frontends.kernel import Kernel, LeftOut


def object_kernels(source: str | bytes, paces: bool = True) -> tuple[list[Kernel], list[LeftOut]]:
    """The innermost loops of the functions of an object, at a path or as bytes, and the cycles that are left out.

    The lines of their regions count the instructions of a section's disassembly. `paces`: the kernels' `pace` is
    wanted. Raises ObjectError and OSError.
    """
    container = read(source)
    try:
        return isa(container.isa).container_kernels(container, paces)
    except DecodeError as error:
        raise ObjectError(str(error)) from error
