"""Writes out what an assembler repeats: macros, repetitions and conditions, each in its place in the text."""

from __future__ import annotations

from incc.frontends import regex as re

_BLOCKS = r"(?m)(?:^|[;:])[ \t]*\.(?:macro|rept?|irpc?|if\w*)\b"
_WORDS = (".macro", ".rep", ".irp", ".if")
_REPETITIONS = (".rept", ".rep", ".irp", ".irpc")
_ENDS = (".endr", ".endm", ".endmacro")
_HEAD = '.file\t"<string>"'
"""What LLVM puts in front, of a text that has no name."""
_MARKS = r"incc([<>])(\d+)"


def written_out(text: str, triple: str = "", intel: bool = False) -> str:
    """The text with as many lines, where what a repetition or the call of a macro makes stands in the line in which it
    begins, and what a false condition leaves out nowhere. As it is where there is nothing of the kind, "" where LLVM
    refuses the text or is not there, and where a region begins or ends inside of what is repeated.

    `intel`: it begins in Intel's syntax. Raises LimitError where that is too much."""
    if not any(word in text for word in _WORDS) or not re.search(_BLOCKS, text):
        return text
    from incc.frontends.x86.llvm_reading import TRIPLE, expanded

    lines = text.split("\n")
    # Macros in the place of directives are there to leave these out, which costs nothing here.
    macros = frozenset(re.findall(r"\.macro[ \t]+([^\s,.][^\s,]*)", text))
    marked, replaced, perhaps = _marked(lines, macros)
    if not replaced and not perhaps:
        return text
    if any("-BEGIN" in lines[n] or "-END" in lines[n] for n in replaced):
        return ""
    if intel:
        marked[0] = f".intel_syntax noprefix; {marked[0]}"
    output = expanded("\n".join(marked), triple or TRIPLE)
    if not output:
        return ""
    made = _made(output)
    if any("Ltmp" in statement for n in replaced for statement in made.get(n, ())):
        # Numbers as labels have become names, which lines elsewhere may jump to.
        replaced |= {n for n, line in enumerate(marked) if line != lines[n]}
    of_intel = _intel(lines, intel)
    for n in replaced:
        if "_syntax" in lines[n]:
            continue
        statements = "; ".join(made.get(n, ()))
        if statements and of_intel[n]:
            statements = f".att_syntax prefix; {statements}; .intel_syntax noprefix"
        lines[n] = statements
    for n in perhaps:
        if n not in made:
            lines[n] = ""
    return "\n".join(lines)


def _marked(lines: list[str], macros: frozenset[str]) -> tuple[list[str], set[int], set[int]]:
    """The lines with comments that say where what is in them comes from; those that are to be replaced, and those that
    a condition may leave out."""
    marked = list(lines)
    replaced: set[int] = set()
    perhaps: set[int] = set()
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
            perhaps.add(n)
        if macros and any(_word(piece) in macros for piece in line.split(";")):
            replaced.add(n)
    return marked, replaced, perhaps


def _word(line: str) -> str:
    """The first word of a statement, behind its labels; a label that stands alone."""
    words = line.split(None, 2)
    while len(words) > 1 and words[0][-1] == ":" and words[1][0] not in "#/":
        words = " ".join(words[1:]).split(None, 2)
    return words[0] if words else ""


def _made(output: str) -> dict[int, list[str]]:
    """The statements that LLVM has made of each line. What it says of a place comes with the next end of a line."""
    made: dict[int, list[str]] = {}
    waiting: list[str] = []
    for line in output.split("\n"):
        marks = [int(number) for _, number in re.findall(_MARKS, line)]
        if marks and waiting:
            made.setdefault(marks[0], []).extend(waiting)
            waiting = []
        head, quote, tail = line.partition("#incc")[0].rpartition('"')
        statement = (head + quote + tail.partition("#")[0]).strip()
        if not statement or statement == _HEAD:
            continue
        if marks:
            made.setdefault(marks[-1], []).append(statement)
        else:
            waiting.append(statement)
    return made


def _intel(lines: list[str], intel: bool) -> list[bool]:
    """Of each line whether it is in Intel's syntax. `intel`: whether the first one is."""
    found = []
    for line in lines:
        if "_syntax" in line:
            said = re.findall(r"\.(att|intel)_syntax\b", line.partition("#")[0])
            intel = said[-1] == "intel" if said else intel
        found.append(intel)
    return found
