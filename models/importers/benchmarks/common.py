"""Conversion of measured throughput and latency to a model's figures, for the importers of ibench and asmbench.

A benchmark knows no ports. For a form that the model has, its latency is used, and its throughput if the model's ports
do not imply the same. For another form, the throughput gives the number of its ports. The ports are taken from the
model if it has only one set of that size for instructions on such registers; otherwise the form is not imported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from incc.models.files.source import Entry, Forms, first_setting
from incc.models.forms.rules import rules_of
from incc.models.forms.shapes import shapes
from incc.models.importers import ImportRequest
from incc.models.importers.common import Imported, Malformed, add_features, read_text
from incc.models.notation import parse_latency, parse_ports, write_latency
from incc.models.throughput import of_form

if TYPE_CHECKING:
    import argparse

TOLERANCE = 0.05
"""The largest relative deviation of a measurement from a whole number of cycles or of ports."""


class PublishedFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A form's figures in cycles, None where not measured."""

    name: str
    throughput: float | None = None
    latency: float | None = None


def read_lines(path: str) -> Iterator[tuple[int, str]]:
    """Return the lines of a file with their numbers. Raises ImportFailed."""
    return enumerate(read_text(path).split("\n"), 1)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of both importers; measured figures replace the model's."""
    parser.add_argument("files", nargs="+", metavar="FILE")
    add_features(parser)
    parser.set_defaults(prefer=True)


def import_forms(
    read: Callable[[str], Iterable[PublishedFigures | tuple[int, str]]], source: str, request: ImportRequest
) -> Imported:
    """Return the figures of all forms that the names in the files stand for, as `read` reads them.

    Raises ImportFailed at the first line that cannot be read, or with `keep_going` skips and lists it.
    """
    ports: list[str] = first_setting(request.chain, "ports", "names") or []
    isa, forms = request.isa, request.kept
    figures: dict[str, tuple[float | None, float | None]] = {}
    unmatched: list[tuple[str, str]] = []
    malformed = Malformed(request.options.keep_going)
    for path in request.options.files:
        for record in read(path):
            if not isinstance(record, PublishedFigures):
                malformed.add(f"{path}:{record[0]}", ValueError(record[1]), "")
                continue
            before = figures.get(record.name, (None, None))
            figures[record.name] = (
                before[0] if record.throughput is None else record.throughput,
                before[1] if record.latency is None else record.latency,
            )
    result: Forms = {}
    for name, (throughput, latency) in figures.items():
        keys = _FORMS[isa](name, forms)
        if not keys:
            unmatched.append((name, "no such form"))
            continue
        if latency is not None and abs(latency - round(latency)) > max(1, round(latency)) * TOLERANCE:
            unmatched.append((name, f"latency is no whole number of cycles: {latency:g}"))
            latency = None
        for key in keys:
            entry = _entry(key, throughput, latency, isa, ports, forms)
            if entry is None:
                unmatched.append((name, "the throughput does not tell the ports"))
                continue
            entry["source"] = source
            result[key] = {(): entry}
    return Imported(forms=result, unmatched=unmatched, skipped=malformed.skipped)


def _entry(
    key: str, throughput: float | None, latency: float | None, isa: str, ports: Sequence[str], forms: Forms
) -> Entry | None:
    existing = forms.get(key, {}).get(())
    if existing is not None:
        fields: Entry = {k: v for k, v in existing.items() if k not in ("source", "derived", "tp")}
    else:
        usage = _only_ports(key, throughput, ports, forms)
        if usage is None:
            return None
        fields = {"ports": usage, "retire": 1}
    bound = max(float(of_form(parse_ports(fields.get("ports", ""), ports))), float(fields.get("divider", 0)))
    if throughput and abs(bound - throughput) > 0.1 * throughput and throughput > bound:
        fields["tp"] = round(throughput, 2)
    if latency is not None:
        pairs = list(parse_latency(fields.get("latency", ""))) or [(t, s, 0) for t, s in rules_of(isa).dependences(key)]
        if pairs and max(c for _, _, c in pairs) != round(latency):
            pairs = [(t, s, c if (t, s) == ("m", "a") else round(latency)) for t, s, c in pairs]
        if pairs:
            fields["latency"] = write_latency(pairs)
    return fields


def _only_ports(key: str, throughput: float | None, ports: Sequence[str], forms: Forms) -> str | None:
    """Return the only port set that forms of one µop on such registers have, of the size that the throughput tells."""
    if not throughput:
        return None
    count = round(1 / throughput)
    if count < 1 or abs(1 / throughput - count) > count * TOLERANCE:
        return None
    port_sets = set()
    for other, entries in forms.items():
        usage = entries.get((), {}).get("ports", "")
        if usage.startswith("1*") and "+" not in usage and _kind(other) == _kind(key):
            uops = parse_ports(usage, ports)
            if len(uops[0][0].split(",")) == count:
                port_sets.add(usage)
    return port_sets.pop() if len(port_sets) == 1 else None


def _kind(key: str) -> str:
    """Return the kind of a form: on vectors or on general-purpose registers, with memory or without."""
    memory = "m" if key.endswith("/m") or "[" in key else "r"
    shapes = key.partition("/")[2]
    vector = bool(re.search(r"[XYZ]?MM", key)) if shapes in ("r", "m") else bool(re.match(r"[bhsdqvz]", shapes))
    return ("vector" if vector else "general") + memory


# --- names -----------------------------------------------------------------------------------------------------------

_X86_KINDS = {
    "r": r"R(8|16|32|64)",
    "gpr": r"R(8|16|32|64)",
    "x": "XMM",
    "y": "YMM",
    "z": "ZMM",
    "mm": "MM",
    "i": r"I(8|16|32|64)",
    "imd": r"I(8|16|32|64)",
    "imm": r"I(8|16|32|64)",
}


def _x86_forms(name: str, forms: Forms) -> list[str]:
    """Return the forms that a name like `vaddpd-xmm_xmm_xmm` stands for: operands in Intel's order, else in AT&T's.

    As an assembler does, the EVEX form is only taken if there is no other. They need not be in the model (`forms`).
    """
    mnemonic, _, rest = name.lower().partition("-")
    patterns = []
    for token in rest.split("_") if rest else []:
        if token in _X86_KINDS:
            patterns.append(_X86_KINDS[token])
        elif re.fullmatch(r"[ri](8|16|32|64)|[xyz]mm|k", token):
            patterns.append(token.upper())
        elif token.startswith("m"):
            patterns.append("M")
        else:
            return []
    for order in (patterns, patterns[::-1]):
        matches = [
            s
            for s in shapes()
            if s.mnemonic.lower() == mnemonic
            and len(s.operands) == len(order)
            and all(map(re.fullmatch, order, s.operands))
        ]
        if matches:
            return [s.key for s in matches if s.encoding != "EVEX"] or [s.key for s in matches]
    return []


def _aarch64_forms(name: str, forms: Forms) -> list[str]:
    """Return the model's forms that a name like `fadd-vd_vd_vd` or `add-x_x_i` stands for."""
    mnemonic, _, rest = name.lower().partition("-")
    patterns = []
    for token in rest.split("_") if rest else []:
        if token in ("i", "imd", "imm"):
            patterns.append("#")
        elif re.fullmatch("[wxbhsdq]", token):
            patterns.append(token)
        elif m := re.fullmatch(r"([vz])(\d*)([bhsdq])", token):
            lanes = m[2] or r"\d*"
            patterns.append(rf"{m[1]}\.{lanes}{m[3]}")
        elif token == "p":
            patterns.append(r"p(/[zm])?")
        else:
            return []
    return [
        key
        for key in forms
        if key.partition("/")[0] == mnemonic and re.fullmatch(",".join(patterns), key.partition("/")[2])
    ]


_FORMS = {"x86": _x86_forms, "aarch64": _aarch64_forms}
"""The functions that return the forms that a name stands for, by instruction set."""
