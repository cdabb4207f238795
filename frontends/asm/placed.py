"""The places of an assembly text's statements in the object that an assembler made of the text.

From a function's symbol on, each instruction takes as many bytes as are decoded there, and alignments take theirs. All
symbols and jumps of the object must confirm the places that follow; otherwise there is no result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from incc.frontends.asm.parse import INSTRUCTION, LABEL, AsmFunction, Assembly
from incc.frontends.isa import isa
from incc.frontends.kernel import Decode, Placed

# The only directive that compilers write into functions: the power of two, and the most bytes of padding (0: any
# number). If more bytes are needed, there is no padding.
_ALIGNMENT = re.compile(r"\.p2align (\d\d?)(?:,,(\d+))?").fullmatch


def place(
    assembly: Assembly, lines: Sequence[int], symbols: Mapping[str, tuple[int, int]], decode: Decode
) -> list[Placed] | None:
    """Return the instructions on lines of a text with their places, None if one of them is uncertain.

    Args:
        assembly: the text.
        lines: the lines, all of them with instructions.
        symbols: the number of the section and the offset of each symbol of the object.
        decode: decodes the object's code.
    """
    wanted = set(lines)
    result: list[Placed] = []
    for function in assembly.functions:
        if not wanted.isdisjoint([assembly.statements[i].line for i in function.statements]):
            instructions = _of_function(assembly, function, symbols, decode)
            if instructions is None:
                return None
            result += [each for each in instructions if each.line in wanted]
    return result if wanted.issubset([each.line for each in result]) else None


def _of_function(
    assembly: Assembly, function: AsmFunction, symbols: Mapping[str, tuple[int, int]], decode: Decode
) -> list[Placed] | None:
    """Return the instructions of a function with their places, None if these are uncertain."""
    first, last = function.statements[0], function.statements[-1]
    name = assembly.statements[first].section
    result = []
    labels: dict[str, int] = {}  # those that are no symbols of the object
    jumps: list[tuple[str, int]] = []
    section, at = -1, 0
    for statement in assembly.statements[first : last + 1]:
        text = statement.text
        if statement.section != name:
            continue
        if statement.kind == LABEL and text in symbols:
            if section >= 0 and symbols[text] != (section, at):
                return None
            section, at = symbols[text]
        elif section < 0:
            return None
        elif statement.kind == LABEL:
            labels[text] = at
        elif statement.kind == INSTRUCTION:
            length, target = decode(section, at, text)
            if not length:
                return None
            if target >= 0:
                jumps.append((text, target))
            result.append(Placed(statement.line, text, section, at, at + length))
            at += length
        elif alignment := _ALIGNMENT(text):
            padding = -at % (1 << int(alignment[1]))
            most = int(alignment[2] or 0) or padding
            at += padding if padding <= most else 0
        else:
            return None
    branch = isa(assembly.isa).branch
    return result if all(labels.get(branch(text)[1], target) == target for text, target in jumps) else None
