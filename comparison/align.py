"""Alignment of two kernels' instructions, side by side.

Dynamic programming finds the pairs, in the order of both kernels, whose likeness adds up to the most. A gap between
pairs has a cost, so that the body of a loop is next to one copy of an unrolled body instead of being spread over all
copies. A first run shows which register became which; a second run prefers pairs that agree with that. A loop may start
at another instruction than its counterpart: it is rotated if that pays off. Instructions that remain on both sides with
the same text have been moved.

Everything known about an instruction comes from its report; this module knows no instruction set.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal

import msgspec

from incc.comparison import types as c
from incc.report import types as t

How = Literal["same", "registers", "operands", "changed", "added", "removed", "moved"]

_SCORES: dict[How, int] = {"same": 100, "registers": 80, "operands": 40, "changed": 20}
"""The score of a pair, by the kind of change."""

_AGREES = 15
"""The bonus of a pair with other registers if each register became what it became in most pairs."""

_GAP = 7
"""The cost of a gap of any length: less than the score of any pair."""

_TURN_PAYS = 1.15
"""The factor by which the sum must grow for a loop to be rotated; half of such a gain may be chance."""

CELLS = 25_000_000
"""The most pairs of instructions that are compared; in larger kernels only equal texts are paired."""


class _Shape(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """The features of an instruction that the alignment compares."""

    text: str
    """The text, without the names of labels."""
    mnemonic: str
    form: str
    """The instruction's form in the model."""
    work: str
    """The kind of its last work; empty for none."""
    rest: str
    """The operands with each name replaced by `$`."""
    names: tuple[str, ...]
    """The names in the operands: registers and symbols."""


def align(a: Sequence[t.InstructionReport], b: Sequence[t.InstructionReport]) -> list[c.Aligned]:
    """Return rows that each have an instruction of `a`, of `b`, or of both; each instruction is in one row.

    Rows are in the order of `a`; an instruction that only `b` has follows its predecessor in `b`. `b` may start in its
    middle if it is a rotated loop. A moved instruction stands next to its counterpart, where `a` has it. `align(b, a)`
    finds the same pairs.
    """
    first, second = [_shape(i) for i in a], [_shape(i) for i in b]
    if [s.text for s in first] == [s.text for s in second]:
        return [c.Aligned(a=i, b=i, change="same") for i in range(len(first))]
    # The kernels are put into a fixed order, so that ties are broken the same way whichever comes first.
    turned = (len(second), second) < (len(first), first)
    if turned:
        first, second = second, first
    pairs, start = _pairs(first, second)
    moved = _moved(first, second, pairs)
    if turned:
        pairs, moved = [(j, i, how) for i, j, how in pairs], [(j, i) for i, j in moved]
        first, second = second, first
    return _rows(first, second, pairs, moved, start, turned)


def _shape(instruction: t.InstructionReport) -> _Shape:
    text = " ".join(instruction.text.split())
    mnemonic, _, operands = text.partition(" ")
    works = instruction.work or [""]
    if "branches" in works and "(" not in operands and "%" not in operands:
        operands = ""  # the target is a label or an address
    operands = _LABEL.sub(".L", operands)
    names = tuple(_NAME.findall(operands))
    rest = _NAME.sub("$", operands)
    return _Shape(
        text=f"{mnemonic} {operands}", mnemonic=mnemonic, form=instruction.form, work=works[-1], rest=rest, names=names
    )


_LABEL = re.compile(r"\.L\w+")
_NAME = re.compile(r"[%@]?\b[A-Za-z_][\w.]*")


def _like(a: _Shape, b: _Shape) -> How | None:
    """Return the kind of change from one instruction to another; None if they have nothing in common."""
    if a.text == b.text and a.form == b.form:
        return "same"
    if a.form == b.form:
        return "registers" if a.rest == b.rest and len(a.names) == len(b.names) else "operands"
    if a.mnemonic == b.mnemonic:
        return "operands"
    return "changed" if a.work and a.work == b.work else None


def _pairs(a: list[_Shape], b: list[_Shape]) -> tuple[list[tuple[int, int, How]], int]:
    """Return the best pairs in the order of both kernels, and the index at which `b` starts."""
    if not a or not b:
        return [], 0
    if len(a) * len(b) > CELLS:
        return _equal_runs(a, b), 0
    pairs, worth = _best(a, b, {})
    renamed = _renamed(a, b, pairs)
    if renamed:
        pairs, worth = _best(a, b, renamed)
    start = 0
    for turn in _turns(a, b, pairs):
        others, more = _best(a, b[turn:] + b[:turn], renamed)
        if more > _TURN_PAYS * worth and more >= worth + 2 * _SCORES["same"]:
            pairs, worth, start = [(i, (j + turn) % len(b), how) for i, j, how in others], more, turn
    return pairs, start


def _equal_runs(a: list[_Shape], b: list[_Shape]) -> list[tuple[int, int, How]]:
    """Return the pairs of equal runs of texts, for kernels that are too large for all pairs."""
    blocks = SequenceMatcher(None, [s.text for s in a], [s.text for s in b], autojunk=True).get_matching_blocks()
    return [(block.a + n, block.b + n, "same") for block in blocks for n in range(block.size)]


def _best(a: list[_Shape], b: list[_Shape], renamed: dict[str, str]) -> tuple[list[tuple[int, int, How]], int]:
    """Return the pairs with the highest total score, and that score."""
    import numpy as np

    # Kernels repeat instructions, so likeness is computed once for each pair of different ones.
    kinds_a, kinds_b = list(dict.fromkeys(a)), list(dict.fromkeys(b))
    number_a, number_b = ({shape: n for n, shape in enumerate(kinds)} for kinds in (kinds_a, kinds_b))
    table = np.zeros((len(kinds_a), len(kinds_b)), dtype=np.int32)
    by_form: dict[str, list[int]] = {}
    for n, shape in enumerate(kinds_b):
        for key in {f"f {shape.form}", f"m {shape.mnemonic}", f"w {shape.work}"}:
            by_form.setdefault(key, []).append(n)
    how: dict[tuple[int, int], How] = {}
    for m, shape in enumerate(kinds_a):
        near = {
            n for key in (f"f {shape.form}", f"m {shape.mnemonic}", f"w {shape.work}") for n in by_form.get(key, ())
        }
        for n in near:
            kind = _like(shape, kinds_b[n])
            if kind is not None:
                agrees = kind == "registers" and all(
                    renamed.get(x, x) == y for x, y in zip(shape.names, kinds_b[n].names, strict=True)
                )
                how[m, n] = kind
                table[m, n] = _SCORES[kind] + _AGREES * agrees
    columns = np.array([number_b[shape] for shape in b])
    rows = [number_a[shape] for shape in a]
    width = len(b) + 1
    none = np.int32(-(2**30))
    # `paired` is the best sum that ends with the pair (i, j), `free` the best sum up to i and j that ends with a gap,
    # whose cost is included. `went_on` keeps which of the two a pair extended, `came_from` the origin of `free`.
    paired = np.full(width, none, dtype=np.int32)
    free = np.zeros(width, dtype=np.int32)
    went_on = np.zeros((len(a) + 1, width), dtype=bool)
    came_from = np.zeros((len(a) + 1, width), dtype=np.int8)  # 1: the pair above and left, 2: above, 3: left
    came_from[0, :] = 3
    for i, row in enumerate(rows, 1):
        worth = table[row][columns]
        on = paired[:-1] >= free[:-1]
        now = np.full(width, none, dtype=np.int32)
        now[1:] = np.where(worth > 0, worth + np.where(on, paired[:-1], free[:-1]), none)
        went_on[i, 1:] = on
        gap = now - np.int32(_GAP)
        higher = gap > free
        here = np.where(higher, gap, free)
        best = np.maximum.accumulate(here)
        came_from[i] = np.where(best > here, 3, np.where(higher, 1, 2))
        paired, free = now, best
    at_pair = paired[-1] >= free[-1]
    # The alignment may end with a pair or with a gap, whichever has the higher sum.
    end = int(max(paired[-1], free[-1]))
    pairs: list[tuple[int, int, How]] = []
    i, j = len(a), len(b)
    while i and j:
        if at_pair:
            pairs.append((i - 1, j - 1, how[rows[i - 1], int(columns[j - 1])]))
            at_pair = bool(went_on[i, j])
            i, j = i - 1, j - 1
        elif came_from[i, j] == 1:
            at_pair = True
        elif came_from[i, j] == 2:
            i -= 1
        else:
            j -= 1
    return pairs[::-1], end


def _renamed(a: list[_Shape], b: list[_Shape], pairs: list[tuple[int, int, How]]) -> dict[str, str]:
    """Return what each name of `a` became in most pairs of the same form; ties go to the first in the alphabet."""
    votes: dict[str, dict[str, int]] = {}
    for i, j, how in pairs:
        if how in ("same", "registers"):
            for old, new in zip(a[i].names, b[j].names, strict=True):
                votes.setdefault(old, {}).setdefault(new, 0)
                votes[old][new] += 1
    renamed = {old: min(news, key=lambda new: (-news[new], new)) for old, news in votes.items()}
    return renamed if any(old != new for old, new in renamed.items()) else {}


def _turns(a: list[_Shape], b: list[_Shape], pairs: list[tuple[int, int, How]]) -> list[int]:
    """Return the offsets at which `b` may start if it is a rotated loop: those at which most instructions agree."""
    if len(pairs) == min(len(a), len(b)) and all(how in ("same", "registers") for _, _, how in pairs):
        return []
    by_form: dict[str, list[int]] = {}
    for j, shape in enumerate(b):
        by_form.setdefault(shape.form, []).append(j)
    votes: dict[int, int] = {}
    for i, shape in enumerate(a):
        candidates = by_form.get(shape.form, ())
        # A frequent form is no evidence for any offset.
        for j in candidates if len(candidates) <= 8 else ():
            offset = (j - i) % len(b)
            votes[offset] = votes.get(offset, 0) + (3 if shape.text == b[j].text else 1)
    best = sorted(votes, key=lambda offset: (-votes[offset], offset))[:3]
    return [offset for offset in best if offset]


def _moved(a: list[_Shape], b: list[_Shape], pairs: list[tuple[int, int, How]]) -> list[tuple[int, int]]:
    """Return pairs of equal instructions that remain on both sides, the first with the first."""
    taken_a, taken_b = {i for i, _, _ in pairs}, {j for _, j, _ in pairs}
    left: dict[tuple[str, str], list[int]] = {}
    for j, shape in enumerate(b):
        if j not in taken_b:
            left.setdefault((shape.text, shape.form), []).append(j)
    moved = []
    for i, shape in enumerate(a):
        if i not in taken_a and (others := left.get((shape.text, shape.form))):
            moved.append((i, others.pop(0)))
    return moved


def _rows(
    a: list[_Shape],
    b: list[_Shape],
    pairs: list[tuple[int, int, How]],
    moved: list[tuple[int, int]],
    start: int,
    turned: bool,
) -> list[c.Aligned]:
    """Return the rows in the order of `a` and `b` from their starts.

    If `turned` is set, `a` is the kernel that starts at `start`, otherwise `b` is.
    """
    start_a, start_b = (start, 0) if turned else (0, start)
    partner: dict[int, tuple[int, How]] = {i: (j, how) for i, j, how in pairs}
    partner.update({i: (j, "moved") for i, j in moved})
    gone = {j for _, j in moved}
    rows: list[c.Aligned] = []
    at = 0  # the number of instructions of b that are done

    def add(until: int) -> None:
        """Add rows for the instructions up to one that only b has."""
        others = [(start_b + k) % len(b) for k in range(at, until)]
        rows.extend(c.Aligned(a=None, b=other, change="added") for other in others if other not in gone)

    for n in range(len(a)):
        i = (start_a + n) % len(a)
        j: int | None = None
        how: How | Literal["removed"] = "removed"
        if i in partner:
            j, how = partner[i]
        if j is not None and how != "moved":
            until = (j - start_b) % len(b)
            add(until)
            at = until + 1
        rows.append(c.Aligned(a=i, b=j, change=how))
    add(len(b))
    return rows
