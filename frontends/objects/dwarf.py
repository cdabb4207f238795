"""A reader of debug information (DWARF 2 to 5): the source lines of machine code, and the functions inlined there.

Only entries with code around a requested address are decoded; others are skipped by the lengths that their
abbreviations imply, so that a large object takes little more time with debug information than without. (pyelftools
makes an object of each entry and relocation, and takes 15 seconds for the relocations of an object of 7 MB.) Nothing
is read before it is needed. Damaged information gives no lines, and a note.
"""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from incc.frontends.kernel import LAST_LINE, Inlined, SourceLocation, Variable, VariablePlace
from incc.frontends.objects.bytes import Reader, signed_leb, string_at, uleb
from incc.frontends.objects.line_program import LineTable

Load = Callable[[str], bytes]
"""Returns the bytes of a section by its name, none if there is no such section."""

FAULTS = (ValueError, IndexError, KeyError, struct.error, ZeroDivisionError, OverflowError, MemoryError, zlib.error)
"""Exceptions that damaged data may raise."""

# --- DWARF 5, section 7.5 ---------------------------------------------------------------------------------------------

_SUBPROGRAM, _INLINED, _BLOCK = 0x2E, 0x1D, 0x0B
_CODE = frozenset((_SUBPROGRAM, _INLINED, _BLOCK))
_VARIABLES = frozenset((0x05, 0x34))  # parameters and variables
_UNITS = frozenset((0x11, 0x3C, 0x4A))  # compile, partial and skeleton units
_SPACES = frozenset((0x39, 0x1E))  # namespaces, (Fortran's) modules
_SCOPES = _SPACES | {0x02, 0x13, 0x17}  # also classes, structures, unions
_TYPE_UNITS = frozenset((2, 6))
_SPLIT = frozenset((4, 5))

_LOCATION, _SIBLING, _NAME, _LINES, _LOW, _HIGH, _LANGUAGE, _FOLDER = 0x02, 0x01, 0x03, 0x10, 0x11, 0x12, 0x13, 0x1B
_ORIGIN, _SPECIFICATION, _RANGES, _CALL_FILE, _CALL_LINE, _LINKAGE = 0x31, 0x47, 0x55, 0x58, 0x59, 0x6E
_STRINGS_BASE, _ADDRESS_BASE, _LISTS_BASE, _SPLIT_NAME, _OLD_RANGES_BASE = 0x72, 0x73, 0x74, 0x76, 0x2132
_LOCATIONS_BASE = 0x8C
# Attributes that MIPS and GNU used before they were standard.
_OLD = {0x2007: _LINKAGE, 0x2130: _SPLIT_NAME, 0x2133: _ADDRESS_BASE}

_READ = frozenset(
    (_NAME, _LINES, _LOW, _HIGH, _LANGUAGE, _FOLDER, _ORIGIN, _SPECIFICATION, _RANGES, _CALL_FILE, _CALL_LINE, _LINKAGE)
) | {_STRINGS_BASE, _ADDRESS_BASE, _LISTS_BASE, _SPLIT_NAME, _OLD_RANGES_BASE, _LOCATION, _LOCATIONS_BASE}

# Languages whose functions are not nested (`_FLAT`), and those of them whose names have no scopes.
_C = frozenset((0x01, 0x02, 0x0C, 0x1D, 0x2C, 0x3E))
_FLAT = _C | {0x04, 0x1A, 0x21, 0x2B, 0x3A}

_ADDRESS, _STRING, _INDIRECT, _IMPLICIT = 0x01, 0x08, 0x16, 0x21
_INDEXED_LISTS = frozenset((0x22, 0x23))  # of locations, of ranges
_EXPRESSION = 0x18
_SECTION_REFERENCE, _OTHER_FILE = 0x10, frozenset((0x1D, 0x1F20, 0x1F21, 0x1C, 0x24, 0x20))
_LINE_STRING, _STRINGS = 0x1F, frozenset((0x0E, 0x1F))
_INDEXED_STRINGS = frozenset((0x1A, 0x25, 0x26, 0x27, 0x28, 0x1F02))
_INDEXED_ADDRESSES = frozenset((0x1B, 0x29, 0x2A, 0x2B, 0x2C, 0x1F01))
_FIXED = {
    0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x0C: 1, 0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8, 0x19: 0, 0x1C: 4, 0x1E: 16,
    0x20: 8, 0x21: 0, 0x24: 8, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4, 0x29: 1, 0x2A: 2, 0x2B: 3, 0x2C: 4,
}  # fmt: skip
"""The size of values by their form, for forms that have the same size in all units."""
_OFFSETS = frozenset((0x0E, 0x17, 0x1D, 0x1F, 0x1F20, 0x1F21))
_NUMBERS = frozenset((0x0D, 0x0F, 0x15, 0x1A, 0x1B, 0x22, 0x23, 0x1F01, 0x1F02))
_SIGNED = 0x0D
_COUNTED = {0x0A: 1, 0x03: 2, 0x04: 4}
"""The size of the length before a block of data, by the block's form; other forms have one of variable size."""
_BLOCKS = frozenset((0x09, 0x18))

# Entries of lists of locations that those of ranges lack: a default, and GNU's numbers of views.
_ANYWHERE, _VIEWS = 5, 9

_AS_VALUE = b"\x9f"
_ENTRY_VALUE = (0xA3, 0xF3)  # also GNU's number

# Steps over values of variable length. Steps that are not negative are a number of bytes.
_OVER_NUMBER, _OVER_STRING, _OVER_BLOCK = -1, -2, -3


class _Abbreviation(msgspec.Struct, frozen=True, kw_only=True):
    """The layout of a kind of entries."""

    tag: int
    inside: bool
    """Other entries follow inside of these."""
    values: tuple[tuple[int, int, int, int], ...]
    """Attribute (0 for one that is not needed), form, constant and size of each value."""
    size: int
    """The bytes of all values, -1 if they vary."""
    steps: tuple[int, ...]
    """The steps over the values."""
    has_code: bool
    """The addresses of code are among the values."""
    sibling: int
    """The offset, from the first value, of the reference to the next entry on this level; -1 if it is unknown."""


class _Value(msgspec.Struct, frozen=True):
    """A value of an entry."""

    number: int
    """A number, an offset or an index; for a string within the entry its offset."""
    form: int


class _Unit(msgspec.Struct, eq=False):
    """A unit of `.debug_info`.

    `start` is its offset there, `first` that of its outermost entry. `load` returns the sections of its file, whose
    names have `suffix` for a split unit. `skeleton` is the unit of the object that refers to a split unit.
    """

    load: Load
    start: int
    suffix: str = ""
    skeleton: _Unit | None = None
    end: int = 0
    first: int = 0
    version: int = 0
    address_size: int = 0
    offset_size: int = 0
    low: int = 0
    language: int = 0
    directory: str = ""
    abbreviations: dict[int, _Abbreviation] = {}
    bases: dict[int, int] = {}
    values: dict[int, _Value] = {}
    scopes: dict[int, tuple[int, ...]] | None = None
    split: _Unit | None = None

    @property
    def info(self) -> bytes:
        return self.load(f".debug_info{self.suffix}")


class Dwarf:
    """The debug information of an object (see `container.DebugInformation`).

    `load` returns its sections, `open_split` those of another file by its name and folder, None if there is no such
    file. A `table` serves instead of those in `.debug_line`.
    """

    def __init__(
        self,
        load: Load,
        open_split: Callable[[str, str], Load | None] = lambda name, folder: None,
        table: LineTable | None = None,
    ) -> None:
        self._load = load
        self._open_split = open_split
        self._only_table = table
        self._units: list[_Unit] | None = None
        self._spans: list[tuple[int, int, _Unit]] = []
        self._starts: list[int] = []
        self._reach: list[int] = []
        self._everywhere: list[_Unit] = []
        self._abbreviations: dict[object, dict[int, _Abbreviation]] = {}
        self._tables: dict[int, LineTable | None] = {}
        self._locations: dict[int, SourceLocation | None] = {}
        self.note = ""

    def location(self, address: int) -> SourceLocation | None:
        """Return the place of an instruction in the source, None if it has none or it is unknown."""
        if address in self._locations:
            return self._locations[address]
        place = None
        for unit in self._units_at(address):
            table = self._table(unit)
            place = table.location(address) if table else None
            if place:
                break
        self._locations[address] = place
        return place

    def inlined(self, addresses: Iterable[int]) -> dict[int, tuple[Inlined, ...]] | None:
        """Return the functions inlined at each of these addresses, outermost first.

        Addresses at which nothing is inlined are left out. The result is None if there is no debug information of
        functions that can be read.
        """
        calls: dict[int, tuple[Inlined, ...]] = {}
        any_function = False
        for unit, unit_addresses in self._by_unit(addresses):
            try:
                unit = self._whole(unit)
                has_function, rest = self._walk(unit, unit_addresses, calls)
                any_function |= has_function
                if rest and has_function:
                    # Functions may be inside others, in classes (lambdas), but few programs have any.
                    self._walk(unit, sorted(rest), calls, thoroughly=True)
            except FAULTS:
                self._note_damage()
        return calls if any_function else None

    def variables(self, addresses: Iterable[int]) -> dict[int, tuple[Variable, ...]]:
        """Return the variables and parameters of the functions at each of these addresses, those of outer scopes first.

        Addresses without variables are left out.
        """
        variables: dict[int, tuple[Variable, ...]] = {}
        for unit, unit_addresses in self._by_unit(addresses):
            try:
                self._find_variables(self._whole(unit), tuple(unit_addresses), variables)
            except FAULTS:
                self._note_damage()
        return variables

    def _by_unit(self, addresses: Iterable[int]) -> Iterable[tuple[_Unit, list[int]]]:
        """Return the units with code at some of these addresses, and for each of them those addresses, ascending."""
        by_unit: dict[int, tuple[_Unit, list[int]]] = {}
        for address in sorted(set(addresses)):
            for unit in self._units_at(address):
                by_unit.setdefault(unit.start, (unit, []))[1].append(address)
        return by_unit.values()

    def every_inlined(self) -> Iterator[tuple[str, str]]:
        """Yield the names of each inlined function and of the function around it, until damage is met."""
        if self._units is None:
            self._read_units()
        try:
            for unit in map(self._whole, self._units or ()):
                functions: dict[int, str] = {}
                for at, values_at, abbreviation, around in self._entries(unit):
                    outer = next((entry for entry, tag in reversed(around) if tag == _SUBPROGRAM), -1)
                    if abbreviation.tag == _INLINED and abbreviation.has_code and outer >= 0:
                        if outer not in functions:
                            functions[outer] = self._name(unit, outer, self._entry(unit, outer))
                        name = self._name(unit, at, self._values(unit, abbreviation, values_at)[0])
                        yield name, functions[outer]
        except FAULTS:
            self._note_damage()

    def _note_damage(self) -> None:
        self.note = self.note or "the debug information is damaged: source lines may be missing"

    # --- units ---

    def _units_at(self, address: int) -> list[_Unit]:
        """Return the unit with code at an address, or if there is none those whose addresses are unknown."""
        if self._units is None:
            self._read_units()
        n = bisect_right(self._starts, address) - 1
        while n >= 0 and address < self._reach[n]:
            _, end, unit = self._spans[n]
            if address < end:
                return [unit]
            n -= 1
        return self._everywhere

    def _read_units(self) -> None:
        self._units = []
        spans: list[tuple[int, int, _Unit]] = []
        at = 0
        try:
            size = len(self._load(".debug_info"))
            while at < size:
                unit = _Unit(self._load, at)
                kind = self._header(unit)
                if unit.end <= at or unit.end > size:
                    raise ValueError("a unit that does not end")
                at = unit.end
                if kind in _TYPE_UNITS or not self._root(unit):
                    continue
                self._units.append(unit)
                try:
                    own = [span for span in self._ranges(unit, unit.values) if span[0] < span[1]]
                except FAULTS:
                    own = []
                    self._note_damage()
                spans += [(low, high, unit) for low, high in own]
                if not own and _LINES in unit.values:
                    self._everywhere.append(unit)
        except FAULTS:
            self._note_damage()
        spans.sort(key=lambda span: span[:2])
        reach = 0
        for low, high, _ in spans:
            reach = max(reach, high)
            self._starts.append(low)
            self._reach.append(reach)
        self._spans = spans

    def _header(self, unit: _Unit) -> int:
        """Read the header of a unit and return its type."""
        reader = Reader(unit.info, unit.start)
        unit.end, unit.offset_size = reader.unit_length()
        unit.version = reader.number(2)
        kind = 1
        if unit.version == 5:
            kind = reader.number(1)
            unit.address_size = reader.number(1)
            table = reader.number(unit.offset_size)
            if kind in _TYPE_UNITS:
                reader.at += 8 + unit.offset_size
            elif kind in _SPLIT:
                reader.at += 8
        elif 2 <= unit.version <= 4:
            table = reader.number(unit.offset_size)
            unit.address_size = reader.number(1)
        else:
            raise ValueError(f"version {unit.version}")
        unit.first = reader.at
        key = id(unit.load), unit.suffix, table, unit.offset_size, unit.address_size, unit.version
        if key not in self._abbreviations:
            self._abbreviations[key] = _read_abbreviations(unit, table)
        unit.abbreviations = self._abbreviations[key]
        return kind

    def _root(self, unit: _Unit) -> bool:
        """Read the outermost entry of a unit. Returns False if it has none."""
        code, at = uleb(unit.info, unit.first)
        if not code:
            return False
        unit.values, _ = self._values(unit, unit.abbreviations[code], at)
        values = unit.values
        for name in (_STRINGS_BASE, _ADDRESS_BASE, _LISTS_BASE, _LOCATIONS_BASE, _OLD_RANGES_BASE):
            if name in values:
                unit.bases[name] = values[name].number
        unit.language = values[_LANGUAGE].number if _LANGUAGE in values else 0
        unit.directory = self._string(unit, values[_FOLDER]) if _FOLDER in values else ""
        if _LOW in values:
            unit.low = self._address(unit, values[_LOW])
        return True

    def _whole(self, unit: _Unit) -> _Unit:
        """Return the unit with the entries: for a skeleton the one in another file, if there is such a file."""
        if _SPLIT_NAME not in unit.values:
            return unit
        if unit.split is None:
            unit.split = unit
            name = self._string(unit, unit.values[_SPLIT_NAME])
            load = self._open_split(name, unit.directory)
            if load is None:
                self.note = self.note or f"there is no {name}, which has the names of what was inlined"
            elif load(".debug_info.dwo"):
                split = _Unit(load, 0, ".dwo", unit)
                while self._header(split) in _TYPE_UNITS:
                    split = _Unit(load, split.end, ".dwo", unit)
                if self._root(split):
                    split.low = unit.low
                    unit.split = split
        return unit.split

    def _table(self, unit: _Unit) -> LineTable | None:
        """Return the line table of a unit, for a split unit that of its skeleton."""
        unit = unit.skeleton or unit
        if self._only_table or _LINES not in unit.values:
            return self._only_table
        at = unit.values[_LINES].number
        if at not in self._tables:
            from incc.frontends.objects.line_program import read_line_table

            self._tables[at] = None
            load = self._load
            try:
                self._tables[at] = read_line_table(
                    load(".debug_line"),
                    at,
                    unit.directory,
                    lambda offset: string_at(load(".debug_line_str"), offset),
                    lambda offset: string_at(load(".debug_str"), offset),
                )
            except FAULTS:
                self._note_damage()
        return self._tables[at]

    # --- entries ---

    def _walk(
        self, unit: _Unit, addresses: Sequence[int], calls: dict[int, tuple[Inlined, ...]], thoroughly: bool = False
    ) -> tuple[bool, set[int]]:
        """Put the inlined calls around each of these addresses, which ascend, into `calls`.

        Only if `thoroughly`, functions in classes and in functions without these addresses are considered. Returns True
        if the unit has a function at all, and the addresses that are in none.
        """
        data, end, abbreviations = unit.info, unit.end, unit.abbreviations
        flat = unit.language in _FLAT and not thoroughly
        everything = tuple(addresses)
        rest = set(addresses)
        any_function = False
        stack: list[tuple[int, ...]] = []
        inside = everything
        at = unit.first
        while at < end:
            entry = at
            code = data[at]
            at += 1
            if code > 127:
                code, at = uleb(data, at - 1)
            if code == 0:
                if not stack:
                    break
                inside = stack.pop()
                continue
            abbreviation = abbreviations[code]
            tag, size, sibling = abbreviation.tag, abbreviation.size, abbreviation.sibling
            values_at = at
            at = at + size if size >= 0 else _over(data, at, abbreviation.steps)
            within = inside
            if tag in _CODE:
                if tag == _SUBPROGRAM:
                    any_function = True
                    within = everything
                within = self._within(unit, entry, abbreviation, values_at, within, calls)
                enter = bool(within) or (tag == _SUBPROGRAM and not flat)
                rest.difference_update(within)
            else:
                enter = tag in _UNITS or tag in _SPACES or (thoroughly and tag in _SCOPES)
            if not abbreviation.inside:
                continue
            if not enter and sibling >= 0:
                following = unit.start + int.from_bytes(data[values_at + sibling : values_at + sibling + 4], "little")
                if not at <= following <= end:
                    raise ValueError("a sibling that is not behind its entry")
                at = following
                continue
            stack.append(inside)
            inside = within if enter else ()
        return any_function, rest

    def _within(
        self,
        unit: _Unit,
        entry: int,
        abbreviation: _Abbreviation,
        values_at: int,
        around: tuple[int, ...],
        calls: dict[int, tuple[Inlined, ...]],
    ) -> tuple[int, ...]:
        """Return those of the addresses `around` that are in an entry's code, and note the call if it is inlined."""
        if not abbreviation.has_code:
            return around if abbreviation.tag == _BLOCK else ()
        if not around:
            return ()
        values, _ = self._values(unit, abbreviation, values_at)
        inside: set[int] = set()
        for low, high in self._ranges(unit, values):
            inside.update(around[bisect_left(around, low) : bisect_left(around, high)])
        if inside and abbreviation.tag == _INLINED:
            call = self._inlined_call(unit, entry, values)
            for address in inside:
                calls[address] = (*calls.get(address, ()), call)
        return tuple(sorted(inside))

    def _find_variables(
        self, unit: _Unit, addresses: tuple[int, ...], variables: dict[int, tuple[Variable, ...]]
    ) -> None:
        """Put the variables and parameters in scope at each of these addresses, which ascend, into `variables`."""
        inside: dict[int, tuple[int, ...]] = {}
        for entry, values_at, abbreviation, around in self._entries(unit):
            outer = around[-1][0] if around else -1
            if abbreviation.tag in _CODE:
                of_outer = addresses if abbreviation.tag == _SUBPROGRAM else inside.get(outer, ())
                inside[entry] = self._within(unit, entry, abbreviation, values_at, of_outer, {})
            elif abbreviation.tag in _VARIABLES and inside.get(outer):
                values, _ = self._values(unit, abbreviation, values_at)
                name = self._name(unit, entry, values)
                for address in inside[outer] if name else ():
                    place = _place(self._location_at(unit, values.get(_LOCATION), address))
                    variable = Variable(entry, name, place)
                    variables[address] = (*variables.get(address, ()), variable)

    def _location_at(self, unit: _Unit, value: _Value | None, address: int) -> bytes:
        """Return the expression of a variable's location at an address, none if there is no location."""
        if value is None:
            return b""
        if value.form == _EXPRESSION:
            size, at = uleb(unit.info, value.number)
            return unit.info[at : at + size]
        listed = self._old_list(unit, value, True) if unit.version < 5 else self._list(unit, value, True)
        return next((expression for low, high, expression in listed if low <= address < high), b"")

    def _inlined_call(self, unit: _Unit, entry: int, values: Mapping[int, _Value]) -> Inlined:
        table = self._table(unit)
        number, line = (values[name].number if name in values else 0 for name in (_CALL_FILE, _CALL_LINE))
        call = table.file(number) if table else "", line if 0 <= line <= LAST_LINE else 0
        return Inlined(entry, self._name(unit, entry, values), call)

    def _values(self, unit: _Unit, abbreviation: _Abbreviation, at: int) -> tuple[dict[int, _Value], int]:
        """Return an entry's values by attribute, and the offset after them."""
        data = unit.info
        values: dict[int, _Value] = {}
        for attribute, form, constant, size in abbreviation.values:
            number = at
            if size > 0:
                at += size
                if not attribute:
                    continue
                number = int.from_bytes(data[number:at], "little")
            elif size == 0:
                number = constant if form == _IMPLICIT else 1
            elif form == _SIGNED:
                number, at = signed_leb(data, at)
            elif form in _NUMBERS:
                number, at = uleb(data, at)
            else:
                at = _over(data, at, _steps_of(form))
            if attribute:
                values[attribute] = _Value(number, form)
        if at > unit.end:
            raise ValueError("values behind the unit's end")
        return values, at

    # --- names ---

    def _name(self, unit: _Unit, entry: int, values: Mapping[int, _Value]) -> str:
        """Return a function's symbol, or its name with those of the scopes around it; "" if it is unknown."""
        for _ in range(8):
            if _LINKAGE in values:
                return self._string(unit, values[_LINKAGE])
            reference = values.get(_ORIGIN) or values.get(_SPECIFICATION)
            if reference is None:
                break
            if reference.form in _OTHER_FILE:
                return ""
            if reference.form == _SECTION_REFERENCE:
                entry = reference.number
                unit = self._unit_of(unit, entry)
            else:
                entry = unit.start + reference.number
            values = self._entry(unit, entry)
        if _NAME not in values:
            return ""
        name = self._string(unit, values[_NAME])
        if unit.language in _C:
            return name
        if unit.scopes is None:
            unit.scopes = self._scopes(unit)
        around = [self._entry(unit, scope) for scope in unit.scopes.get(entry, ())]
        return "::".join([*(self._string(unit, scope[_NAME]) for scope in around if _NAME in scope), name])

    def _entry(self, unit: _Unit, at: int) -> dict[int, _Value]:
        if not unit.first <= at < unit.end:
            raise ValueError("an entry outside of its unit")
        code, at = uleb(unit.info, at)
        return self._values(unit, unit.abbreviations[code], at)[0]

    def _unit_of(self, unit: _Unit, at: int) -> _Unit:
        """Return the unit that has an offset in the section of a unit."""
        if unit.start <= at < unit.end:
            return unit
        units = self._units or []
        n = bisect_right([other.start for other in units], at) - 1
        if unit.suffix or n < 0 or at >= units[n].end:
            raise ValueError("an entry in no unit")
        return units[n]

    def _scopes(self, unit: _Unit) -> dict[int, tuple[int, ...]]:
        """Return the scopes around each function of a unit, outermost first."""
        return {
            at: tuple([scope for scope, tag in around if tag in _SCOPES])
            for at, _, abbreviation, around in self._entries(unit)
            if abbreviation.tag == _SUBPROGRAM
        }

    def _entries(self, unit: _Unit) -> Iterator[tuple[int, int, _Abbreviation, list[tuple[int, int]]]]:
        """Yield each entry of a unit: its offset, that of its values, its layout, and the entries around it.

        These are offsets and tags, outermost first, in a list that is valid until the next entry.
        """
        data, at = unit.info, unit.first
        around: list[tuple[int, int]] = []
        while at < unit.end:
            entry = at
            code, at = uleb(data, at)
            if code == 0:
                if not around:
                    return
                around.pop()
                continue
            abbreviation = unit.abbreviations[code]
            yield entry, at, abbreviation, around
            at = at + abbreviation.size if abbreviation.size >= 0 else _over(data, at, abbreviation.steps)
            if abbreviation.inside:
                around.append((entry, abbreviation.tag))

    def _string(self, unit: _Unit, value: _Value) -> str:
        if value.form == _STRING:
            return string_at(unit.info, value.number)
        if value.form in _INDEXED_STRINGS:
            # A split unit's table has a header in DWARF 5: length, version, padding.
            header = 0 if unit.version < 5 else 8 if unit.offset_size == 4 else 16
            base = unit.bases.get(_STRINGS_BASE, header)
            at = base + value.number * unit.offset_size
            where = Reader(unit.load(f".debug_str_offsets{unit.suffix}"), at).number(unit.offset_size)
            return string_at(unit.load(f".debug_str{unit.suffix}"), where)
        if value.form not in _STRINGS:
            return ""
        section = ".debug_line_str" if value.form == _LINE_STRING else f".debug_str{unit.suffix}"
        return string_at(unit.load(section), value.number)

    # --- addresses ---

    def _address(self, unit: _Unit, value: _Value) -> int:
        return self._indexed(unit, value.number) if value.form in _INDEXED_ADDRESSES else value.number

    def _indexed(self, unit: _Unit, number: int) -> int:
        owner = unit.skeleton or unit
        base = owner.bases.get(_ADDRESS_BASE, 8 if unit.version >= 5 else 0)
        return Reader(self._load(".debug_addr"), base + number * unit.address_size).number(unit.address_size)

    def _ranges(self, unit: _Unit, values: Mapping[int, _Value]) -> Iterator[tuple[int, int]]:
        """Yield first address and end of each range of an entry's code."""
        if _RANGES in values:
            value = values[_RANGES]
            listed = self._old_list(unit, value) if unit.version < 5 else self._list(unit, value)
            for low, high, _ in listed:
                yield low, high
        elif _LOW in values and _HIGH in values:
            start, end = self._address(unit, values[_LOW]), values[_HIGH]
            is_address = end.form == _ADDRESS or end.form in _INDEXED_ADDRESSES
            yield start, self._address(unit, end) if is_address else start + end.number

    def _old_list(self, unit: _Unit, value: _Value, locations: bool = False) -> Iterator[tuple[int, int, bytes]]:
        """Yield first address, end and, for `locations`, the expression of each entry of a list before DWARF 5."""
        size = unit.address_size
        base, offset, most = unit.low, value.number, (1 << 8 * size) - 1
        if unit.skeleton and not locations:
            offset += unit.skeleton.bases.get(_OLD_RANGES_BASE, 0)
        reader = Reader(unit.load(f".debug_loc{unit.suffix}") if locations else self._load(".debug_ranges"), offset)
        while True:
            low, high = reader.number(size), reader.number(size)
            if low == most:
                base = high
            elif low == high == 0:
                return
            # In an object the addresses are relocated; its units have no base that these would be relative to.
            else:
                yield base + low, base + high, reader.block(reader.number(2)) if locations else b""

    def _list(self, unit: _Unit, value: _Value, locations: bool = False) -> Iterator[tuple[int, int, bytes]]:
        """Yield first address, end and, for `locations`, the expression of each entry of a list of DWARF 5."""
        data = unit.load(f".debug_{'loclists' if locations else 'rnglists'}{unit.suffix}")
        at = value.number
        if value.form in _INDEXED_LISTS:
            header = 12 if unit.offset_size == 4 else 20
            base = unit.bases.get(_LOCATIONS_BASE if locations else _LISTS_BASE, header)
            at = base + Reader(data, base + at * unit.offset_size).number(unit.offset_size)
        reader, size, base = Reader(data, at), unit.address_size, unit.low
        while True:
            kind = reader.number(1)
            if locations and kind == _VIEWS:
                reader.uleb(), reader.uleb()
                continue
            if locations and kind == _ANYWHERE:
                low, high = 0, 1 << 8 * size
            elif kind == 0:
                return
            elif kind == 1:
                base = self._indexed(unit, reader.uleb())
                continue
            elif kind == 2:
                low, high = self._indexed(unit, reader.uleb()), self._indexed(unit, reader.uleb())
            elif kind == 3:
                low = self._indexed(unit, reader.uleb())
                high = low + reader.uleb()
            elif kind == 4:
                low, high = base + reader.uleb(), base + reader.uleb()
            elif kind - locations == 5:
                base = reader.number(size)
                continue
            elif kind - locations == 6:
                low, high = reader.number(size), reader.number(size)
            elif kind - locations == 7:
                low = reader.number(size)
                high = low + reader.uleb()
            else:
                raise ValueError(f"a list's entry of kind {kind}")
            yield low, high, reader.block(reader.uleb()) if locations else b""


def _place(expression: bytes) -> VariablePlace | None:
    """Return the place that a location's expression describes, None for other places.

    DWARF 5, 2.5 and 2.6: DW_OP_reg0 to 31 are registers, DW_OP_breg0 to 31 addresses relative to one,
    DW_OP_stack_value makes a value of an address, and DW_OP_entry_value of a register the value that it had when the
    function was called.
    """
    first = expression[0] if expression else 0
    if 0x50 <= first < 0x70 and len(expression) == 1:
        return VariablePlace(first - 0x50)
    if 0x70 <= first < 0x90:
        displacement, end = signed_leb(expression, 1)
        if end == len(expression):
            return VariablePlace(first - 0x70, displacement)
        if expression[end:] == _AS_VALUE and not displacement:
            return VariablePlace(first - 0x70)
    if first in _ENTRY_VALUE and len(expression) == 4 and expression[1] == 1 and expression[3:] == _AS_VALUE:
        place = _place(expression[2:3])
        return VariablePlace(place.register, None, True) if place else None
    return None


# --- abbreviations ----------------------------------------------------------------------------------------------------


def _read_abbreviations(unit: _Unit, at: int) -> dict[int, _Abbreviation]:
    data = unit.load(f".debug_abbrev{unit.suffix}")
    abbreviations: dict[int, _Abbreviation] = {}
    has = frozenset((_LOW, _RANGES))
    while True:
        code, at = uleb(data, at)
        if code == 0:
            return abbreviations
        tag, at = uleb(data, at)
        inside = data[at]
        at += 1
        values: list[tuple[int, int, int, int]] = []
        steps: list[int] = []
        sibling = -1
        while True:
            attribute, at = uleb(data, at)
            form, at = uleb(data, at)
            constant = 0
            if form == _IMPLICIT:
                constant, at = signed_leb(data, at)
            if not attribute and not form:
                break
            if attribute == _SIBLING and form == 0x13 and all(step >= 0 for step in steps):
                sibling = sum(steps)
            attribute = _OLD.get(attribute, attribute)
            size = _size(unit, form)
            values.append((attribute if attribute in _READ else 0, form, constant, size))
            if size < 0:
                steps += _steps_of(form)
            elif steps and steps[-1] >= 0:
                steps[-1] += size
            else:
                steps.append(size)
        fixed = sum(steps) if all(step >= 0 for step in steps) else -1
        has_code = any(value[0] in has for value in values)
        abbreviations[code] = _Abbreviation(
            tag=tag,
            inside=bool(inside),
            values=tuple(values),
            size=fixed,
            steps=tuple(steps),
            has_code=has_code,
            sibling=sibling,
        )


def _size(unit: _Unit, form: int) -> int:
    """Return the size of a value of a form, -1 if it varies."""
    if form in _FIXED:
        return _FIXED[form]
    if form in _OFFSETS:
        return unit.offset_size
    if form == _ADDRESS:
        return unit.address_size
    if form == _SECTION_REFERENCE:
        return unit.address_size if unit.version == 2 else unit.offset_size
    return -1


def _steps_of(form: int) -> tuple[int, ...]:
    if form in _NUMBERS:
        return (_OVER_NUMBER,)
    if form == _STRING:
        return (_OVER_STRING,)
    if form in _BLOCKS:
        return (_OVER_BLOCK,)
    if form in _COUNTED:
        return (_OVER_BLOCK - _COUNTED[form],)
    raise ValueError(f"a value of form {form:#x}")


def _over(data: bytes, at: int, steps: Iterable[int]) -> int:
    """Return the offset after values."""
    for step in steps:
        if step >= 0:
            at += step
        elif step == _OVER_NUMBER:
            while data[at] > 127:
                at += 1
            at += 1
        elif step == _OVER_STRING:
            at = data.index(0, at) + 1
        elif step == _OVER_BLOCK:
            length, at = uleb(data, at)
            at += length
        else:
            size = _OVER_BLOCK - step
            at += size + int.from_bytes(data[at : at + size], "little")
    return at
