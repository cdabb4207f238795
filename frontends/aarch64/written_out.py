"""Names, macros and repetitions of the GNU assembler in A64 text, written out in place.

The text keeps its lines: what a macro or a repetition stands for is in the line of its call or its start.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from incc.frontends.aarch64.branches import BRANCHES
from incc.frontends.aarch64.operands import constant
from incc.frontends.isa import split_operands

_DIRECTIVES = (".req", ".macro", ".rept", ".irp", ".inst", ".set", ".equ")
_ASSIGNMENT = re.compile(r"(?m)^\s*[\w.$]+\s*=[^=]")
_SET = re.compile(r"\s*(?:\.(?:set|equ|equiv)\s+([\w.$]+)\s*,|([\w.$]+)\s*=(?!=))\s*(.+)")
_REGISTER = re.compile(r"\s*([A-Za-z_]\w*)\s+\.req\s+(\w+)")
_MACRO = re.compile(r"\s*\.macro\s+([\w.$]+)[\s,]*(.*)", re.IGNORECASE)
_REPEAT = re.compile(r"\s*\.(rept|irp)\s+(.+)", re.IGNORECASE)
OPENS = re.compile(r"\s*\.(macro|rept|irpc?)\b", re.IGNORECASE)
_CLOSES = re.compile(r"\s*\.(endm|endr|endmacro)\b", re.IGNORECASE)
_WORD = re.compile(r"\s*\.inst\s+(.+)")
_LABELS = re.compile(r"((?:\s*[\w.$]+:)*)\s*(.*)", re.DOTALL)
_CONDITION = re.compile(r"\s*\.(if\w*|else\w*|exitm)\b", re.IGNORECASE)
_COMMENT = re.compile(r"\s*(?://.*|^\s*#.*)$")
_MOST_STATEMENTS = 20_000
_DEEPEST = 20


def written_out(text: str) -> str:
    """Return the text with names of registers and constants replaced, and macros and repetitions expanded.

    A macro with conditions, or one that is too large, stays as it is.
    """
    if not any(word in text for word in _DIRECTIVES) and not _ASSIGNMENT.search(text):
        return text
    return "\n".join(_Writer().lines(text.split("\n")))


class _Writer:
    """The names and macros that are defined so far."""

    def __init__(self) -> None:
        self.registers: dict[str, str] = {}
        self.constants: dict[str, int] = {}
        self.macros: dict[str, tuple[list[str], list[str]]] = {}
        """Parameters, each with its default behind `=`, and body of each macro."""
        self.made = 0
        """The statements that expansions have made."""
        self.depth = 0
        """The macros that are being expanded, one in the other."""

    def lines(self, lines: Sequence[str]) -> list[str]:
        """Return as many lines."""
        written = []
        at = 0
        while at < len(lines):
            if ";" in lines[at] and (several := self._several(lines[at])) is not None:
                written.append(several)
                at += 1
                continue
            end = end_of_block(lines, at) if OPENS.match(lines[at]) else at
            if end == at:
                written.append(self._line(lines[at]))
            else:
                written += self._block(lines[at : end + 1])
            at = end + 1
        return written

    def _several(self, line: str) -> str | None:
        """Return a line with several statements; None if none of them defines a name or is part of a block."""
        code = _uncommented(line)
        pieces = code.split(";")
        if len(pieces) == 1 or not any(p.match(piece) for p in (OPENS, _SET, _REGISTER) for piece in pieces):
            return None
        written = "; ".join(text for piece in self.lines(pieces) if (text := piece.strip()))
        return written + line[len(code) :]

    def _block(self, block: Sequence[str]) -> list[str]:
        """Return the lines of a macro's definition or of a repetition."""
        body = list(block[1:-1])
        blank = [""] * (len(block) - 1)
        macro = _MACRO.match(block[0])
        if macro and not macro[1].startswith(".") and not any(map(_CONDITION.match, body)):
            parameters = [p for p in re.split(r"\s*,\s*|\s+", _uncommented(macro[2]).strip()) if p]
            self.macros[macro[1]] = parameters, body
            return ["", *blank]
        repeat = _REPEAT.match(block[0])
        rounds = self._rounds(repeat[1].lower(), _uncommented(repeat[2])) if repeat else None
        statements = None if rounds is None else self._expanded(body, rounds)
        return list(block) if statements is None else ["; ".join(statements), *blank]

    def _rounds(self, kind: str, arguments: str) -> list[Mapping[str, str]] | None:
        """Return the values of the parameters in each round of a repetition, None if that is not known."""
        if kind == "rept":
            times = constant(self._constants_in(arguments))
            return [{}] * times if times is not None and 0 <= times <= _MOST_STATEMENTS else None
        name, *values = re.split(r"\s*,\s*|\s+", arguments.strip())
        return [{name: value} for value in values]

    def _expanded(self, body: Sequence[str], rounds: Sequence[Mapping[str, str]]) -> list[str] | None:
        """Return the statements of a body in each round, None for too many."""
        statements: list[str] = []
        for values in rounds:
            self.made += len(body)
            if self.depth == _DEEPEST or self.made > _MOST_STATEMENTS:
                return None
            self.depth += 1
            lines = self.lines([_filled(line, values, self.made) for line in body])
            self.depth -= 1
            statements += [text for line in lines if (text := _uncommented(line).strip())]
        return statements

    def _line(self, line: str) -> str:
        """Return a line without blocks."""
        if match := _REGISTER.match(line):
            name, register = match.groups()
            self.registers |= dict.fromkeys((name, name.lower(), name.upper()), self.registers.get(register, register))
            return ""
        if ".unreq" in line:
            return ""
        if match := _SET.match(line):
            value = constant(self._constants_in(_uncommented(match[3])))
            if value is not None:
                self.constants[match[1] or match[2]] = value
            return line
        if not (self.registers or self.constants or self.macros or ".inst" in line):
            return line
        code = _uncommented(line)
        return "; ".join(self._statement(piece) for piece in code.split(";")) + line[len(code) :]

    def _statement(self, piece: str) -> str:
        match = _LABELS.match(piece)
        labels, statement = match.groups() if match else ("", piece)
        if word := _WORD.match(statement):
            return f"{labels} {_disassembled(word[1]) or statement}".strip()
        name, _, rest = statement.partition(" ") if " " in statement else statement.partition("\t")
        if name in self.macros:
            parameters, body = self.macros[name]
            expanded = self._expanded(body, [_arguments(parameters, rest)])
            return f"{labels} {statement}".strip() if expanded is None else f"{labels} {'; '.join(expanded)}".strip()
        if statement.startswith(".") or not rest:
            return piece
        for known, register in self.registers.items():
            if known in rest:
                rest = re.sub(rf"(?<![\w.$]){re.escape(known)}(?![\w$])", register, rest)
        if name.lower() not in BRANCHES:
            rest = self._constants_in(rest)
        return f"{labels} {name}\t{rest}".strip() if labels else f"\t{name}\t{rest}"

    def _constants_in(self, text: str) -> str:
        for known, value in self.constants.items():
            if known in text:
                text = re.sub(rf"(?<![\w.$:]){re.escape(known)}(?![\w$])", str(value), text)
        return text


def end_of_block(lines: Sequence[str], at: int) -> int:
    """Return the line that ends the block which begins at a line, that line itself if none does."""
    depth = 0
    for n in range(at, len(lines)):
        depth += bool(OPENS.match(lines[n])) - bool(_CLOSES.match(lines[n]))
        if depth == 0:
            return n
    return at


def _uncommented(line: str) -> str:
    return _COMMENT.sub("", line)


def _filled(line: str, values: Mapping[str, str], number: int) -> str:
    """Return a line of a body with the values of its parameters."""
    if "\\" not in line:
        return line
    for name in sorted(values, key=len, reverse=True):
        value = values[name].replace("\\", r"\\")
        line = re.sub(rf"\\{re.escape(name)}(?!\w)(\\\(\))?", value, line)
    return line.replace("\\@", str(number)).replace("\\()", "")


def _arguments(parameters: Sequence[str], text: str) -> dict[str, str]:
    """Return the values of a macro's parameters in a call."""
    given = split_operands(text.strip()) if text.strip() else []
    if len(given) == 1 and len(parameters) > 1 and "," not in text:
        given = text.split()
    values: dict[str, str] = {}
    positional = []
    names = [parameter.partition("=")[0].partition(":")[0] for parameter in parameters]
    for each in given:
        name, equals, value = each.partition("=")
        if equals and name.strip() in names:
            values[name.strip()] = value.strip()
        else:
            positional.append(each.strip())
    for at, (parameter, name) in enumerate(zip(parameters, names, strict=True)):
        if parameter.endswith(":vararg"):
            values.setdefault(name, ", ".join(positional[at:]))
        elif name not in values:
            values[name] = positional[at] if at < len(positional) else parameter.partition("=")[2]
    return values


def _disassembled(words: str) -> str:
    """Return the statements of instructions that are written as numbers, "" if one of them is none."""
    from incc.frontends.aarch64.disassemble import text_of

    texts = []
    for word in words.split(","):
        value = constant(word)
        texts.append(text_of(value) if value is not None and 0 <= value < 1 << 32 else "")
    return "; ".join(texts) if all(texts) else ""
