"""Calls of the library functions that compilers put in the place of loops, and the functions that OpenMP is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.frontends.asm.parse import INSTRUCTION
from incc.frontends.isa import isa, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.frontends.asm.parse import Assembly

# gcc's tree-loop-distribution.cc and LLVM's LoopIdiomRecognize.cpp.
_IN_PLACE_OF_LOOPS = frozenset(
    words("memset memcpy memmove memchr strlen rawmemchr wcslen memset_pattern4 memset_pattern8 memset_pattern16")
)


def calls_in_place_of_loops(assembly: Assembly, text: str) -> Iterator[tuple[str, str, int]]:
    """Calls, tail calls among them, of functions that stand where the source may have a loop: the function with the
    call, the one that is called, and the call's statement. Whoever wrote the call himself has them too."""
    if not any(name in text for name in _IN_PLACE_OF_LOOPS):
        return
    known = isa(assembly.isa)
    for function in assembly.functions:
        for i in function.statements:
            each_statement = assembly.statements[i]
            if each_statement.kind != INSTRUCTION or not ("mem" in each_statement.text or "len" in each_statement.text):
                continue
            if known.branch(each_statement.text)[0] in ("call", "unconditional", "indirect"):
                for symbol in known.symbols(each_statement.text):
                    name = symbol.partition("@")[0].removeprefix("__").removesuffix("_chk")
                    if name in _IN_PLACE_OF_LOOPS and symbol not in assembly.labels:
                        yield function.name, name, i
                        break


def outlined(assembly: Assembly) -> dict[str, str]:
    """The functions that compilers made of OpenMP's regions, and those in which the user wrote these."""
    parts = {
        name: name.partition("._omp_")[0] if "._omp_" in name else name.partition(".omp_outlined")[0]
        for name in (function.name for function in assembly.functions)
        if "._omp_fn" in name or "._omp_cpyfn" in name or ".omp_outlined" in name
    }
    nameless = [name for name, user in parts.items() if not user]
    if nameless:
        # clang before 18 calls them all alike: they are of the functions that name them.
        symbols = isa(assembly.isa).symbols
        for function in assembly.functions:
            for i in function.statements:
                each_statement = assembly.statements[i]
                if each_statement.kind == INSTRUCTION and ".omp_outlined" in each_statement.text:
                    for symbol in symbols(each_statement.text):
                        if symbol in nameless and function.name != symbol:
                            parts[symbol] = parts[symbol] or function.name
        for name in nameless:
            for _ in nameless:  # regions within regions
                parts[name] = parts.get(parts[name], parts[name])
    return {name: user for name, user in parts.items() if user}
