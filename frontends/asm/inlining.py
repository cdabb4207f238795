"""A reader of the debug information (DWARF 2 to 5) in assembly text: the functions that were inlined at a place.

Compilers write debug information as data whose addresses are labels of the code. So nothing has to be assembled or
relocated, and a place in the code is a statement of the text. Entries on anything but code are skipped, and only the
names that are needed are looked up. Data in a form that compilers do not write is ignored.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

import msgspec

from incc.frontends.kernel import Inlined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from incc.frontends.asm.parse import Assembly

    Token = tuple[str, str]


class DebugError(Exception):
    """Debug information in a form that compilers do not write."""


# --- DWARF 5, section 7.5 ---------------------------------------------------------------------------------------------

_COMPILE_UNIT, _SUBPROGRAM, _INLINED, _BLOCK = 0x11, 0x2E, 0x1D, 0x0B
_UNITS = frozenset((_COMPILE_UNIT, 0x3C, 0x4A))  # also partial and skeleton units
_SCOPES = frozenset((0x39, 0x02, 0x13, 0x17, 0x1E))  # namespace, class, structure, union, (Fortran's) module
_CODE = frozenset((_SUBPROGRAM, _INLINED, _BLOCK))
_TYPE_UNITS = frozenset((2, 6))

_NAME, _LOW, _HIGH, _ORIGIN, _SPECIFICATION, _RANGES = 0x03, 0x11, 0x12, 0x31, 0x47, 0x55
_CALL_FILE, _CALL_LINE, _LINKAGE = 0x58, 0x59, 0x6E
_STRINGS_BASE, _ADDRESS_BASE, _LISTS_BASE = 0x72, 0x73, 0x74
_OLD = {0x2007: _LINKAGE, 0x2133: _ADDRESS_BASE, 0x2132: _LISTS_BASE}  # by MIPS and GNU, before they were standard

_ADDRESS, _OFFSET, _NUMBER, _SIGNED, _STRING, _DATA = -1, -2, -3, -4, -5, -6
_FORMS = {
    0x01: _ADDRESS, 0x03: _DATA, 0x04: _DATA, 0x05: 2, 0x06: 4, 0x07: 8, 0x08: _STRING, 0x09: _DATA, 0x0A: _DATA,
    0x0B: 1, 0x0C: 1, 0x0D: _SIGNED, 0x0E: _OFFSET, 0x0F: _NUMBER, 0x10: _OFFSET, 0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8,
    0x15: _NUMBER, 0x17: _OFFSET, 0x18: _DATA, 0x19: 0, 0x1A: _NUMBER, 0x1B: _NUMBER, 0x1C: 4, 0x1D: _OFFSET, 0x1E: 16,
    0x1F: _OFFSET, 0x20: 8, 0x21: 0, 0x22: _NUMBER, 0x23: _NUMBER, 0x24: 8, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4, 0x29: 1,
    0x2A: 2, 0x2B: 3, 0x2C: 4, 0x1F01: _NUMBER, 0x1F02: _NUMBER, 0x1F20: _OFFSET, 0x1F21: _OFFSET,
}  # fmt: skip
"""The size of values by their form.

It is a number of bytes, or that of an address, an offset between sections, a number of variable length (LEB128, without
or with a sign), a string, or a block of data that begins with its length.
"""
_INDEXED_STRINGS = frozenset((0x1A, 0x25, 0x26, 0x27, 0x28, 0x1F02))
_INDEXED_ADDRESSES = frozenset((0x1B, 0x29, 0x2A, 0x2B, 0x2C, 0x1F01))
_SECTION_REFERENCE, _INLINE_STRING, _IMPLICIT, _INDEXED_LIST = 0x10, 0x08, 0x21, 0x23
_BY_BYTES = frozenset((0x07, 0x20))  # gcc may write eight bytes one by one
_LONGEST = 128
"""Bits of a number of variable length. Without a limit, a megabyte of digits takes minutes."""

_WIDTHS = {
    "byte": 1, "value": 2, "short": 2, "hword": 2, "2byte": 2, "long": 4, "int": 4, "4byte": 4, "quad": 8, "8byte": 8,
    "xword": 8, "word": 4,  # as on AArch64; x86 compilers do not use .word here
}  # fmt: skip
# `.file` may be anywhere, and `.ident` follows gcc's text in whatever section it ends.
_TOKEN = r'[ \t]+\.(?!file|ident)(\w+)[ \t]+("(?:[^"\\]|\\.)*"|[^\s#"]+)'
_TOKENS = "^" + _TOKEN
_LABELS_AND_TOKENS = rf'^(?:([^\s:#"]+):|{_TOKEN})'


class _Abbreviation(msgspec.Struct, frozen=True, kw_only=True):
    """The layout of a kind of entries."""

    tag: int
    inside: bool
    """Other entries follow inside of these."""
    values: tuple[tuple[int, int, int], ...]
    """Attribute, form and constant of each value."""
    statements: int
    """The number of statements of an entry's values if each has a fixed size, otherwise -1."""
    size: int
    """The bytes of these statements, or -1."""
    has_code: bool
    """The addresses of code are among the values."""


class _Value(msgspec.Struct, frozen=True):
    """A value of an entry."""

    text: str
    """As it is written: a number, a symbol, a difference of symbols, or a string."""
    form: int


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry whose values can be read when they are needed."""

    token: int
    """The first value."""
    abbreviation: _Abbreviation
    unit: _Unit
    parent: int
    """The offset of the scope around it, -1 for none."""


class _Unit:
    """A unit of debug information."""

    __slots__ = ("address_size", "bases", "offset_size", "start", "tokens", "version")

    def __init__(self, tokens: list[Token], start: int) -> None:
        self.tokens = tokens
        self.start = start
        """Its offset in the section, in bytes."""
        self.version = self.address_size = self.offset_size = 0
        self.bases: dict[int, str] = {}
        """The symbols at which its tables begin, by attribute."""


class _Walk(msgspec.Struct, frozen=True, kw_only=True):
    """The requests of a walk over all entries, and its results."""

    statements: Mapping[str, Sequence[int]]
    """The statements whose calls are wanted, by section."""
    everything: tuple[int, ...]
    """All of these statements."""
    calls: dict[int, list[tuple[int, _Entry, dict[int, _Value]]]]
    """Offset, entry and values of the inlined calls around each of the statements, outermost first."""
    pairs: list[tuple[tuple[_Entry, dict[int, _Value]], _Entry]] | None
    """All inlined calls with the function around them; None if they are not wanted."""


class _Around(msgspec.Struct, frozen=True):
    """The entries around one."""

    inside: tuple[int, ...]
    """The wanted statements in its code."""
    scope: int
    """The offset of the scope, -1 for none."""
    function: _Entry | None


class DebugInformation:
    """The debug information of a parsed text. Nothing is read before it is needed."""

    def __init__(self, assembly: Assembly, text: str) -> None:
        self._assembly = assembly
        self._text = text
        self._lines: list[str] = []
        # With -gsplit-dwarf the text has both a skeleton and the file that it refers to.
        self._suffix = ".dwo" if any(name == ".debug_info.dwo" for name, _, _ in assembly.debug) else ""
        self._sections: dict[str, _Section] = {}
        self._abbreviations: dict[str, dict[int, _Abbreviation]] = {}
        self._entries: dict[int, _Entry] = {}
        self._strings: dict[int, str] | None = None

    def inlined(self, statements: Iterable[int]) -> dict[int, tuple[Inlined, ...]] | None:
        """Return the functions inlined at each of these statements, outermost first, empty if there are none.

        The result is None if there is no debug information of functions that can be read.
        """
        wanted = sorted(set(statements))
        by_section: dict[str, list[int]] = {}
        for i in wanted:
            by_section.setdefault(self._assembly.statements[i].section, []).append(i)
        walk = _Walk(
            statements=by_section,
            everything=tuple(i for members in by_section.values() for i in members),
            calls={i: [] for i in wanted},
            pairs=None,
        )
        try:
            if not self._walk(walk):
                return None
            # Several statements have the same calls around them.
            inlined: dict[int, Inlined] = {}
            for calls in walk.calls.values():
                for offset, entry, values in calls:
                    if offset not in inlined:
                        file, line = self._number(values.get(_CALL_FILE)), self._number(values.get(_CALL_LINE))
                        name = self._name(entry, values)
                        inlined[offset] = Inlined(offset, name, (self._assembly.files.get(str(file), ""), line))
            return {i: tuple([inlined[offset] for offset, _, _ in calls]) for i, calls in walk.calls.items()}
        except (DebugError, ValueError, IndexError, KeyError, RecursionError):
            return None

    def everything_inlined(self) -> list[tuple[str, str]]:
        """Return the name of each inlined function and of the function around it, each pair once."""
        pairs: list[tuple[tuple[_Entry, dict[int, _Value]], _Entry]] = []
        try:
            self._walk(_Walk(statements={}, everything=(), calls={}, pairs=pairs))
            names: dict[int, str] = {}
            named: dict[tuple[str, str], None] = {}
            for (entry, values), outer in pairs:
                if outer.token not in names:
                    names[outer.token] = self._name(outer, self._read(outer))
                named[self._name(entry, values), names[outer.token]] = None
            return list(named)
        except (DebugError, ValueError, IndexError, KeyError, RecursionError):
            return []

    # --- the tree of entries ---

    def _walk(self, walk: _Walk) -> bool:
        """Read all entries once. Returns True if there is a function at all."""
        self._entries.clear()
        start = 0
        any_function = False
        for text in self._pieces(f".debug_info{self._suffix}"):
            tokens: list[Token] = re.findall(_TOKENS, text, re.MULTILINE)
            at = 0
            while at < len(tokens):
                unit = _Unit(tokens, start)
                at, size, has_function = self._walk_unit(unit, at, walk)
                any_function |= has_function
                start += size
        return any_function

    def _walk_unit(self, unit: _Unit, at: int, walk: _Walk) -> tuple[int, int, bool]:
        """Read a unit from the token `at` on: return its end, its size in bytes, and True if it has functions."""
        tokens = unit.tokens
        abbreviations, at, size = self._header(unit, at)
        has_function = False
        stack: list[_Around] = []
        around = _Around(walk.everything, -1, None)
        while at < len(tokens):
            offset = unit.start + size
            directive, operand = tokens[at]
            # Nearly all codes are a single byte.
            if directive in ("uleb128", "byte") and len(operand) < 4 and (code := int(operand, 0)) < 128:
                at, size = at + 1, size + 1
            else:
                code, at, size = self._leb(tokens, at, size)
            if code == 0:
                if not stack:
                    continue  # padding
                around = stack.pop()
            else:
                abbreviation = abbreviations[code]
                inner, at, size = self._enter(unit, offset, abbreviation, at, size, around, walk)
                has_function |= abbreviation.tag == _SUBPROGRAM
                if abbreviation.inside:
                    stack.append(around)
                    around = inner
                    continue
            if not stack:
                break
        return at, size, has_function

    def _enter(
        self, unit: _Unit, offset: int, abbreviation: _Abbreviation, at: int, size: int, around: _Around, walk: _Walk
    ) -> tuple[_Around, int, int]:
        """Read an entry if it matters: return what is around the entries inside, the token behind it, and `size`."""
        tag = abbreviation.tag
        if tag in _UNITS:
            values, at, size = self._values(unit, abbreviation, at, size)
            for name in (_STRINGS_BASE, _ADDRESS_BASE, _LISTS_BASE):
                if name in values:
                    unit.bases[name] = values[name].text
            return around, at, size
        if tag in _SCOPES:
            self._entries[offset] = _Entry(token=at, abbreviation=abbreviation, unit=unit, parent=around.scope)
            around = _Around(around.inside, offset, around.function)
        elif tag in _CODE:
            entry = _Entry(token=at, abbreviation=abbreviation, unit=unit, parent=around.scope)
            if tag == _SUBPROGRAM:
                self._entries[offset] = entry
                around = _Around(walk.everything, around.scope, entry)
            if abbreviation.has_code and (around.inside or (walk.pairs is not None and tag == _INLINED)):
                values, at, size = self._values(unit, abbreviation, at, size)
                inside = self._inside(unit, values, around.inside, walk.statements)
                if tag == _INLINED:
                    for i in inside:
                        walk.calls[i].append((offset, entry, values))
                    if walk.pairs is not None and around.function is not None:
                        walk.pairs.append(((entry, values), around.function))
                return _Around(inside, around.scope, around.function), at, size
            if tag != _BLOCK or abbreviation.has_code:
                around = _Around((), around.scope, around.function)
        if abbreviation.statements >= 0:
            return around, at + abbreviation.statements, size + abbreviation.size
        _, at, size = self._values(unit, abbreviation, at, size)
        return around, at, size

    def _header(self, unit: _Unit, at: int) -> tuple[dict[int, _Abbreviation], int, int]:
        tokens = unit.tokens
        unit.offset_size, size = 4, 4
        if tokens[at][1].lower() in ("0xffffffff", "4294967295", "-1"):
            unit.offset_size, size = 8, 12
            at += 1
        unit.version = int(tokens[at + 1][1], 0)
        at, size = at + 2, size + 2
        if unit.version >= 5:
            kind, unit.address_size, table = int(tokens[at][1], 0), int(tokens[at + 1][1], 0), tokens[at + 2][1]
            at, size = at + 3, size + 2 + unit.offset_size
            if kind in _TYPE_UNITS:  # a signature, and where the type is
                at, size = self._skip(tokens, at, size, 8 + unit.offset_size)
            elif kind in (4, 5):  # skeleton and split
                at, size = self._skip(tokens, at, size, 8)
        elif 2 <= unit.version <= 4:
            table, unit.address_size = tokens[at][1], int(tokens[at + 1][1], 0)
            at, size = at + 2, size + 1 + unit.offset_size
        else:
            raise DebugError(f"version {unit.version}")
        if table not in self._abbreviations:
            self._abbreviations[table] = self._read_abbreviations(table, unit)
        return self._abbreviations[table], at, size

    def _read_abbreviations(self, table: str, unit: _Unit) -> dict[int, _Abbreviation]:
        section = self._section(f".debug_abbrev{self._suffix}")
        tokens = section.tokens
        abbreviations: dict[int, _Abbreviation] = {}
        widths = {**_FORMS, 0x01: unit.address_size, 0x10: unit.address_size if unit.version == 2 else unit.offset_size}
        widths |= {form: unit.offset_size for form, width in _FORMS.items() if width == _OFFSET and form != 0x10}
        at = section.start(table)
        while at < len(tokens):
            code, at, _ = self._leb(tokens, at, 0)
            if code == 0:
                break
            tag, at, _ = self._leb(tokens, at, 0)
            inside, at, _ = self._leb(tokens, at, 0)
            values: list[tuple[int, int, int]] = []
            while True:
                attribute, at, _ = self._leb(tokens, at, 0)
                form, at, _ = self._leb(tokens, at, 0)
                constant = 0
                if form == _IMPLICIT:
                    constant, at, _ = self._leb(tokens, at, 0, signed=True)
                if not attribute and not form:
                    break
                values.append((_OLD.get(attribute, attribute), form, constant))
            sizes = [widths[form] for _, form, _ in values]
            fixed = all(size in (0, 1, 2, 4, 8) for size in sizes)
            fixed &= all(form not in _BY_BYTES for _, form, _ in values)
            attributes = [attribute for attribute, _, _ in values]
            abbreviations[code] = _Abbreviation(
                tag=tag,
                inside=bool(inside),
                values=tuple(values),
                statements=sum(size > 0 for size in sizes) if fixed else -1,
                size=sum(sizes) if fixed else -1,
                has_code=_LOW in attributes or _RANGES in attributes,
            )
        return abbreviations

    # --- values ---

    @staticmethod
    def _leb(tokens: Sequence[Token], at: int, size: int, signed: bool = False) -> tuple[int, int, int]:
        """Return a number of variable length, the token behind it, and `size` with its bytes."""
        directive, operand = tokens[at]
        if directive in ("uleb128", "sleb128"):
            value = int(operand, 0)
            return value, at + 1, size + _leb_size(value)
        value = shift = 0
        while True:
            if shift > _LONGEST:
                raise DebugError("a number that is too long")
            directive, operand = tokens[at]
            data = _data(directive, operand)
            at += 1
            for byte in data:
                value |= (byte & 127) << shift
                shift += 7
                size += 1
            if not data or data[-1] < 128:
                break
        if signed and value >> (shift - 1):
            value -= 1 << shift
        return value, at, size

    def _values(
        self, unit: _Unit, abbreviation: _Abbreviation, at: int, size: int
    ) -> tuple[dict[int, _Value], int, int]:
        """Return an entry's values by attribute, the token behind them, and `size` with their bytes."""
        tokens = unit.tokens
        values: dict[int, _Value] = {}
        for attribute, form, constant in abbreviation.values:
            width = _FORMS[form]
            if width == _OFFSET:
                width = unit.address_size if form == _SECTION_REFERENCE and unit.version == 2 else unit.offset_size
            elif width == _ADDRESS:
                width = unit.address_size
            if width > 0:
                directive, operand = tokens[at]
                values[attribute] = _Value(operand, form)
                if _WIDTHS.get(directive) == width or directive == "word":
                    at, size = at + 1, size + width
                else:
                    at, size = self._skip(tokens, at, size, width)
            elif form == _IMPLICIT:
                values[attribute] = _Value(str(constant), form)
            elif width in (_NUMBER, _SIGNED):
                number, at, size = self._leb(tokens, at, size)
                values[attribute] = _Value(str(number), form)
            elif width == _STRING:
                data = bytearray()
                while not data.endswith(b"\0"):
                    data += _data(*tokens[at])
                    at += 1
                size += len(data)
                values[attribute] = _Value(data[:-1].decode("utf-8", "surrogateescape"), form)
            elif width == _DATA:
                if form in (0x09, 0x18):
                    length, at, size = self._leb(tokens, at, size)
                else:
                    length = int(tokens[at][1], 0)
                    at, size = at + 1, size + {0x0A: 1, 0x03: 2, 0x04: 4}[form]
                at, size = self._skip(tokens, at, size, length)
        return values, at, size

    @staticmethod
    def _skip(tokens: Sequence[Token], at: int, size: int, length: int) -> tuple[int, int]:
        """Return the token behind `length` bytes, however they are written, and `size` with the bytes."""
        end = size + length
        while size < end:
            directive, operand = tokens[at]
            if directive in ("uleb128", "sleb128"):
                size += _leb_size(int(operand, 0), directive == "sleb128")
            elif directive in ("string", "asciz", "ascii"):
                size += len(_data(directive, operand))
            elif directive in ("zero", "skip", "space"):
                size += int(operand, 0)
            else:
                size += _WIDTHS[directive]
            at += 1
        if size > end:
            raise DebugError("values longer than their length")
        return at, size

    @staticmethod
    def _number(value: _Value | None) -> int:
        return int(value.text, 0) if value else 0

    def _read(self, entry: _Entry) -> dict[int, _Value]:
        return self._values(entry.unit, entry.abbreviation, entry.token, 0)[0]

    # --- names ---

    def _name(self, entry: _Entry, values: dict[int, _Value]) -> str:
        """Return a function's symbol, or its name with those of the scopes around it."""
        seen = 0
        while True:
            if _LINKAGE in values:
                return self._string(entry.unit, values[_LINKAGE])
            reference = values.get(_ORIGIN) or values.get(_SPECIFICATION)
            if _NAME in values and not reference:
                break
            if not reference or seen > 8:
                return ""
            seen += 1
            entry = self._entries[self._offset(entry.unit, reference)]
            values = self._read(entry)
        parts = [self._string(entry.unit, values[_NAME])]
        scope = entry.parent
        while scope >= 0 and len(parts) < 64:
            around = self._entries[scope]
            name = self._read(around).get(_NAME)
            if name:
                parts.append(self._string(around.unit, name))
            scope = around.parent
        return "::".join(reversed(parts))

    @staticmethod
    def _offset(unit: _Unit, value: _Value) -> int:
        """Return the offset in the section that a reference means."""
        if value.form == _SECTION_REFERENCE:
            return int(value.text.rpartition("+")[2], 0) if "+" in value.text or value.text.isdigit() else 0
        return unit.start + int(value.text, 0)

    def _string(self, unit: _Unit, value: _Value) -> str:
        if value.form == _INLINE_STRING:
            return value.text
        if value.form in _INDEXED_STRINGS:
            offsets = self._section(f".debug_str_offsets{self._suffix}")
            base = unit.bases.get(_STRINGS_BASE, "")
            # A split unit's table has a header: length, version, padding.
            at = 3 if not base and unit.version >= 5 else offsets.start(base)
            return self._string_at(offsets.tokens[at + int(value.text, 0)][1])
        return self._string_at(value.text, ".debug_line_str" if value.form == 0x1F else "")

    def _string_at(self, where: str, name: str = "") -> str:
        """Return the string at a symbol, or at an offset, of a section."""
        section = self._section(name or f".debug_str{self._suffix}")
        symbol, _, more = where.partition("+")
        if symbol in section.labels and not more:
            return next(_strings(section.tokens, section.labels[symbol]))[1]
        if self._strings is None:
            self._strings = dict(_strings(section.tokens))
        return self._strings[int(more or where, 0)]

    # --- places ---

    def _inside(
        self, unit: _Unit, values: dict[int, _Value], around: tuple[int, ...], wanted: Mapping[str, Sequence[int]]
    ) -> tuple[int, ...]:
        """Return those of the statements `around` that are in an entry's code. `wanted` are all statements."""
        if not around:
            return ()
        labels, statements = self._assembly.labels, self._assembly.statements
        inside: set[int] = set()
        for low, high in self._spans(unit, values):
            first, last = labels.get(low, -1), labels.get(high, -1)
            if 0 <= first < last:
                members = wanted.get(statements[first].section, ())
                inside.update(members[bisect_left(members, first) : bisect_left(members, last)])
        return tuple(i for i in around if i in inside) if inside else ()

    def _spans(self, unit: _Unit, values: dict[int, _Value]) -> Iterator[tuple[str, str]]:
        """Yield the labels before and behind each range of an entry's code.

        Compilers write all lengths as differences between these labels.
        """
        if _RANGES in values:
            yield from self._ranges(unit, values[_RANGES])
        elif _LOW in values and _HIGH in values:
            low = values[_LOW]
            yield self._address(unit, low.text, low.form in _INDEXED_ADDRESSES), _end(values[_HIGH].text)

    def _address(self, unit: _Unit, text: str, indexed: bool) -> str:
        if not indexed:
            return text
        table = self._section(".debug_addr")
        base = unit.bases.get(_ADDRESS_BASE, "")
        at = table.start(base)
        while _WIDTHS.get(table.tokens[at][0]) != unit.address_size:  # the header
            at += 1
        return table.tokens[at + int(text, 0)][1]

    def _ranges(self, unit: _Unit, value: _Value) -> Iterator[tuple[str, str]]:
        if unit.version < 5:
            section = self._section(".debug_ranges")
            symbol, _, more = _end(value.text).partition("+")
            if symbol.isalnum():  # of a split unit
                symbol, more = "", symbol
            tokens = section.tokens
            at = section.start(symbol) + (int(more, 0) // unit.address_size if more else 0)
            while at + 1 < len(tokens):
                low, high = tokens[at][1], tokens[at + 1][1]
                if low == high and low.isdigit():
                    return
                yield _end(low), _end(high)
                at += 2
            return
        section = self._section(f".debug_rnglists{self._suffix}")
        where = value.text
        if value.form == _INDEXED_LIST:
            base = unit.bases.get(_LISTS_BASE, "")
            # A split unit's list of offsets follows its header: length, version, two sizes, number of offsets.
            first = section.labels.get(base, 5)
            where = _end(section.tokens[first + int(value.text, 0)][1])
        tokens = section.tokens
        at = section.labels[where]
        while True:
            kind = int(tokens[at][1], 0)
            at += 1
            if kind == 0:
                return
            if kind in (1, 5):  # a base, which the differences name as well
                _, at = self._range_value(unit, tokens, at, kind == 1)
                continue
            low, at = self._range_value(unit, tokens, at, kind in (2, 3))
            high, at = self._range_value(unit, tokens, at, kind == 2)
            yield low, high

    def _range_value(self, unit: _Unit, tokens: Sequence[Token], at: int, indexed: bool) -> tuple[str, int]:
        directive, operand = tokens[at]
        if indexed:
            number, at, _ = self._leb(tokens, at, 0)
            return self._address(unit, str(number), True), at
        if directive == "byte":  # a number; compilers write differences
            raise DebugError("a range of numbers")
        return _end(operand), at + 1

    # --- text ---

    def _section(self, name: str) -> _Section:
        if name not in self._sections:
            self._sections[name] = _Section("\n".join(self._pieces(name)))
        return self._sections[name]

    def _pieces(self, name: str) -> Iterator[str]:
        """Yield the text of a section, piece by piece."""
        if not self._lines:
            self._lines = self._text.split("\n")
        for section, first, end in self._assembly.debug:
            if section == name:
                yield "\n".join(self._lines[first - 1 : end - 1])


class _Section:
    """The values of a section, and the positions of its labels among them."""

    __slots__ = ("labels", "tokens")

    def __init__(self, text: str) -> None:
        self.labels: dict[str, int] = {}
        self.tokens: list[Token] = []
        for label, directive, operand in re.findall(_LABELS_AND_TOKENS, text, re.MULTILINE):
            if label:
                self.labels[label] = len(self.tokens)
            else:
                self.tokens.append((directive, operand))

    def start(self, label: str) -> int:
        """Return the position of a label; 0 for the section's own name and for "", which mean its beginning."""
        return self.labels.get(label, 0)


def _strings(tokens: Sequence[Token], first: int = 0) -> Iterator[tuple[int, str]]:
    """Yield the strings of a section from the value `first` on, with their offsets from there.

    Long strings are written in parts.
    """
    offset = 0
    data = bytearray()
    for at in range(first, len(tokens)):
        directive, operand = tokens[at]
        data += _data(directive, operand)
        if data.endswith(b"\0"):
            yield offset, data[:-1].decode("utf-8", "surrogateescape")
            offset += len(data)
            data = bytearray()


def _end(text: str) -> str:
    """Return the symbol that a difference goes to."""
    return text.partition("-")[0]


def _leb_size(value: int, signed: bool = False) -> int:
    """Return the bytes that a number takes in LEB128."""
    bits = (value if value >= 0 else ~value).bit_length() + signed
    return max(1, -(-bits // 7))


def _data(directive: str, operand: str) -> bytes:
    """Return the bytes of a single byte or a string.

    clang writes two bytes as a string, too, if the second is 0.
    """
    if directive == "byte":
        return bytes((int(operand, 0) & 255,))
    if directive not in ("string", "asciz", "ascii"):
        raise DebugError(f".{directive} where bytes are expected")
    data = operand[1:-1].encode("utf-8", "surrogateescape")
    if b"\\" in data:
        data = re.sub(rb"\\([0-7]{1,3}|.)", _unescaped, data)
    return data if directive == "ascii" else data + b"\0"


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match.group(1)
    if code.isdigit():
        return bytes((int(code, 8) & 255,))
    return {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"f": b"\f", b"b": b"\b"}.get(code, code)
