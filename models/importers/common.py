"""Common parts of importers: their options, reading lines, and reducing entries to what differs."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from incc.models.files.source import DEFAULTS, Conditions, Entries, Entry, Forms, by_conditions, resolved
from incc.models.forms.shapes import FEATURES, Shape, by_key, features
from incc.models.notation import read_usage, write_usage

if TYPE_CHECKING:
    import argparse


class ImportFailed(Exception):
    """A source cannot be read; the message starts with the file and line where these are known."""


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an import."""

    forms: Forms
    """The imported entries, with all fields written out whatever their conditions."""
    fusion: dict[str, tuple[str, ...]] = {}
    """Macro-fusion classes."""
    unmatched: list[tuple[str, str]] = []
    """Records that match no form of the decoder, each with the reason."""
    skipped: list[str] = []
    """Malformed records (only with keep_going)."""
    notes: list[str] = []
    """Messages to the user."""
    prefers: bool | None = None
    """True if imported forms replace those of the model; None: as the command's options say."""
    replaces_fusion: bool = False
    """True if `fusion` replaces the model's classes."""
    finish: Callable[[Forms], int] | None = None
    """The function that completes the merged forms of the file and returns the number of changed ones."""
    header: Callable[[str], str] | None = None
    """The function that changes the part of the file above its forms, which is kept otherwise."""
    keeps_forms: bool = False
    """True if the source has no forms, so that all those of the file are kept."""


class Malformed:
    """The malformed records of a source: the first one is an error, unless they are to be skipped."""

    def __init__(self, keep_going: bool) -> None:
        self.keep_going = keep_going
        self.skipped: list[str] = []

    def add(self, place: str, error: Exception, what: str = "malformed record: ") -> None:
        """Note a malformed record. Raises ImportFailed unless records are skipped."""
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        if not self.keep_going:
            raise ImportFailed(f"{place}: {what}{reason}") from None
        self.skipped.append(f"{place}: {reason}")


MALFORMED = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError)
"""Errors that a malformed record causes."""

# --- options ---------------------------------------------------------------------------------------------------------


def add_features(parser: argparse.ArgumentParser) -> None:
    """Add the option that names CPUID features of the core."""
    parser.add_argument(
        "--features",
        default="",
        metavar="A,B",
        help="more CPUID features of the core, beyond those that the model's forms need (iced-x86's names)",
    )


def add_renamed_ports(parser: argparse.ArgumentParser) -> None:
    """Add the option that names ports which the model calls differently."""
    parser.add_argument(
        "--rename-ports", default="", metavar="A=B,…", help="ports of the source that have other names in the model"
    )


def read_pairs(text: str, what: str, example: str) -> dict[str, str]:
    """Return the pairs of an option such as `--rename-ports 10=B,11=A`. Raises ImportFailed for a malformed list."""
    pairs = [pair.split("=") for pair in text.split(",") if pair]
    if not all(len(pair) == 2 and all(pair) for pair in pairs):
        raise ImportFailed(f"malformed list of {what} {text!r}: it is written {example}")
    return dict(pairs)


def wanted(kept: Iterable[str], named: str, only_missing: bool) -> list[Shape]:
    """Return the forms that a core has.

    Args:
        kept: The forms in its model, whose CPUID features the core has.
        named: More CPUID features, "A,B".
        only_missing: Leave out the forms that the model has.

    Raises:
        ImportFailed: iced-x86 does not know a feature.
    """
    kept = set(kept)
    extra = {f for f in named.upper().split(",") if f}
    if unknown := sorted(extra - set(FEATURES.values())):
        raise ImportFailed(f"unknown CPUID feature {unknown[0]!r} (names as in iced-x86's CpuidFeature)")
    forms = by_key()
    available = extra.union(*(features(forms[f]) for f in kept if f in forms))
    return [
        s
        for key, s in forms.items()
        if not (only_missing and key in kept) and features(s) <= available and "RESERVEDNOP" not in key
    ]


# --- files -----------------------------------------------------------------------------------------------------------


def read_text(path: str) -> str:
    """Return the text of a file. Raises ImportFailed."""
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except OSError as e:
        raise ImportFailed(f"{path}: {e.strerror}") from None
    except UnicodeDecodeError:
        raise ImportFailed(f"{path}: not UTF-8 text") from None


def read_json_lines(path: str, malformed: Malformed) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ("FILE:LINE", object) for each line of a file of JSON objects, which may be compressed (.gz).

    Raises ImportFailed for a file that cannot be read, and for a line that is no object unless `malformed` skips it.
    """
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                if not line.strip():
                    continue
                try:
                    data = json.loads(line)
                    if not isinstance(data, dict):
                        raise ValueError("not an object")
                except (ValueError, RecursionError) as e:
                    malformed.add(f"{path}:{number}", ValueError(f"not a JSON object: {e}"), "")
                    continue
                yield f"{path}:{number}", data
    except (OSError, EOFError, UnicodeDecodeError) as e:
        raise ImportFailed(f"{path}:{number + 1}: {getattr(e, 'strerror', None) or e}") from None


# --- entries ---------------------------------------------------------------------------------------------------------


def reduced(entries: Mapping[Conditions, Entry]) -> Entries:
    """Return entries in which those with conditions contain only fields that differ from entries with fewer conditions.

    If no entry is without conditions, the first one in sorted order becomes that.
    """
    full = dict(entries)
    if () not in full:
        full[()] = full[min(full, key=lambda c: (len(c), c))]
    result: Entries = {}
    for conditions in by_conditions(full):
        fields = full[conditions]
        if not conditions:
            result[conditions] = fields
            continue
        below = resolved(result, conditions)
        difference = {k: v for k, v in fields.items() if below.get(k, DEFAULTS[k]) != v}
        for k in below:
            if k not in fields and below[k] != DEFAULTS[k]:
                difference[k] = DEFAULTS[k]
        difference.pop("derived", None)
        if difference:
            result[conditions] = difference
    return result


def differences(forms: Forms, inherited: Forms, source: str) -> Forms:
    """Return the entries with which a model that inherits others has exactly the given forms.

    A form with the same figures is left out if they come from the same source, else it only states its source.
    """
    result: Forms = {}
    for form, entries in forms.items():
        parents = inherited.get(form, {})
        changed: Entries = {}
        for conditions in by_conditions({*entries, *parents}):
            parent = parents.get(conditions)
            if conditions not in entries:
                changed[conditions] = {"absent": True}
                continue
            fields = entries[conditions]
            if parent is None:
                changed[conditions] = fields
                continue
            difference = {k: v for k, v in fields.items() if k != "source" and parent.get(k, DEFAULTS[k]) != v}
            # Fields that only the parent has fall back to the entry with fewer conditions.
            below = resolved({c: f for c, f in entries.items() if c != conditions}, conditions)
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


def with_derived(entries: Mapping[Conditions, Entry], derived: str) -> Entries:
    """Return a copy of another form's entries that says from which form or rule they were derived."""
    copies = {c: dict(fields) for c, fields in entries.items()}
    copies[()]["derived"] = derived
    return copies


def indexed_variant(key: str, fields: Entry) -> Entry | None:
    """Return the fields for an indexed address, None if they are the same.

    Port 7 only adds base and displacement. VEX and EVEX instructions that combine a load with a register are split at
    issue: uops.info measured that for 358 of 373 of them on Skylake, all but divisions and square roots, which hide it.
    """
    ports = fields.get("ports", "")
    changed = {**fields, "ports": re.sub(r"\bp237\b", "p23", ports)}
    usage = read_usage(changed["ports"])
    if len(changed["ports"].split("+")) != len(usage):
        changed["ports"] = write_usage(usage)
    vector = key.startswith(("VEX_", "EVEX_"))
    if vector and fields.get("retire") == 1 and "p23" in ports and "+" in ports and "p4" not in ports:
        changed["retire"] = 2
    return changed if changed != fields else None
