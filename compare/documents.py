"""Reports read from JSON, whole documents or one per line, into what entries keep.

A build has thousands of kernels, of whose reports a comparison looks at a part. So they are decoded into types that are
made from those of `report/types.py` without what is left out, which skips the rest and checks what is read; what is
wrong has a place. Instructions are kept packed.
"""

from __future__ import annotations

from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    BinaryIO,
    Literal,
    NotRequired,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import msgspec

from incc.compare.side import LEFT_OUT, Entry, InputError
from incc.report.build import SCHEMA_VERSION as VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from incc.report import types as t

NOT_KEPT = {
    "Kernel": LEFT_OUT - {"instructions"},
    "Unit": frozenset(("ways", "control_flow", "trials")),
}
"""Fields of reports that a comparison does not look at, by type."""


class Kept(msgspec.Struct, frozen=True):
    """What is read of reports: `skipped` has the fields that are not, by type; `pressure`: whether instructions have
    their figures."""

    skipped: tuple[tuple[str, frozenset[str]], ...]
    pressure: bool = True


COMPARED = Kept(tuple(NOT_KEPT.items()))


class NotAReportError(InputError):
    """The file is JSON, but of something else."""


class Document(msgspec.Struct, frozen=True):
    """A report as far as it is kept: its units, still with kernels and their instructions."""

    units: list[dict[str, Any]]


# --- from text to documents -------------------------------------------------------------------------------------------


def texts(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The documents of a file that can be read from its start again, each with the line that it begins in: one a line,
    or laid out over many lines and one behind the other."""
    first, number = b"", 0
    while not first.strip():
        number += 1
        at = file.tell()
        first = file.readline()
        if not first:
            return
        if number == 1 and first.startswith(_BYTE_ORDER_MARK):
            at += len(_BYTE_ORDER_MARK)
            first = first[len(_BYTE_ORDER_MARK) :]
    line = first.strip()
    if line.startswith(b"{") and line.endswith(b"}"):
        yield number, line
        for line in file:
            number += 1
            if line.strip():
                yield number, line.strip()
        return
    file.seek(at)
    data = file.read()
    start = 0
    # Only the outermost object ends at the start of a line.
    while (end := data.find(b"\n}\n{", start)) >= 0:
        yield number, data[start : end + 2]
        number += data.count(b"\n", start, end + 3)
        start = end + 3
    yield number, data[start:] if start else data


_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_document(text: bytes, where: str, line: int = 1, kept: Kept = COMPARED) -> Document:
    """Read a document of this version.

    Args:
        text: the JSON text.
        where: the file, for messages.
        line: the line of the file in which the text begins.
        kept: what of the report is read.

    Raises:
        NotAReportError: the text is other JSON.
        InputError: the text is not JSON, or a report that cannot be read.
    """
    try:
        document = _decoder(kept).decode(text)
    except msgspec.ValidationError as error:
        raise _refusal(text, where, line, error) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(malformed(text, where, line, error)) from None
    place = f"{where}:{line}" if line > 1 else where
    if "units" not in document or document.get("schema_version") != VERSION:
        raise _refusal(text, where, line, None)
    _check_pressure(_kernels(document["units"]), place, kept)
    return Document(document["units"])


def _refusal(text: bytes, where: str, line: int, error: msgspec.ValidationError | None) -> InputError:
    """Return why a JSON text is not a report of this version."""
    place = f"{where}:{line}" if line > 1 else where
    try:
        head = msgspec.json.decode(text, type=_Head)
    except msgspec.ValidationError:
        return NotAReportError(f'{place}: not an incc report (expected a JSON object with "units")')
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        return InputError(malformed(text, where, line, problem))
    if head.rows and head.sides:
        return NotAReportError(f"{place}: a comparison written by incc-diff, where a report is expected")
    if not head.units:
        return NotAReportError(f'{place}: not an incc report (expected a JSON object with "units")')
    if head.schema_version != VERSION:
        return unsupported(head.schema_version, place)
    if error is None:
        return InputError(f"{place}: not an incc report")
    return InputError(_mistyped(place, error))


def unsupported(version: object, place: str) -> InputError:
    """Return the refusal of a report of another version than VERSION."""
    if version is None:
        return InputError(f"{place}: the report has no schema version; this incc reads {VERSION}")
    return InputError(
        f"{place}: report schema {repr(version)[:40]} is not supported (this incc reads {VERSION}); "
        "analyse again with this incc"
    )


def _kernels(units: Iterable[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The kernels of units, with their places."""
    for u, unit in enumerate(units):
        for k, kernel in enumerate(unit["kernels"]):
            yield f"units[{u}].kernels[{k}]", kernel


def _check_pressure(kernels: Iterable[tuple[str, dict[str, Any]]], place: str, kept: Kept) -> None:
    """Refuse kernels of which an instruction has not as many figures as there are resources: types do not say that, and
    views go through both together."""
    if not kept.pressure:
        return
    for at, kernel in kernels:
        wanted = len(kernel["resources"])
        for n, instruction in enumerate(kernel["instructions"]):
            if len(instruction["pressure"]) != wanted:
                why = f"{len(instruction['pressure'])} figures for {wanted} resources"
                raise InputError(f"{place}: $.{at}.instructions[{n}].pressure: {why}")


def _mistyped(place: str, error: Exception, more: str = "") -> str:
    text, _, at = str(error).partition(" - at ")
    at = at.strip("`")
    return f"{place}: {at + ': ' if at else ''}{text[:1].lower()}{text[1:]}{more}".replace("`", "")


def malformed(text: bytes, where: str, line: int, error: Exception) -> str:
    """Why a text is no JSON, by the decoder's error, with the line in which it ceases to be. `line`: where in the file
    `where` the text begins."""
    import re

    if isinstance(error, RecursionError):
        return f"{where}:{line}: nested too deep for a report"
    said = str(error)
    if isinstance(error, UnicodeDecodeError):
        return f"{where}:{line}: not UTF-8"
    if found := re.search(r"^(?:JSON is malformed: )?(.*) \(byte ([0-9]+)\)$", said):
        at = line + text.count(b"\n", 0, int(found[2]))
        return f"{where}:{at}: no JSON any more: {found[1]}"
    at = line + text.rstrip().count(b"\n")
    end = text.rstrip()[-30:].decode("utf-8", "replace")
    return f"{where}:{at}: the file is cut off: it ends in {end[end.rfind(chr(10)) + 1 :].strip()!r}"


# --- types ------------------------------------------------------------------------------------------------------------


@cache
def _decoder(kept: Kept) -> Any:
    """Return a decoder of a report."""
    from incc.report import types

    derived = _Derived(kept)
    document = TypedDict(  # noqa: UP013 -- its types are computed
        "Document",
        {
            "schema_version": NotRequired[str],
            "units": NotRequired[list[derived.type(types.Unit)]],  # type: ignore[misc]
        },
    )
    return msgspec.json.Decoder(document)


class _Head(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that tell one kind of document from another."""

    schema_version: Any = None
    units: msgspec.Raw = msgspec.Raw()
    rows: msgspec.Raw = msgspec.Raw()
    sides: msgspec.Raw = msgspec.Raw()


class _Derived:
    """Types for the decoder, made from those of reports without the fields that are not kept."""

    def __init__(self, kept: Kept) -> None:
        self.skipped = dict(kept.skipped)
        self.made: dict[tuple[str, bool], Any] = {}
        # There are so many instructions that looking at the form of their texts takes a third of all the reading.
        self.patterns = True

    def type(self, kind: Any) -> Any:
        from incc.report import types

        if is_typeddict(kind):
            patterns, self.patterns = self.patterns, self.patterns and kind is not types.Instruction
            name = kind.__name__, self.patterns
            if name not in self.made:
                self.made[name] = self._fields(kind)
            self.patterns = patterns
            return self.made[name]
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is Annotated:
            meta: dict[str, Any] = {}
            for what in arguments[1:]:
                match what:
                    case types.AtLeast(value):
                        meta["ge"] = value
                    case types.AtMost(value):
                        meta["le"] = value
                    case types.AtLeastItems(least):
                        meta["min_length"] = least
                    case types.Pattern(text) if self.patterns:
                        meta["pattern"] = text
            inner = self.type(arguments[0])
            if arguments[0] is int and "le" not in meta:
                meta["le"] = _LARGEST
            if get_origin(inner) is Annotated:
                return inner
            return Annotated[inner, msgspec.Meta(**meta)] if meta else inner
        if origin is Literal:
            return kind
        if origin in (Union, _OR):
            return Union[tuple(self.type(argument) for argument in arguments)]  # noqa: UP007 -- of a computed tuple
        if origin is list:
            return list[self.type(arguments[0])]  # type: ignore[misc]
        if origin is dict:
            return dict[str, self.type(arguments[1])]  # type: ignore[misc]
        return kind

    def _fields(self, kind: Any) -> Any:
        name = kind.__name__
        left_out = self.skipped.get(name, frozenset())
        fields = {
            field: self.type(what)
            for field, what in get_type_hints(kind, include_extras=True).items()
            if field not in left_out
        }
        return TypedDict(name, fields)  # type: ignore[operator]


_OR = type(int | str)
_LARGEST = (1 << 62) - 1
"""Of whole numbers: the sum of two fits into the 64 bits that others take for one."""


# --- packed instructions ----------------------------------------------------------------------------------------------


_WORTH_COMPRESSING = 4096
"""Bytes: for fewer it is the compressor's start that takes the time."""


@cache
def _fields_of_instructions() -> tuple[str, ...]:
    from incc.report import types

    return tuple(get_type_hints(types.Instruction))


class Packed:
    """Instructions, packed; called, it unpacks them anew."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __call__(self) -> list[t.Instruction]:
        import zlib

        how, data = self.data[:1], self.data[1:]
        if how == b"p":
            import pickle

            rows = pickle.loads(data)  # made by this process, or a child of it
        else:
            rows = msgspec.msgpack.decode(zlib.decompress(data) if how == b"z" else data)
        names = _fields_of_instructions()
        found: Any = [dict(zip(names, row, strict=True)) for row in rows]
        return found  # type: ignore[no-any-return]


def pack(instructions: list[Any]) -> Packed:
    """Pack instructions, which have all fields: without the fields' names, to a fifth of their JSON, and compressed, to
    a fifteenth, where they are many."""
    import zlib
    from operator import itemgetter

    rows = list(map(itemgetter(*_fields_of_instructions()), instructions))
    try:
        data = msgspec.msgpack.encode(rows)
    except UnicodeEncodeError:  # names of files may be any bytes
        import pickle

        return Packed(b"p" + pickle.dumps(rows))
    return Packed(b"z" + zlib.compress(data, 1) if len(data) > _WORTH_COMPRESSING else b"-" + data)


class Share:
    """Makes equal texts one: names, figures and sentences of a build come again and again, and a third of what its
    kernels take is for them."""

    __slots__ = ("_texts",)

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def __call__(self, value: dict[str, Any]) -> dict[str, Any]:
        """The same dictionary, with other texts in it."""
        texts = self._texts
        for key, item in value.items():
            kind = item.__class__
            if kind is str:
                value[key] = texts.setdefault(item, item)
            elif kind is dict:
                self(item)
            elif kind is list and item:
                if item[0].__class__ is dict:
                    for each in item:
                        self(each)
                elif item[0].__class__ is str:
                    item[:] = [texts.setdefault(each, each) for each in item]
        return value


def entries_of(units: Iterable[dict[str, Any]], share: Share) -> Iterator[Entry]:
    """Entries of units that have kernels with instructions; those are taken out of them."""
    for unit in units:
        kernels = unit.pop("kernels")
        share(unit)
        for kernel in kernels:
            packed = pack(kernel.pop("instructions"))
            yield Entry(unit, share(kernel), packed)  # type: ignore[arg-type]
