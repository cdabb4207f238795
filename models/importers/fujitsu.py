"""Import of Fujitsu's A64FX Microarchitecture Manual: µops, pipelines, latency and blocking of vector instructions.

The input is the manual as `pdftotext -layout` writes it. Its tables 16-1 to 16-3 (integer, SIMD, SVE) have a row for
each variant of an instruction, in a notation that chapter 16 explains. A form gets figures if all rows that may be its
variant agree. Loads and stores get µops and pipelines, and other integer instructions nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from incc.models.files.source import Entry, Forms
from incc.models.importers import ImportRequest
from incc.models.importers.common import Imported, ImportFailed, read_text
from incc.models.importers.llvm.aarch64 import port_usage
from incc.models.notation import latency_by_pair, write_latency

if TYPE_CHECKING:
    import argparse

ISAS = ("aarch64",)
NEW_MODEL = ""

_TABLES = {"Table 16-1": "integer", "Table 16-2": "simd", "Table 16-3": "sve"}
_ROW = re.compile(
    r"(?P<left>.*?)\s{2,}(?P<uops>\d+)(?P<marks>(?:\s+[✓EP])*)\s{2,}"
    r"(?P<latency>[\d(\[N]\S*(?: \S+)*)\s{2,}(?P<pipelines>\(?\s?[A-Z]\S*(?: \S+)*)(?:\s{2,}.*)?"
)
_PIPELINES = {"FL*": ("FLA", "FLB"), "FLA": ("FLA",), "FLB": ("FLB",), "PRX": ("PR",), "EX*": ("EXA", "EXB")}
_ACCESS_PIPELINES = {
    **{name: ports for name, ports in _PIPELINES.items() if name != "EX*"},
    "EAG*": ("EAGA", "EAGB"),
    "EAGA": ("EAGA",),
    "EAGB": ("EAGB",),
    "EXA": ("EXA",),
    "EX*|EAG*": ("EAGA", "EAGB", "EXA", "EXB"),
}
"""Pipelines of loads and stores without vectors of addresses."""
_BITS = "512"
"""Bits of the vectors, for rows that depend on them."""
_ACCUMULATING = re.compile(r"f?n?ml[as]|fcmla|[su]dot|[su]ml[as]l2?")
"""Instructions whose old destination is only needed by the last µop."""


class _Row(msgspec.Struct, frozen=True):
    """The figures of a variant of an instruction."""

    table: str
    about: str
    """The words in brackets behind its name, such as "vectors, predicated"."""
    option: str
    """The condition, such as "<T> = 2D"."""
    count: int
    """Number of µops."""
    uops: tuple[tuple[int, tuple[int, ...], tuple[str, ...]], ...]
    """Latency, the µops before that it waits for (1: the previous one), and pipelines; () for notations that are not
    read."""
    flows: tuple[tuple[str, ...], ...]
    """Pipelines of the parts of all µops of a load or store; () for notations that are not read."""
    blocking: str
    """E: the next instruction of this kind waits for this one; P: the pipeline does."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE")


def import_forms(request: ImportRequest) -> Imported:
    """Return the figures of the model's forms that are in the manual. Raises ImportFailed."""
    rows: dict[str, list[_Row]] = {}
    for path in request.options.files:
        for name, row in _rows(read_text(path)):
            rows.setdefault(name, []).append(row)
    if not rows:
        raise ImportFailed(
            f"{request.options.files[0]}: no table of chapter 16; convert the manual with pdftotext -layout"
        )
    result: Forms = {}
    default = request.chain[0].data.get("source", "")
    for form, entries in request.kept.items():
        mnemonic, _, shapes = form.partition("/")
        existing = entries.get((), {})
        if "[x" in shapes or "[z" in shapes:
            accesses = {(row.count, row.flows) for row in rows.get(mnemonic, ()) if _may_access(row, shapes)}
            if len({count for count, _ in accesses}) == 1 and existing:
                fields = {"source": default, **existing, "retire": min(accesses)[0]}
                if len(accesses) == 1 and (flows := min(accesses)[1]):
                    fields |= {"source": "fujitsu", "ports": port_usage(Counter(flows))}
                result[form] = {(): fields}
            continue
        candidates = [row for row in rows.get(mnemonic, ()) if _may_be(row, shapes)]
        uses = {(row.uops, row.blocking) for row in candidates}
        if len(uses) == 1 and candidates[0].uops:
            result[form] = {(): _entry(mnemonic, shapes, candidates[0], existing)}
    return Imported(forms=result)


def _rows(text: str) -> Iterator[tuple[str, _Row]]:
    """Yield the rows of the tables by lower-case mnemonic."""
    table = option = ""
    names: list[str] = []
    about = ""
    for line in text.splitlines():
        for title, name in _TABLES.items():
            if line.strip().startswith(f"{title} "):
                table = name
        match = _ROW.fullmatch(line.rstrip())
        if not table or match is None:
            continue
        cells = re.split(r"\s{2,}", match["left"].strip("\f "))
        bits = cells.pop() if cells[-1] in ("128", "256", "512") else ""
        if re.match(r"\s{0,12}[A-Z]", match["left"].strip("\f")):
            head = re.fullmatch(r"([A-Z0-9, ]+?)(?: \((.*)\))?", cells.pop(0))
            names, about = (head[1].lower().split(", "), head[2] or "") if head else ([], "")
            option = ""
        cells = [cell for cell in cells if cell]
        if cells:
            option = cells[-1]
        if bits in ("", _BITS):
            uops = _uops(match["latency"], match["pipelines"])
            count = int(match["uops"])
            blocking = "".join(mark for mark in "EP" if mark in match["marks"])
            for name in names:
                yield (
                    name,
                    _Row(
                        table,
                        about,
                        option,
                        count,
                        tuple(uops) if len(uops) == count else (),
                        _flows(match["pipelines"]),
                        blocking,
                    ),
                )


def _uops(latency: str, pipelines: str) -> list[tuple[int, tuple[int, ...], tuple[str, ...]]]:
    """Return the µops of a row; none for notations that are not read."""
    result = []
    for cycles, where in zip(_expanded(latency), _expanded(pipelines), strict=False):
        match = re.fullmatch(r"(?:\[([\d,]+)\])?(\d+)", cycles)
        if match is None or where not in _PIPELINES:
            return []
        before = tuple(int(n) for n in match[1].split(",")) if match[1] else ()
        result.append((int(match[2]), before, _PIPELINES[where]))
    return result


def _flows(pipelines: str) -> tuple[tuple[str, ...], ...]:
    """Return the pipelines of the parts of a load's or store's µops; () for notations that are not read."""
    names = [name for uop in _expanded(pipelines.replace("| ", "|")) for name in uop.split(", ")]
    return tuple(_ACCESS_PIPELINES[n] for n in names) if all(n in _ACCESS_PIPELINES for n in names) else ()


def _expanded(cell: str) -> list[str]:
    """Return the µops of a cell such as "4 / ([1]6 / [1,2]4) x 3"."""
    result: list[str] = []
    for part in re.findall(r"\s*\(.*?\)(?: x \d+)?|[^/]+", cell):
        group = re.fullmatch(r"\((.*)\) x (\d+)", part.strip())
        result += _expanded(group[1]) * int(group[2]) if group else [part.strip()] * bool(part.strip())
    return result


def _may_access(row: _Row, shapes: str) -> bool:
    """Return True if a load or store with these operands may be a row's variant."""
    registers, _, address = shapes.partition("[x" if "[x" in shapes else "[z")
    kind = registers.lstrip("{")[0]
    if row.table != ("sve" if kind in "zp" else "integer" if kind in "wx" else "simd"):
        return False
    if row.table == "sve":
        index = "vector" if ",z" in address else "scalar" if re.match(r",x", address) else "immediate"
        base = "scalar" if "[x" in shapes else "vector"
        whole = {"z": "vector", "p": "predicate"}[kind]
        return row.about in (whole, f"{base} plus {index}") or not re.search(r" plus |^vector$|^predicate$", row.about)
    moves = "Post" if "]," in address else "Pre" if address.endswith("!") else ""
    given = "Post" if "Post" in row.option else "Pre" if "Pre-index" in row.option else ""
    kinds = {"register": ",x" in address or ",w" in address, "literal": False, "single": "[]" in registers}
    return moves == given and all(is_one for word, is_one in kinds.items() if word in row.about)


def _may_be(row: _Row, shapes: str) -> bool:
    """Return True if a form with these operands may be a row's variant."""
    operands = shapes.split(",")
    scalable = any(o.startswith(("z", "p")) for o in operands)
    if not shapes or row.table != ("sve" if scalable else "simd"):
        return False
    words = set(re.findall(r"\w+", row.about))
    first = operands[0][0]
    element = operands[-1].endswith("[]") or (operands[-1] == "#" and "[]" in shapes)
    has = {
        "element": element,
        "indexed": element,
        "predicated": "p/m" in operands or "p" in operands[1:2],
        "unpredicated": not any(o.startswith("p") for o in operands),
        "immediate": "#" in operands,
        "general": any(o[0] in "wx" for o in operands),
        "SIMD": first in "bhsdq",
        "scalar": first in ("bhsdq" if "SIMD" in words or not scalable else "wx"),
        "vector": first == "z" if scalable else first == "v" and not element,
        "vectors": first == "z" and not element and "#" not in operands,
        "predicate": first == "p",
        "predicates": first == "p",
    }
    return all(has[word] for word in words & has.keys()) and _has_size(row.option, operands)


def _has_size(option: str, operands: Sequence[str]) -> bool:
    """Return True if a form may have the size that a condition names: of its vectors (<T>), or of its destination."""
    match = re.match(r"<([TVR])\w*> ?= ?(.*)", option)
    if match is None:
        return True
    vectors = [o for o in operands if "." in o] if match[1] == "T" else []
    own = (vectors or operands)[0].rpartition(".")[2].upper()
    sizes = re.findall(r"\d*[BHSDQ]\b", match[2])
    return not sizes or own in sizes or own.lstrip("0123456789") in sizes


def _entry(mnemonic: str, shapes: str, row: _Row, existing: Entry) -> Entry:
    """Return a form's figures by a row; the pairs of operands with a latency are those that it has."""
    usage = Counter(pipelines for _, _, pipelines in row.uops)
    fields: Entry = {"source": "fujitsu", "ports": port_usage(usage), "retire": len(row.uops)}
    ready: list[int] = []
    for cycles, before, _ in row.uops:
        ready.append(cycles + max([ready[-n] for n in before if n <= len(ready)], default=0))
    total, last = max(ready), row.uops[-1][0]
    if row.blocking:
        fields["divider" if row.blocking == "E" else "hold"] = total
    pairs = latency_by_pair(existing.get("latency", ""))
    accumulates = len(row.uops) > 1 and _ACCUMULATING.fullmatch(mnemonic) is not None
    element = str(shapes.count(",")) if shapes.endswith("[]") and len(row.uops) == 2 else ""
    late = {source for _, source in pairs if (accumulates and source == "0") or (element and source != element)}
    if pairs:
        fields["latency"] = write_latency((to, source, last if source in late else total) for to, source in pairs)
    return fields
