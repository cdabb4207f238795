"""The expansion of macros, repetitions and conditions, each in its place in the assembly text."""

from __future__ import annotations

import re

from incc.frontends.x86.llvm.reading import TRIPLE, expanded

_BLOCKS = r"(?m)(?:^|[;:])[ \t]*\.(?:macro|rept?|irpc?|if\w*)\b"
_WORDS = (".macro", ".rep", ".irp", ".if")
_REPETITIONS = (".rept", ".rep", ".irp", ".irpc")
_ENDS = (".endr", ".endm", ".endmacro")
_HEAD = '.file\t"<string>"'
"""The first statement that LLVM prints for a text without a name."""
_MARKS = r"incc([<>])(\d+)"


def written_out(text: str, triple: str = "", intel: bool = False, trusted: bool = False) -> str:
    """Expand the macros, repetitions and conditions of an assembly text.

    Args:
        text: the assembly.
        triple: LLVM's target, x86-64 by default.
        intel: the text begins in Intel syntax.
        trusted: let the text read other files.

    Returns:
        The text with the same number of lines. The statements of a repetition or a macro are in the line where it
        begins or is called; those of a false condition are gone. The result is "" if LLVM refuses the text or is
        missing, and if a marked region begins or ends inside of a repetition.

    Raises:
        LimitError: if the expansion is too large.
    """
    if not any(word in text for word in _WORDS) or not re.search(_BLOCKS, text):
        return text

    lines = text.split("\n")
    # A macro with a directive's name is there to make assemblers ignore the directive; it need not be expanded.
    macros = frozenset(re.findall(r"\.macro[ \t]+([^\s,.][^\s,]*)", text))
    marked, replaced, conditional = _marked(lines, macros)
    if not replaced and not conditional:
        return text
    if any("-BEGIN" in lines[n] or "-END" in lines[n] for n in replaced):
        return ""
    if intel:
        marked[0] = f".intel_syntax noprefix; {marked[0]}"
    output = expanded("\n".join(marked), triple or TRIPLE, trusted)
    if not output:
        return ""
    expansions = _expansions(output)
    if any("Ltmp" in statement for n in replaced for statement in expansions.get(n, ())):
        # Numeric labels have become names, to which other lines may jump.
        replaced |= {n for n, line in enumerate(marked) if line != lines[n]}
    is_intel = _intel_lines(lines, intel)
    for n in replaced:
        if "_syntax" in lines[n]:
            continue
        statements = "; ".join(expansions.get(n, ()))
        if statements and is_intel[n]:
            statements = f".att_syntax prefix; {statements}; .intel_syntax noprefix"
        lines[n] = statements
    for n in conditional:
        if n not in expansions:
            lines[n] = ""
    return "\n".join(lines)


def _marked(lines: list[str], macros: frozenset[str]) -> tuple[list[str], set[int], set[int]]:
    """Return the lines with comments that name their own line; the lines to replace; the lines inside conditions."""
    marked = list(lines)
    replaced: set[int] = set()
    conditional: set[int] = set()
    depth = conditions = start = 0
    repeated = False
    for n, line in enumerate(lines):
        word = _word(line)
        if word in _REPETITIONS or (word == ".macro" and (depth or not re.search(r"\.macro[ \t]+\.", line))):
            if not depth:
                start, repeated = n, word != ".macro"
            depth += 1
            replaced.add(n)
            continue
        if depth:
            depth -= word in _ENDS
            replaced.add(n)
            if repeated and word[:1] not in ("", "#") and not (word[0] == "." and word[-1] != ":"):
                marked[n] = f"/*incc<{start}*/{line}#incc>{start}"
            continue
        if word.startswith((".if", ".else", ".endif")):
            conditions += word.startswith(".if")
            conditions -= word == ".endif"
            continue
        if not word or word[0] in "#/" or word == ".include":
            continue
        marked[n] = f"/*incc<{n}*/{line}#incc>{n}"
        if conditions:
            conditional.add(n)
        if macros and any(_word(piece) in macros for piece in line.split(";")):
            replaced.add(n)
    return marked, replaced, conditional


def _word(line: str) -> str:
    """Return the first word of a statement after its labels, or a label that stands alone."""
    words = line.split(None, 2)
    while len(words) > 1 and words[0][-1] == ":" and words[1][0] not in "#/":
        words = " ".join(words[1:]).split(None, 2)
    return words[0] if words else ""


def _expansions(output: str) -> dict[int, list[str]]:
    """Return the statements that LLVM has made of each line. It prints a line's comments at the next end of a line."""
    expansions: dict[int, list[str]] = {}
    waiting: list[str] = []
    for line in output.split("\n"):
        marks = [int(number) for _, number in re.findall(_MARKS, line)]
        if marks and waiting:
            expansions.setdefault(marks[0], []).extend(waiting)
            waiting = []
        head, quote, tail = line.partition("#incc")[0].rpartition('"')
        statement = (head + quote + tail.partition("#")[0]).strip()
        if not statement or statement == _HEAD:
            continue
        if marks:
            expansions.setdefault(marks[-1], []).append(statement)
        else:
            waiting.append(statement)
    return expansions


def _intel_lines(lines: list[str], intel: bool) -> list[bool]:
    """Return True for each line in Intel syntax. `intel` says so of the first."""
    result = []
    for line in lines:
        if "_syntax" in line:
            directives = re.findall(r"\.(att|intel)_syntax\b", line.partition("#")[0])
            intel = directives[-1] == "intel" if directives else intel
        result.append(intel)
    return result
