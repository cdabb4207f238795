"""Runs: a command line with its files, which generators make, `execute.py` executes and `finds/` keeps."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import msgspec

FINDS = Path(__file__).parent / "finds"


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a command in an empty folder with these files."""

    command: str
    """The command's name: "incc-scan". "gcc" is the compiler that a run of "incc" is compared with."""
    args: tuple[str, ...]
    files: dict[str, bytes] = {}
    """The content of files by their paths in the folder."""
    stdin: bytes = b""
    again: str = ""
    """The repetition that must give an equal result: "" for none, "twice", or "jobs" for -j1 and -j2."""
    streams: str = ""
    """One of `STREAMS` for a process of its own with such standard streams; "" for a fork of this process."""

    def size(self) -> int:
        """Return the number of bytes in it, by which runs with the same fault are compared."""
        return sum(map(len, self.args)) + sum(map(len, self.files.values())) + len(self.stdin) + len(self.files)


STREAMS = ("usual", "stdin closed", "stdout closed", "stderr closed", "stdout full", "stderr full", "reader gone")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def dump(run: Run, fault: str) -> str:
    """Return a run and its fault as JSON. Bytes that are not UTF-8 become "\\udc80" to "\\udcff"."""
    fields = {
        "fault": fault,
        "command": run.command,
        "args": list(run.args),
        "files": {name: _text(data) for name, data in run.files.items()},
        "stdin": _text(run.stdin),
        "again": run.again,
        "streams": run.streams,
    }
    return json.dumps({name: value for name, value in fields.items() if value or name == "args"}, indent=1) + "\n"


def load(path: Path) -> Run:
    """Read a run that `dump` wrote."""
    fields = json.loads(path.read_text(encoding="utf-8"))
    return Run(
        command=fields["command"],
        args=tuple(fields["args"]),
        files={name: _bytes(text) for name, text in fields.get("files", {}).items()},
        stdin=_bytes(fields.get("stdin", "")),
        again=fields.get("again", ""),
        streams=fields.get("streams", ""),
    )


def save(run: Run, fault: str, kind: str) -> Path:
    """Write a run to a file that `test_finds.py` replays, and return its path."""
    text = dump(run, fault.replace(f"{FINDS.parents[2]}/", "").replace(f"{sys.base_prefix}/", ""))
    path = FINDS / f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"
    path.write_text(text, encoding="utf-8")
    return path
