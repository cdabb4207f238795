"""Puts reports into a folder: each whole, under a name of its own, and noted in the folder's list."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from incc.report.folder import manifest

if TYPE_CHECKING:
    from incc.report import types as t


def put(
    folder: str, name: str, unit: t.Unit, text: str | bytes, digest: str | None = None, key: str = ""
) -> manifest.Entry:
    """Write a unit's report, in a folder that exists, and add it to the folder's list if it is of a compilation.

    `digest`: of the unit's output, None to look at it; `key`: in the cache of units. Raises OSError.
    """
    from incc.support.files import replace_file

    if digest is None:
        digest = manifest.digest_of(os.path.join(unit.folder, unit.output)) if unit.output else ""
    entry = manifest.entry_of(name, unit, digest, key)
    replace_file(os.path.join(folder, name), text)
    if unit.folder:
        manifest.add(folder, manifest.line_of(entry))
    return entry


def put_cached(folder: str, name: str, rest: str, report: bytes, digest: str) -> None:
    """Write a report that the cache of units has, as the front does. Raises OSError."""
    import json

    from incc.support.files import replace_file

    replace_file(os.path.join(folder, name), report)
    manifest.add(folder, f'{{"digest":{json.dumps(digest)},{rest}\n')


def rest_of(entry: manifest.Entry) -> str:
    """What of an entry's line does not depend on its output: what stands behind the digest."""
    head = '{"digest":"",'
    line = manifest.line_of(replace(entry, digest=""))
    assert line.startswith(head)
    return line[len(head) : -1]


def withdraw(folder: str, name: str) -> None:
    """Remove a report, if it is there, of what is not to be analysed any more. Raises OSError."""
    try:
        os.unlink(os.path.join(folder, name))
    except FileNotFoundError:
        return
