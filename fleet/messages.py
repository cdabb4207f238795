"""The messages between a scan and its processes, in MessagePack, so that nothing else crosses a wire."""

from __future__ import annotations

import os
from typing import Any, TypeVar

import msgspec

from incc.report.where import Value

T = TypeVar("T")

CHANGED = "changed while it was scanned, or gone"
"""The reason for leaving out a file that changed or vanished after it was listed."""


class Stamp(msgspec.Struct, frozen=True, array_like=True):
    """A file as it was when the scan listed its inputs."""

    path: str
    size: int
    changed: int
    """Its modification, in nanoseconds."""
    here: str = ""
    """The path of a copy on this machine, which does not see the file; "" for none."""

    def is_of(self, status: os.stat_result) -> bool:
        """Return True if the file with this status has not changed since."""
        return (status.st_size, status.st_mtime_ns) == (self.size, self.changed)


class Read(msgspec.Struct, tag=True):
    """A request to read inputs, and to analyse those whose kernels are not shared."""

    inputs: list[bytes]
    """The inputs, encoded."""
    files: list[Stamp] = []
    """The files that they are in."""


class Analyse(msgspec.Struct, tag=True):
    """A request to analyse groups of kernels."""

    inputs: list[bytes]
    """The inputs that have them, encoded."""
    keys: list[list[bytes]]
    """The keys of the groups of each input."""
    files: list[Stamp] = []


class PlacedKernel(msgspec.Struct, array_like=True):
    """A kernel at a place."""

    place: int
    """Its number among the kernels of the input."""
    values: list[Value]
    """The values of `columns.PLACES`."""


class Group(msgspec.Struct, array_like=True):
    """The kernels of a function, which are analysed together."""

    key: bytes
    """16 bytes: equal for groups whose analyses are equal."""
    kernels: list[PlacedKernel]
    cost: int
    """The number of their instructions."""


class OnCore(msgspec.Struct, array_like=True):
    """The analysis of a group on a core."""

    core: str
    version: str
    """The version of the core's model."""
    kernels: list[list[Value]]
    """For each kernel the values of `columns.ANALYSED`."""
    worth: list[list[float]]
    """For each kernel its `order_of_worth`."""


class GroupResult(msgspec.Struct, array_like=True):
    """The results for a group."""

    key: bytes
    kernels: int
    """The number of its kernels."""
    cores: bytes
    """A list of `OnCore`, encoded: it is kept as it is."""


class InputRead(msgspec.Struct, array_like=True):
    """The answer for one input."""

    name: str
    failure: str = ""
    """The reason why it could not be read at all: it is listed with the dataset."""
    problems: list[str] = []
    notes: list[str] = []
    groups: list[Group] = []
    analysed: list[GroupResult] = []
    """The results for the groups that are not shared."""
    reports: bytes = b""
    """The reports of their kernels (`dataset.store.pack`)."""
    outcome: bytes = b""
    """The encoded `ScanOutcome`, for outputs other than rows."""
    quarantined: list[str] = []
    """The failure, or the problems, that have ended or stopped a process."""


class ReadAnswer(msgspec.Struct, tag=True):
    """The answer to `Read`: one item for each input."""

    inputs: list[InputRead]


class AnalyseAnswer(msgspec.Struct, tag=True):
    """The answer to `Analyse`."""

    groups: list[GroupResult]
    reports: bytes = b""
    """The reports of their kernels (`dataset.store.pack`)."""
    problems: dict[bytes, str] = {}
    """The reason why the code with a key cannot be analysed, by key."""
    unread: dict[bytes, str] = {}
    """The reason why the code with a key was not found in the input again, by key."""


class Missing(msgspec.Struct, tag=True):
    """The answer of a process that does not see a file, or sees another one under its name."""

    path: str


Request = Read | Analyse
Answer = ReadAnswer | AnalyseAnswer | Missing

_encoder = msgspec.msgpack.Encoder()
_requests = msgspec.msgpack.Decoder(Request)
_answers = msgspec.msgpack.Decoder(Answer)

# Bytes of names that are not UTF-8 are halves of surrogate pairs in Python, which messages cannot hold: characters of
# the last private plane stand for them in messages that begin with a byte which MessagePack does not use.
_FIRST = 0x10FE00
_HIDDEN = {0xDC00 + byte: _FIRST + byte for byte in range(0x80, 0x100)}
_SHOWN = {hidden: byte for byte, hidden in _HIDDEN.items()}
_MARK = b"\xc1"


def encoded(message: Any) -> bytes:
    """Return a message's bytes."""
    try:
        return _encoder.encode(message)
    except UnicodeEncodeError:
        return _MARK + _encoder.encode(_translated(msgspec.to_builtins(message, builtin_types=(bytes,)), _HIDDEN))


def decoded(data: bytes, decoder: msgspec.msgpack.Decoder[T]) -> T:
    """Return the message in some bytes. Raises msgspec.DecodeError."""
    if not data.startswith(_MARK):
        return decoder.decode(data)
    message: T = msgspec.convert(_translated(msgspec.msgpack.decode(data[1:]), _SHOWN), decoder.type)
    return message


def _translated(value: Any, table: dict[int, int]) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.translate(table)
    if isinstance(value, dict):
        return {_translated(key, table): _translated(each, table) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_translated(each, table) for each in value]
    return value


def request(data: bytes) -> Request:
    """Decode a request. Raises msgspec.DecodeError."""
    return decoded(data, _requests)


def answer(data: bytes) -> Answer:
    """Decode an answer. Raises msgspec.DecodeError."""
    return decoded(data, _answers)
