"""The code of a unit in a form that reports keep, so that their kernels can be analysed further."""

from __future__ import annotations

import binascii
import zlib
from base64 import b64decode, b64encode

import msgspec
from msgspec.structs import replace

from incc.frontends.unit import Unit

MOST_BYTES = 1 << 28
"""The largest unit that is unpacked: a report may come from anybody."""

_LEVEL = 1  # a third larger than the best one, in a tenth of the time


class KeptCode(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A unit, and the settings of its analysis that are not the same in all builds."""

    unit: Unit
    code: bytes = b""
    """The object file, if the code was read from there."""
    functions: tuple[str, ...] = ()
    """Globs of the functions that were analysed; all of them if empty."""
    system_headers: bool = False
    """Loops without any line of the user's were analysed as well."""
    timeline_iterations: int = 0
    """The iterations of the timeline."""


def pack(kept: KeptCode) -> str:
    """Return code as a text. Raises ValueError if a name in it is not UTF-8."""
    kept = replace(kept, unit=replace(kept.unit, made=b""))
    return b64encode(zlib.compress(msgspec.msgpack.encode(kept), _LEVEL)).decode("ascii")


def unpack(text: str) -> KeptCode:
    """Return the code in a text, as that of anybody. Raises ValueError if the text is damaged, or too large."""
    unpacking = zlib.decompressobj()
    try:
        data = unpacking.decompress(b64decode(text.encode("ascii"), validate=True), MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ValueError("too large")
        kept = msgspec.msgpack.decode(data, type=KeptCode)
    except (binascii.Error, UnicodeEncodeError, zlib.error, msgspec.MsgspecError) as error:
        raise ValueError("damaged") from error
    return replace(kept, unit=replace(kept.unit, trusted=False, stored=True))
