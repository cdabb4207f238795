"""Writes reports into a folder: each whole, under its own name, and listed in the manifest."""

from __future__ import annotations

import json
import os

from msgspec.structs import replace

from incc.report import types as t
from incc.report.folder import manifest
from incc.support.files import replace_file


def put(
    folder: str, name: str, unit: t.UnitReport, text: str | bytes, digest: str | None = None, key: str = ""
) -> manifest.ManifestLine:
    """Write a unit's report into an existing folder, and list it if it is of a compilation.

    `digest` is the output's digest (None: compute it), `key` the key in the cache of units. Raises OSError.
    """
    if digest is None:
        digest = manifest.digest_of(os.path.join(unit.folder, unit.output)) if unit.output else ""
    entry = manifest.entry_of(name, unit, digest, key)
    replace_file(os.path.join(folder, name), text)
    if unit.folder:
        manifest.add(folder, manifest.line_of(entry))
    return entry


def put_cached(folder: str, name: str, rest: str, report: bytes, digest: str) -> None:
    """Write a report from the cache of units, as the front does. Raises OSError."""
    replace_file(os.path.join(folder, name), report)
    manifest.add(folder, f'{{"digest":{json.dumps(digest)},{rest}\n')


def rest_of(entry: manifest.ManifestLine) -> str:
    """Return the part of an entry's line after the digest, which does not depend on the output."""
    head = '{"digest":"",'
    line = manifest.line_of(replace(entry, digest=""))
    assert line.startswith(head)
    return line[len(head) : -1]


def withdraw(folder: str, name: str) -> None:
    """Remove the report of a unit that is no longer to be analysed, if there is one. Raises OSError."""
    try:
        os.unlink(os.path.join(folder, name))
    except FileNotFoundError:
        return
