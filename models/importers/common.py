"""What all importers share: collecting entries with their conditions and reducing them to what differs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from incc.models.files.compile import DEFAULTS, Entry, Forms

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping


class ImportFailed(Exception):
    """A record cannot be understood; the message starts with its file and line."""


class Imported(NamedTuple):
    """The result of an import.

    `forms`: all fields of every entry written out in full, whatever its conditions. `fusion`: macro-fusion classes.
    `unmatched`: what the source has but no decoder form was found for, each with the reason. `skipped`: malformed
    records (only with keep_going). `notes`: more to tell.

    `prefers`: whether its forms go before those that the model has; None: as the command's options say.
    `replaces_fusion`: its macro-fusion classes take the place of the model's. `finish`: what is still to be done with
    the file's forms when they are together; returns how many it changed. `header`: what becomes of the part of the file
    above its forms, which is else kept as it is.
    """

    forms: Forms
    fusion: dict[str, tuple[str, ...]]
    unmatched: list[tuple[str, str]]
    skipped: list[str]
    notes: list[str]
    prefers: bool | None = None
    replaces_fusion: bool = False
    finish: Callable[[Forms], int] | None = None
    header: Callable[[str], str] | None = None


def add_features(parser: argparse.ArgumentParser) -> None:
    """The option by which a user names CPUID features that the core has."""
    parser.add_argument(
        "--features",
        default="",
        metavar="A,B",
        help="CPUID features (iced-x86's names) of the core beside those of the forms that the model has",
    )


def add_renamed_ports(parser: argparse.ArgumentParser) -> None:
    """The option by which a user says which of the source's ports are called otherwise in the model."""
    parser.add_argument(
        "--rename-ports", default="", metavar="A=B,…", help="the source's ports that the model calls otherwise"
    )


def renamed_ports(text: str, example: str = "10=B,11=A") -> dict[str, str]:
    """What `--rename-ports` says. Raises ImportFailed for a malformed list."""
    pairs = [r.split("=") for r in text.split(",") if r]
    if not all(len(pair) == 2 and all(pair) for pair in pairs):
        raise ImportFailed(f"malformed list of ports {text!r}: it is written {example}")
    return dict(pairs)


def reduced(entries: Mapping[tuple[str, ...], Entry]) -> dict[tuple[str, ...], Entry]:
    """Entries with conditions hold only what differs from what the entries with fewer conditions already say.

    Where no entry is without conditions, the first one (in sorted order) stands for all.
    """
    full = dict(entries)
    if () not in full:
        full[()] = full[min(full, key=lambda c: (len(c), c))]
    result: dict[tuple[str, ...], Entry] = {}
    for conditions in sorted(full, key=lambda c: (len(c), c)):
        fields = full[conditions]
        below: Entry = {}
        for c, f in result.items():
            if set(c) <= set(conditions):
                below.update(f)
        if not conditions:
            result[conditions] = fields
            continue
        difference = {k: v for k, v in fields.items() if below.get(k, DEFAULTS[k]) != v}
        for k in below:
            if k not in fields and below[k] != DEFAULTS[k]:
                difference[k] = DEFAULTS[k]
        difference.pop("derived", None)
        if difference:
            result[conditions] = difference
    return result


def differences(forms: Forms, inherited: Forms, source: str) -> Forms:
    """What a model must say of forms, given in full, beside what it inherits; laid over that, it gives them exactly.

    A form with the same figures is left out if they come from the same source; else it says its source only.
    """
    result: Forms = {}
    for form, entries in forms.items():
        parents = inherited.get(form, {})
        changed: dict[tuple[str, ...], Entry] = {}
        for conditions in sorted({*entries, *parents}, key=lambda c: (len(c), c)):
            parent = parents.get(conditions)
            if conditions not in entries:
                changed[conditions] = {"absent": True}
                continue
            fields = entries[conditions]
            if parent is None:
                changed[conditions] = fields
                continue
            difference = {k: v for k, v in fields.items() if k != "source" and parent.get(k, DEFAULTS[k]) != v}
            # What only the parent says here goes back to what holds with fewer conditions.
            below: Entry = {}
            for c, f in entries.items():
                if set(c) < set(conditions):
                    below.update(f)
            for k, v in parent.items():
                if k not in fields and k != "source" and v != (value := below.get(k, DEFAULTS[k])):
                    difference[k] = value
            if not conditions and not difference and parent.get("source") != source:
                difference["source"] = source
            if difference:
                changed[conditions] = difference
        if changed:
            result[form] = changed
    return result


def indexed_variant(key: str, fields: Entry) -> Entry | None:
    """The fields for an indexed address, None where they are the same.

    Port 7 only adds base and displacement. VEX and EVEX instructions that combine a load with a register are split at
    issue: so uops.info measured 358 of 373 on Skylake, all but divisions and square roots, which hide it.
    """
    ports = fields.get("ports", "")
    changed = {**fields, "ports": re.sub(r"\bp237\b", "p23", ports)}
    terms = changed["ports"].split("+")
    if len(terms) != len({t.partition("*")[2] for t in terms}):
        merged: dict[str, int] = {}
        for term in terms:
            count, _, name = term.partition("*")
            merged[name] = merged.get(name, 0) + int(count)
        changed["ports"] = "+".join(f"{n}*{p}" for p, n in sorted(merged.items()))
    vector = key.startswith(("VEX_", "EVEX_"))
    if vector and fields.get("retire") == 1 and "p23" in ports and "+" in ports and "p4" not in ports:
        changed["retire"] = 2
    return changed if changed != fields else None
