"""Detection of stale reports in a folder, from the folder's manifest and from the reports themselves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from msgspec.structs import asdict

from incc.ranking.kernels import whole
from incc.report import types as t
from incc.report.folder import manifest


class ReportOrigin(manifest.ManifestLine, frozen=True, kw_only=True):
    """The origin of a report; "" and () for what is unknown."""

    order: float
    """The place of the report in the order of writing."""


def read_manifest(folder: str) -> dict[str, ReportOrigin]:
    """Return the entries of a folder's manifest by the names of reports; none if it cannot be read."""
    try:
        listed = manifest.read(folder)
    except OSError:
        return {}
    return {name: ReportOrigin(**asdict(entry), order=number) for number, (name, entry) in enumerate(listed.items())}


def of_unit(report: str, unit: t.UnitReport, order: float) -> ReportOrigin:
    """Return the entry of a report that no manifest has, made from its own contents."""
    return ReportOrigin(
        report=report,
        folder=unit.folder,
        source=unit.source,
        output=unit.output,
        command=tuple(unit.command),
        digest="",
        way=unit.way,
        order=order,
    )


def stale(entries: Sequence[ReportOrigin]) -> tuple[dict[str, str], list[str]]:
    """Return the stale reports with the reasons, and notes on what could not be checked.

    A report is stale if its source or its output is gone, if the output has been changed since, or if a later command
    made the same output. If not a single source or output exists, the build was a temporary one, or another machine's,
    which proves nothing about a single report.
    """
    reasons: dict[str, str] = {}
    sources = {e.report: whole(e.folder, e.source) for e in entries if e.folder and _is_file(e.source)}
    outputs = {e.report: whole(e.folder, e.output) for e in entries if e.folder and _is_file(e.output)}
    there_sources = _existing(sources.values())
    there_outputs = _existing(outputs.values())
    in_order = sorted(entries, key=lambda e: e.order)
    later = {outputs[entry.report]: entry for entry in in_order if entry.report in outputs}
    digests: dict[str, str] = {}
    for entry in entries:
        source, output = sources.get(entry.report), outputs.get(entry.report)
        last = later[output] if output else entry
        if last.order > entry.order and last.command != entry.command:
            reasons[entry.report] = f"{entry.output} was rebuilt from {last.source or 'another source'}"
        elif source and there_sources and source not in there_sources:
            reasons[entry.report] = f"its source {entry.source} is gone"
        elif output and there_outputs and output not in there_outputs:
            reasons[entry.report] = f"its output {entry.output} is gone"
        elif output and entry.digest and output in there_outputs:
            if output not in digests:
                digests[output] = manifest.digest_of(output)
            if _has_changed(entry, output, digests[output]):
                reasons[entry.report] = f"{entry.output} has changed since"
    return reasons, _notes_on_missing(bool(sources), bool(there_sources), bool(outputs), bool(there_outputs))


def _notes_on_missing(sources: bool, there_sources: bool, outputs: bool, there_outputs: bool) -> list[str]:
    if outputs and not there_outputs:
        return [
            "All outputs of these commands are gone, as after a build in a temporary folder, so no report is known to "
            "be stale."
        ]
    if sources and not there_sources:
        return ["All sources are gone, so only outputs show whether reports are stale."]
    return []


def _existing(paths: Iterable[str]) -> set[str]:
    return {path for path in set(paths) if os.path.exists(path)}


def _has_changed(entry: ReportOrigin, output: str, digest: str) -> bool:
    return bool(digest) and digest != entry.digest and not _is_stripped(entry, output)


def _is_stripped(entry: ReportOrigin, output: str) -> bool:
    """Return True if this is a linked file that has since been stripped, as in many builds.

    There is no report on a link that leaves the symbols out.
    """
    if entry.source != entry.output:
        return False
    from incc.frontends.objects.symbols import elf_facts

    try:
        facts = elf_facts(output)
    except OSError:
        return False
    return facts is not None and not facts.has_symbols


def _is_file(name: str) -> bool:
    return bool(name) and name != "-" and not name.startswith(("<", "/dev/"))


def prune(folder: str, reports: Sequence[str]) -> list[str]:
    """Remove reports from a folder, with their entries in its manifest; return what could not be done.

    Entries that later ones replace are removed as well.
    """
    failures = []
    of_place: dict[str, list[str]] = {folder: []}
    for name in reports:
        path = os.path.join(folder, name)
        # A folder of reports may contain another one with a manifest of its own.
        of_place.setdefault(os.path.dirname(path), []).append(os.path.basename(path))
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        except OSError as error:
            failures.append(f"{path}: {error.strerror}")
    for place, gone in of_place.items():
        try:
            manifest.compact(place, gone)
        except OSError as error:
            failures.append(f"{os.path.join(place, manifest.NAME)}: {error.strerror}")
    return failures
