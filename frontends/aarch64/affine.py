"""The linear effects of A64 instructions on general-purpose registers: sums, moves, shifts, write-back."""

from __future__ import annotations

from collections.abc import Sequence

from incc.frontends.aarch64.operands import GRANULE, Operand
from incc.frontends.kernel import Affine

_SUMS = {"add": 1, "adds": 1, "sub": -1, "subs": -1}
_EXTENSIONS = ("sxtw", "uxtw")
"""Extensions of 32 bits to 64."""
# What counts the elements of a vector, by the bytes of an element; the bytes of a vector and of a predicate.
_COUNTS = {"b": GRANULE, "h": GRANULE // 2, "w": GRANULE // 4, "d": GRANULE // 8}
_LENGTHS = {"addvl": GRANULE, "addpl": GRANULE // 8}


def affine(mnemonic: str, operands: Sequence[Operand]) -> Affine | None:
    """Return the linear effect of an instruction on a register, None for none.

    Multiples of a vector's length are those of the shortest vector.
    """
    for operand in operands:
        if operand.address is not None:
            return _write_back(operand)
    if not operands or not operands[0].registers or operands[0].registers[0].kind != "general":
        return None
    target, rest = operands[0], operands[1:]
    if mnemonic in _SUMS and len(rest) in (2, 3):
        return _sum(target, rest, _SUMS[mnemonic])
    if mnemonic in ("mov", "movz") and len(rest) == 1:
        return _move(target, rest[0])
    if mnemonic == "neg" and len(rest) == 1:
        return Affine(_root(target), _terms(rest[0], -1), 0)
    if mnemonic == "lsl" and len(rest) == 2 and rest[1].value is not None:
        return Affine(_root(target), _terms(rest[0], 1 << rest[1].value), 0)
    # As everywhere, an extended number is taken for the same number.
    if mnemonic in _EXTENSIONS and len(rest) == 1:
        return Affine(_root(target), _terms(rest[0], 1), 0)
    if mnemonic in ("sbfiz", "ubfiz") and rest[1].value is not None and rest[2].value == 32:
        return Affine(_root(target), _terms(rest[0], 1 << rest[1].value), 0)
    if mnemonic in _LENGTHS and rest[-1].value is not None:
        return Affine(_root(target), _terms(rest[0], 1), rest[-1].value * _LENGTHS[mnemonic], scalable=True)
    if mnemonic in ("rdvl", "cntb", "cnth", "cntw", "cntd"):
        return _length(target, mnemonic, rest)
    if mnemonic[:3] in ("inc", "dec"):
        return _count(target, mnemonic, rest)
    return None


def _root(operand: Operand) -> str:
    return operand.registers[0].root


def _terms(operand: Operand, times: int) -> tuple[tuple[str, int], ...]:
    return tuple([(r.root, times) for r in operand.registers])


def _write_back(operand: Operand) -> Affine | None:
    address = operand.address
    if address is None or not address.written_back or address.step is None:
        return None
    root = address.base.root
    return Affine(root, ((root, 1),), address.step)


def _move(target: Operand, source: Operand) -> Affine | None:
    if source.shape == target.shape:
        return Affine(_root(target), _terms(source, 1), 0)
    return Affine(_root(target), (), source.value) if source.value is not None else None


def _sum(target: Operand, rest: Sequence[Operand], sign: int) -> Affine | None:
    first, second = rest[0], rest[1]
    shift = rest[2].value if len(rest) == 3 else 0
    if shift is None or (len(rest) == 3 and not rest[2].shape.startswith(("lsl", *_EXTENSIONS))):
        return None
    factor = sign << shift
    if second.shape == "#":
        return None if second.value is None else Affine(_root(target), _terms(first, 1), factor * second.value)
    if second.shape != first.shape and len(rest) == 2:
        return None
    terms = dict(_terms(first, 1))
    for root, times in _terms(second, factor):
        terms[root] = terms.get(root, 0) + times
    return Affine(_root(target), tuple([(root, times) for root, times in terms.items() if times]), 0)


def _count(target: Operand, mnemonic: str, rest: Sequence[Operand]) -> Affine | None:
    """Return the effect of an addition of the number of elements in a vector: `incd x0, all, mul 2`."""
    step = _elements(mnemonic[3:], rest)
    if step is None:
        return None
    return Affine(_root(target), _terms(target, 1), step if mnemonic.startswith("inc") else -step, scalable=True)


def _length(target: Operand, mnemonic: str, rest: Sequence[Operand]) -> Affine | None:
    """Return the number of elements, or of bytes, in a vector: `cntd x0`, `rdvl x0, 1`."""
    if mnemonic == "rdvl":
        length = None if rest[0].value is None else rest[0].value * GRANULE
    else:
        length = _elements(mnemonic[3:], rest)
    return None if length is None else Affine(_root(target), (), length, scalable=True)


def _elements(size: str, rest: Sequence[Operand]) -> int | None:
    """Return the number of elements of a size in a vector, times a factor; None for some of them."""
    count = _COUNTS.get(size)
    if count is None or (rest and rest[0].text != "all"):
        return None
    for operand in rest[1:]:
        count *= operand.value or 1
    return count
