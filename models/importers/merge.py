"""The step from an importer's data to a model file: the figures taken, the parts of the file kept, and the notes.

Everything above the line `# --- written by incc-model import` is written by hand and kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from incc.models.files.source import (
    GENERATED,
    Also,
    Entry,
    Forms,
    ModelSource,
    fusion_classes,
    merge_forms,
    read_chain,
    write_forms,
)
from incc.models.forms.rules import rules_of
from incc.models.importers import ImportRequest, importer
from incc.models.importers.common import Imported, ImportFailed, read_text
from incc.models.loading import find_model, search_places
from incc.models.notation import parse_latency
from incc.support.files import replace_file

if TYPE_CHECKING:
    import argparse


class Merged(msgspec.Struct, frozen=True):
    """The result of an import into a file."""

    imported: Imported
    """The imported data, restricted to the requested forms."""
    added: int
    """The number of forms that were taken."""
    completed: int
    """The number of forms of the file, new ones or others, that were completed."""


def import_into(
    output: str, source: str, options: argparse.Namespace, forms: str = "*", search_path: Sequence[str] = ()
) -> Merged:
    """Import a source into a model file; `options` as `ImportRequest` has them, `forms` a pattern for forms' keys.

    Raises ImportFailed and ModelError; the file is unchanged then.
    """
    module = importer(source)
    header = _header(output, module.NEW_MODEL)
    chain = read_chain(output, search_places(search_path), find_model) if os.path.exists(output) else []
    keeps = bool(options.fill or options.prefer or options.compare or getattr(options, "resources", False))
    isa = next((s.name.isa for s in chain if s.name.isa), module.ISAS[0])
    if isa not in module.ISAS:
        raise ImportFailed(f"{output}: {source} has nothing for {rules_of(isa).TITLE}")
    request = _request(options, output, chain, isa, search_path, keeps)
    imported = module.import_forms(request)
    if forms != "*":
        imported = replace(imported, forms={f: e for f, e in imported.forms.items() if fnmatchcase(f, forms)})
    default = chain[0].data.get("source", "") if chain else source
    if imported.keeps_forms:
        keeps, request = True, _request(options, output, chain, isa, search_path, True)
    also: Also = chain[0].also if chain and keeps else {}
    if imported.prefers is None and (options.prefer or options.compare):
        note_disagreements(also, request.kept, imported.forms, source, default, options.prefer)
    taken = _taken(request, imported, source, default)
    merged = {**request.own, **taken}
    completed = 0
    if imported.finish is not None:
        completed = imported.finish({f: e for f, e in merged.items() if fnmatchcase(f, forms)})
    if imported.header is not None:
        header = imported.header(header)
    fusion = imported.fusion if imported.replaces_fusion else request.fusion
    try:
        replace_file(output, header + write_forms(merged, fusion, also))
    except OSError as e:
        raise ImportFailed(f"{output}: {e.strerror}") from None
    return Merged(imported, len(taken), completed)


def _request(
    options: argparse.Namespace,
    output: str,
    chain: list[ModelSource],
    isa: str,
    search_path: Sequence[str],
    keeps: bool,
) -> ImportRequest:
    """Return the request of an import; `keeps` is True if the forms of the file are kept."""
    return ImportRequest(
        options=options,
        output=output,
        chain=chain,
        isa=isa,
        own=chain[0].forms if chain and keeps else {},
        kept=merge_forms(chain if keeps else chain[1:]),
        fusion=fusion_classes(chain[:1]) if keeps else {},
        search_path=search_path,
    )


def _taken(request: ImportRequest, imported: Imported, source: str, default: str) -> Forms:
    """Return the imported forms that go into the file; a form states its source if that is not the file's `default`."""
    if request.options.compare:
        return {}
    prefers = request.options.prefer if imported.prefers is None else imported.prefers
    taken: Forms = {}
    for form, entries in imported.forms.items():
        if form in request.kept and not prefers:
            continue
        taken[form] = dict(entries)
        if () in entries:
            base = dict(entries[()])
            if base.setdefault("source", source) == default:
                del base["source"]
            taken[form][()] = base
    return taken


# --- disagreements ----------------------------------------------------------------------------------------------------


def note_disagreements(
    also: Also, kept: Forms, imported: Forms, source: str, default: str, replaced: bool = False
) -> None:
    """Note in `also` where a model's figures and a source's disagree, under the name of the source that is not used.

    The figures in use are the model's (`kept`), or with `replaced` the source's. Compared are the µops by port and the
    longest latency of the forms without conditions; where the source says nothing there is no disagreement.
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
    """Return the longest latency; None without one, or for memory operands, where sources count differently."""
    pairs = parse_latency(fields.get("latency", ""))
    if any("m" in (t, s) or "M" in (t, s) for t, s, _ in pairs):
        return None
    return max((c for _, _, c in pairs), default=None)


# --- the file ---------------------------------------------------------------------------------------------------------


def _header(path: str, new_model: str) -> str:
    """Return the part of a model file that is written by hand: up to the imported part, or to its forms."""
    if not os.path.exists(path):
        if not new_model:
            raise ImportFailed(f"{path}: no such file: the model's header must be written first (docs/models.md)")
        return new_model.format(name=os.path.splitext(os.path.basename(path))[0])
    starts = (GENERATED.split(";")[0], "[forms]", "[macro_fusion]")
    by_hand = re.split(rf"^(?:{'|'.join(map(re.escape, starts))})", read_text(path), maxsplit=1, flags=re.MULTILINE)[0]
    return by_hand.rstrip("\n") + "\n\n"
