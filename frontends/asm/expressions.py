"""Expressions in assembly text, read and printed as LLVM's assembler does.

Expressions of constants are folded; when printed, operands that are expressions are in parentheses.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

Expression: TypeAlias = "int | str | tuple[str, Expression] | tuple[str, Expression, Expression]"

# Names may have any character beyond ASCII. Naming the characters that they may not begin with takes a tenth of the
# time to compile.
_TOKENS = re.compile(
    r'\s*(0[xX][0-9a-fA-F]+|0[bB][01]+(?![\w])|\d[\w]*|"(?:[^"\\]|\\.)*"(?:@\w+)?|'
    r"[^\x00-\x23\x25-\x2d\x2f-\x3e\x5b-\x5e\x60\x7b-\x7f][\w.$?@]*|"
    r"<<|>>|&&|\|\||==|!=|<>|<=|>=|[-+*/%&|^~!()<>])"
)
# The precedence of GNU as's operators in LLVM's table for ELF.
_PRECEDENCE = {
    **dict.fromkeys(("&&", "||"), 2),
    **dict.fromkeys(("==", "!=", "<>", "<", "<=", ">", ">="), 3),
    **dict.fromkeys("+-", 4),
    **dict.fromkeys("|^&!", 5),
    **dict.fromkeys(("*", "/", "%", "<<", ">>"), 6),
}
_CONSTANT = r"(?:[\da-f]{8})+"
"""The end of the name of a constant in assembly for Windows (`__real@bf800000`), which is no relation."""
_WORDS = {"not": "~", "mod": "%", "shl": "<<", "shr": ">>", "and": "&", "or": "|", "xor": "^"}

_MOST_TOKENS = 200
"""Tokens of an expression. Functions recurse as deep as an expression is nested."""

_BITS = (1 << 64) - 1


class NotAnExpressionError(ValueError):
    """Text that is no expression, or one that is too long."""


def expression(text: str, intel: bool = False) -> Expression:
    """Parse an expression. Raises NotAnExpressionError."""
    tokens: list[str] = []
    at, text = 0, text.strip()
    while at < len(text):
        match = _TOKENS.match(text, at)
        if match is None:
            raise NotAnExpressionError(text)
        token = match[1]
        tokens.append(_WORDS.get(token.lower(), token) if intel else token)
        at = match.end()
        if len(tokens) > _MOST_TOKENS:
            raise NotAnExpressionError(text)
    tokens.append("")
    parsed, position = _binary(tokens, 0, 1, intel)
    if tokens[position] or not tokens[0]:
        raise NotAnExpressionError(text)
    value = evaluate(parsed)
    return parsed if value is None else value


def _binary(tokens: list[str], at: int, least: int, intel: bool) -> tuple[Expression, int]:
    left, at = _primary(tokens, at, intel)
    while (strength := _PRECEDENCE.get(tokens[at], 0)) >= least:
        operator = tokens[at]
        right, at = _binary(tokens, at + 1, strength + 1, intel)
        if intel and operator == "+" and isinstance(left, int):
            # In Intel syntax LLVM keeps an operand as the symbol plus the sum of the rest.
            left, right = right, left
        left = (operator, left, right)
    return left, at


def _primary(tokens: list[str], at: int, intel: bool) -> tuple[Expression, int]:
    token = tokens[at]
    if token == "(":
        inner, at = _binary(tokens, at + 1, 1, intel)
        if tokens[at] != ")":
            raise NotAnExpressionError("( without )")
        return inner, at + 1
    if token in ("-", "+", "~", "!"):
        inner, at = _primary(tokens, at + 1, intel)
        return ((token, inner) if token != "+" else inner), at
    if token[:1].isdigit():
        return _number(token, intel), at + 1
    if not token or token in _PRECEDENCE or token == ")":
        raise NotAnExpressionError(token)
    name, sign, variant = (
        token.rpartition("@") if token[0] != '"' or "@" in token[token.rindex('"') :] else (token, "", "")
    )
    if not (sign and name) or re.fullmatch(_CONSTANT, variant):
        return token, at + 1
    return f"{name}@{variant.upper()}", at + 1


def _number(token: str, intel: bool) -> Expression:
    lower = token.lower()
    if re.fullmatch(r"\d+[bf]", lower) and not (intel and lower[-1] == "b" and set(lower[:-1]) <= {"0", "1"}):
        return token  # a local label
    try:
        if lower.startswith("0x"):
            return int(lower, 16)
        if intel and lower[-1] == "h":
            return int(lower[:-1], 16)
        if intel and lower[-1] == "b":
            return int(lower[:-1], 2)
        if lower.startswith("0b"):
            return int(lower, 2)
        return int(lower, 8) if len(lower) > 1 and lower[0] == "0" and not intel else int(lower)
    except ValueError:
        raise NotAnExpressionError(token) from None


def evaluate(expr: Expression) -> int | None:
    """Return the value of an expression without symbols as a signed number of 64 bits, None if it has symbols."""
    if isinstance(expr, str):
        return None
    # Every step has 64 bits, as in LLVM.
    value = expr if isinstance(expr, int) else _value(expr)
    if value is None:
        return None
    value &= _BITS
    return value - (1 << 64) if value >> 63 else value


def _value(expr: tuple[str, Expression] | tuple[str, Expression, Expression]) -> int | None:
    operands: list[int] = []
    for operand in expr[1:]:
        value = evaluate(operand)
        if value is None:
            return None
        operands.append(value)
    if len(operands) == 1:
        return _UNARY[expr[0]](operands[0])
    left, right = operands
    if expr[0] in ("/", "%"):
        return _divided(left, right, expr[0])
    if expr[0] in ("<<", ">>"):
        if not 0 <= right < 64:
            return None
        return left << right if expr[0] == "<<" else (left & _BITS) >> right
    return _BINARY[expr[0]](left, right)


_UNARY: dict[str, Callable[[int], int]] = {"-": lambda x: -x, "~": lambda x: ~x, "!": lambda x: int(not x)}
# The result of a comparison that holds has all bits set.
_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "&": lambda x, y: x & y,
    "|": lambda x, y: x | y,
    "!": lambda x, y: x | ~y,
    "^": lambda x, y: x ^ y,
    "&&": lambda x, y: int(bool(x and y)),
    "||": lambda x, y: int(bool(x or y)),
    "==": lambda x, y: -int(x == y),
    "!=": lambda x, y: -int(x != y),
    "<>": lambda x, y: -int(x != y),
    "<": lambda x, y: -int(x < y),
    "<=": lambda x, y: -int(x <= y),
    ">": lambda x, y: -int(x > y),
    ">=": lambda x, y: -int(x >= y),
}


def _divided(left: int, right: int, sign: str) -> int | None:
    """Return quotient or remainder of a division that rounds towards zero, None for a division by zero."""
    if not right:
        return None
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return quotient if sign == "/" else left - quotient * right


def has_symbols(expr: Expression) -> int:
    """Return the number of symbols in an expression."""
    if isinstance(expr, int):
        return 0
    return 1 if isinstance(expr, str) else sum(has_symbols(each) for each in expr[1:])


def shown(expr: Expression) -> str:
    """Return an expression as LLVM prints it (MCExpr::print)."""
    if isinstance(expr, (int, str)):
        return str(expr)
    if len(expr) == 2:
        inner = shown(expr[1])
        return expr[0] + (f"({inner})" if isinstance(expr[1], tuple) and len(expr[1]) == 3 else inner)
    operator, left, right = expr
    text = _plain(left)
    if operator == "+" and isinstance(right, int) and right < 0:
        return text + str(right)
    return text + operator + _plain(right)


def _plain(expr: Expression) -> str:
    return f"({shown(expr)})" if isinstance(expr, tuple) else str(expr)
