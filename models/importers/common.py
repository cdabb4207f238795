"""What all importers share: collecting entries with their conditions and reducing them to what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from incc.models.compile import DEFAULTS, Also, Entry, Forms
from incc.models.model import parse_latency

if TYPE_CHECKING:
    from collections.abc import Mapping


class ImportFailed(Exception):
    """A record cannot be understood; the message starts with its file and line."""


class Imported(NamedTuple):
    """The result of an import.

    `forms`: all fields of every entry written out in full, whatever its conditions. `fusion`: macro-fusion classes.
    `unmatched`: what the source has but no decoder form was found for, each with the reason. `skipped`: malformed
    records (only with keep_going). `notes`: more to tell.
    """

    forms: Forms
    fusion: dict[str, tuple[str, ...]]
    unmatched: list[tuple[str, str]]
    skipped: list[str]
    notes: list[str]


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


def note_disagreements(
    also: Also, kept: Forms, imported: Forms, source: str, default: str, replaced: bool = False
) -> None:
    """Notes in `also`, under the name of the source that is not used, where a model's figures and a source's disagree.

    The figures in use are the model's (`kept`), or with `replaced` the source's. Compared are the µops by port and the
    longest latency of the forms without conditions; what the source does not say is no disagreement.
    """
    for name in [source] if not replaced else list(also):
        for form in imported:
            also.get(name, {}).pop(form, None)
    for form, entries in imported.items():
        old, new = kept.get(form, {}).get(()), entries.get(())
        if old is None or new is None:
            continue
        loser, winner = (old, new) if replaced else (new, old)
        name = (old.get("source") or default) if replaced else source
        if replaced and name == source:
            continue
        fields: Entry = {}
        if "ports" in loser and _ports(loser) != _ports(winner):
            fields["ports"] = loser["ports"]
        longest = _longest(loser)
        if longest is not None and longest != _longest(winner):
            fields["latency"] = longest
        if fields:
            also.setdefault(name, {})[form] = fields
    for name in [n for n, forms in also.items() if not forms]:
        del also[name]


def _ports(fields: Entry) -> list[str]:
    return sorted(fields.get("ports", "").split("+"))


def _longest(fields: Entry) -> int | None:
    """The longest latency; None where there is none, or for memory operands, where sources count differently."""
    pairs = parse_latency(fields.get("latency", ""))
    if any("m" in (t, s) or "M" in (t, s) for t, s, _ in pairs):
        return None
    return max((c for _, _, c in pairs), default=None)
