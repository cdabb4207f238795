"""The parts of an x86 statement that are lost in its bytes: symbols, constants as written, prefixes in braces."""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from incc.frontends.asm.expressions import Expression, NotAnExpressionError, evaluate, expression, has_symbols
from incc.frontends.isa import split_operands
from incc.frontends.x86.assembler import NARROW_TARGET
from incc.frontends.x86.classify import PREFIXES
from incc.frontends.x86.kept import keep


class TextOnlyParts(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a statement that are lost in its bytes."""

    intel: bool = False
    """It is in Intel syntax."""
    displacement: Expression | None = None
    """The displacement of the memory operand, None for a plain number."""
    immediates: tuple[Expression, ...] = ()
    """In the statement's order."""
    target: Expression | None = None
    """The operand of a direct branch."""
    braces: str = ""
    """The prefixes that choose an encoding."""
    riz: str = ""
    """The name of the register that stands for no index, if the statement has it."""
    mnemonic: str = ""
    """Only where the bytes may have another one, as for `nop` after a prefix."""
    first_register: str = ""
    """The first operand, without %, only where the bytes may have the operands in another order."""
    wide: bool = False
    """There is a register of 64 bits in an instruction that GNU as encodes with one of 32, to the same effect."""
    says_more: bool = False
    """Any of the other fields is set."""


_NOTHING = TextOnlyParts()
# Only the patterns that nearly every statement needs are compiled here.
# Names that are registers in Intel syntax, even if a symbol has the same name.
_REGISTER = (
    r"(?i)(?:[re]?(?:[abcd]x|[sd]i|[sb]p|ip)|[abcd][lh]|[sd]il|[sb]pl|r\d+[dwb]?|[xyzt]?mm\d+|k[0-7]|st(?:\(\d\))?"
    r"|[cdefgs]s|[cd]r\d+|[er]iz)$"
)
_PREFIX = re.compile(rf"(?i)(?:{'|'.join(map(re.escape, sorted(PREFIXES)))})\s+")
_BRACES = r"\{(vex[23]?|evex|disp8|disp32|rex2?)\}\s*"
_WIDE = (
    r"(?i)(?:sldt|str)q?\s+%?r\w+$|movq?\s+(?:%?[cdefgs]s\s*,\s*%?r(?:\w[xip]|\d+)|"
    r"%?r(?:\w[xip]|\d+)\s*,\s*%?[cdefgs]s)$"
)
_JUMP = re.compile(r"(?i)j|call|loop|xbegin")


_READ: dict[str, TextOnlyParts] = {}


def read_statement(text: str) -> TextOnlyParts:
    """Return the parts of a statement that are lost in its bytes; none of a statement that cannot be parsed."""
    statement = _READ.get(text)
    return keep(_READ, text, _read(text)) if statement is None else statement


def _read(text: str) -> TextOnlyParts:
    if not text or text == "?":
        return _NOTHING
    braces = "".join(f"{{{name}}}" for name in re.findall(_BRACES, text)) if "{" in text else ""
    if braces:
        text = re.sub(_BRACES, "", text)
    prefixed = text
    while match := _PREFIX.match(text):
        text = text[match.end() :]
    if text is not prefixed and text.lower() == "nop":
        return replace(_NOTHING, mnemonic="nop", says_more=True)
    mnemonic, _, rest = text.partition(" ")
    if "\t" in mnemonic:
        mnemonic, _, rest = text.partition("\t")
    rest = rest.strip()
    # Names may have a dollar sign elsewhere: `.L0$pb`, `_a$`.
    immediate = rest[:1] == "$" or ("$" in rest and re.search(r"[\s,]\$", rest))
    intel = "%" not in rest and not immediate and _is_intel(rest)
    try:
        statement = _intel(mnemonic, rest) if intel else _att(mnemonic, rest)
    except NotAnExpressionError:
        statement = replace(_NOTHING, intel=intel)
    if braces:
        statement = replace(statement, braces=braces, says_more=True)
    if mnemonic[:3].lower() in ("mov", "sld", "str") and re.match(_WIDE, f"{mnemonic} {rest}"):
        return replace(statement, wide=True, says_more=True)
    if text is not prefixed and mnemonic[:3].lower() in ("bsf", "bsr") and re.match(r"(?i)rep[ez]?\s", prefixed):
        return replace(statement, mnemonic=mnemonic[:3].lower(), says_more=True)
    if mnemonic[:4].lower() == "xchg":
        first = rest.partition(",")[0].strip().lower().lstrip("%")
        statement = replace(statement, mnemonic="xchg", first_register=first, says_more=True)
    return statement


def _is_intel(operands: str) -> bool:
    return "[" in operands or any(
        re.match(_REGISTER, operand.strip()) or re.match(r"(?i)(?:offset|\w+ ptr)\b|\d+(?![bf]\b)", operand.strip())
        for operand in split_operands(operands)
    )


def _att(mnemonic: str, rest: str) -> TextOnlyParts:
    if rest[:1] != "*" and _JUMP.match(mnemonic):
        return TextOnlyParts(target=expression(rest), says_more=True) if rest and rest[0] != "%" else _NOTHING
    displacement: Expression | None = None
    immediates: list[Expression] = []
    riz = ""
    for operand in split_operands(rest):
        operand = operand.lstrip("*").strip()
        first = operand[:1]
        if first == "$":
            immediates.append(expression(operand[1:]))
            continue
        if first in ("{", ""):
            continue
        if first == "%":
            if ":" not in operand:
                continue
            operand = operand.partition(":")[2].strip()
        operand = re.sub(r"\s*\{[^}]*\}\s*", "", operand)
        written, bracket, registers = operand.rpartition("(")
        if bracket and ("%" in registers or registers.startswith(",")):
            operand = written
            if match := re.search(r"%([er]iz)", registers):
                riz = match[1]
        if operand:
            address = expression(operand)
            displacement = address if evaluate(address) is None else None
    return _statement(False, displacement, immediates, riz)


def _statement(intel: bool, displacement: Expression | None, immediates: list[Expression], riz: str) -> TextOnlyParts:
    says_more = bool(displacement is not None or immediates or riz)
    return TextOnlyParts(
        intel=intel, displacement=displacement, immediates=tuple(immediates), riz=riz, says_more=says_more
    )


_SIZE = r"(?i)^(?:(?:\w*word|byte|mmword|fword|tbyte)\s+(?:ptr|bcst)\s+|(?:short|near|far)\s+(?:ptr\s+)?)+"


def _intel(mnemonic: str, rest: str) -> TextOnlyParts:
    displacement: Expression | None = None
    immediates: list[Expression] = []
    riz = ""
    jump = bool(_JUMP.match(mnemonic))
    for operand in split_operands(rest):
        sized = re.match(_SIZE, operand)
        operand = re.sub(_SIZE, "", operand)
        if offset := re.match(r"(?i)offset\b\s*(?:flat:)?", operand):
            immediates.append(expression(operand[offset.end() :], True))
            continue
        operand = re.sub(r"\s*\{[^}]*\}\s*", "", operand)
        if not operand or re.match(_REGISTER, operand):
            continue
        operand, segment = re.sub(r"(?i)^[cdefgs]s\s*:", "", operand), operand
        in_memory = "[" in operand or segment != operand
        if not in_memory:
            parsed = expression(operand, True)
            if jump and not (sized and "ptr" in sized[0].lower()):
                # A number alone may be of either syntax, and is the same in both.
                return TextOnlyParts(intel=True, target=parsed, says_more=True)
            if evaluate(parsed) is not None:
                immediates.append(parsed)
            else:
                displacement = parsed
            continue
        written = []
        for term in re.findall(r"[-+]?[^-+]+", operand.replace("[", "+").replace("]", "").replace(" ", "")):
            factors = term.lstrip("+-").split("*")
            if any(re.match(_REGISTER, factor) for factor in factors):
                riz = next((f.lower() for f in factors if f.lower() in ("riz", "eiz")), riz)
            elif term.strip("+-"):
                written.append(term)
        if written:
            displacement = _sum(written)
    return _statement(True, displacement, immediates, riz)


def _sum(terms: list[str]) -> Expression | None:
    """Return the displacement of an Intel operand: its symbol plus the sum of all numbers."""
    number = 0
    symbol: Expression | None = None
    for term in terms:
        parsed = expression(term.lstrip("+"), True)
        value = evaluate(parsed)
        if value is not None:
            number += value
        elif symbol is None:
            symbol = parsed
        else:
            symbol = ("+", symbol, parsed)
    if symbol is None or not has_symbols(symbol):
        return None
    return ("+", symbol, number) if number else symbol


# --- names of a whole text --------------------------------------------------------------------------------------------

# A fast test first, because texts may be long.
_MAYBE_LOCAL = re.compile(r"(?<![\w.$@])\d+(?::|[bf]\b)")
_LOCAL = r"(?m)^[^#\n]*?(?<![\w.$@])(\d+)(?::|[bf]\b)"
_EACH_LOCAL = r"(?<![\w.$@])(\d+)(:|[bf]\b)"
_ASSIGNED = r"\s*(?:\.(?:set|equ|equiv)\s+([A-Za-z_.$][\w.$]*)\s*,|([A-Za-z_.$][\w.$]*)\s*==?)\s*([^#;\n]+)"


class Names:
    """The names in an assembly text that LLVM replaces when it reads them.

    Local labels (1:, 1b, 1f) become .Ltmp0, .Ltmp1 … in the order of the text, and symbols that are constants become
    their values.
    """

    def __init__(self, text: str) -> None:
        self._locals: dict[tuple[int, str], str] = {}
        self._constants: list[tuple[int, str, int]] = []
        self.narrow_target = text.startswith(NARROW_TARGET)
        """The target itself has 32 bits; the driver begins a text for it with this directive."""
        lines = text.split("\n")
        if _MAYBE_LOCAL.search(text) and re.search(_LOCAL, text):
            self._number_labels(lines)
        if "=" in text or ".set" in text or ".equ" in text:
            for number, line in enumerate(lines, 1):
                if match := re.match(_ASSIGNED, line):
                    self._assign(number, match[1] or match[2], match[3])

    @property
    def any(self) -> bool:
        """Return True if there are such names."""
        return bool(self._locals or self._constants)

    def _number_labels(self, lines: list[str]) -> None:
        defined: dict[str, int] = {}
        made: dict[tuple[str, int], str] = {}

        def symbol(label: str, instance: int) -> str:
            return made.setdefault((label, instance), f".Ltmp{len(made)}")

        for number, line in enumerate(lines, 1):
            if '"' in line:
                continue  # a string
            for label, suffix in re.findall(_EACH_LOCAL, line.partition("#")[0]):
                instance = defined.get(label, 0)
                if suffix == ":":
                    defined[label] = instance + 1
                    symbol(label, instance + 1)
                elif suffix == "f":
                    self._locals[number, label + suffix] = symbol(label, instance + 1)
                elif instance:
                    self._locals[number, label + suffix] = symbol(label, instance)

    def _assign(self, number: int, name: str, value: str) -> None:
        try:
            constant = evaluate(self.replaced(expression(value), number))
        except NotAnExpressionError:
            return
        if constant is not None:
            self._constants.append((number, name, constant))

    def replaced(self, expr: Expression, line: int) -> Expression:
        """Return an expression of a line with its names replaced."""
        result = self._with(expr, line)
        value = evaluate(result)
        return result if value is None else value

    def _with(self, expr: Expression, line: int) -> Expression:
        if isinstance(expr, int):
            return expr
        if isinstance(expr, str):
            if expr == ".":  # a label without a name, which LLVM puts there
                return '""'
            if name := self._locals.get((line, expr)):
                return name
            values = [value for number, name, value in self._constants if name == expr and number < line]
            return values[-1] if values else expr
        if len(expr) == 2:
            return expr[0], self._with(expr[1], line)
        return expr[0], self._with(expr[1], line), self._with(expr[2], line)
