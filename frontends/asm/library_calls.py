"""Calls of library functions that compilers make of loops, and the functions that they make of OpenMP's regions."""

from __future__ import annotations

from collections.abc import Iterator

from incc.frontends.asm.parse import INSTRUCTION, Assembly
from incc.frontends.isa import isa, word_set

# gcc's tree-loop-distribution.cc and LLVM's LoopIdiomRecognize.cpp.
_IN_PLACE_OF_LOOPS = word_set(
    "memset memcpy memmove memchr strlen rawmemchr wcslen memset_pattern4 memset_pattern8 memset_pattern16"
)


def calls_in_place_of_loops(assembly: Assembly, text: str) -> Iterator[tuple[str, str, int]]:
    """Yield calls and tail calls of functions that compilers make of loops, or that the source itself calls.

    Each is the function with the call, the function that is called, and the call's statement.
    """
    if not any(name in text for name in _IN_PLACE_OF_LOOPS):
        return
    instruction_set = isa(assembly.isa)
    for function in assembly.functions:
        for i in function.statements:
            each_statement = assembly.statements[i]
            if each_statement.kind != INSTRUCTION or not ("mem" in each_statement.text or "len" in each_statement.text):
                continue
            if instruction_set.branch(each_statement.text)[0] in ("call", "unconditional", "indirect"):
                for symbol in instruction_set.symbols(each_statement.text):
                    name = symbol.partition("@")[0].removeprefix("__").removesuffix("_chk")
                    if name in _IN_PLACE_OF_LOOPS and symbol not in assembly.labels:
                        yield function.name, name, i
                        break


def outlined(assembly: Assembly) -> dict[str, str]:
    """Return the functions that compilers made of OpenMP's regions, with the user's function of each region."""
    parts = {
        name: name.partition("._omp_")[0] if "._omp_" in name else name.partition(".omp_outlined")[0]
        for name in (function.name for function in assembly.functions)
        if "._omp_fn" in name or "._omp_cpyfn" in name or ".omp_outlined" in name
    }
    nameless = [name for name, user in parts.items() if not user]
    if nameless:
        # clang before 18 gives them all the same name. They belong to the functions that refer to them.
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
