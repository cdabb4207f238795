"""A reader of line programs (DWARF 2 to 5, section 6.2), which tell the source line of an address."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate, pairwise

from incc.frontends.asm.parse import shown_path
from incc.frontends.kernel import LAST_LINE, SourceLocation
from incc.frontends.objects.bytes import Reader, signed_leb, uleb

Text = Callable[[int], str]
"""Returns a string by its offset in a section."""

_PATH, _DIRECTORY = 1, 2
_NUMBERS = {0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8}
"""The size of numbers by their form."""


class LineTable:
    """The table that a line program writes: files by their numbers, and the place of each address.

    Each sequence is its first address, its end, and the addresses and (file, line) of its rows, ascending.
    """

    def __init__(self, files: list[str], sequences: list[tuple[int, int, list[int], list[tuple[int, int]]]]) -> None:
        self.files = files
        sequences.sort(key=lambda sequence: sequence[0])
        self._starts = [start for start, _, _, _ in sequences]
        # The ends so far: sequences overlap, because those that a linker dropped begin at 0.
        self._reach = list(accumulate([end for _, end, _, _ in sequences], max))
        self._sequences = sequences
        self._places: dict[tuple[int, int], SourceLocation | None] = {}

    def file(self, number: int) -> str:
        """Return a file by its number, "" if there is no such file."""
        return self.files[number] if 0 <= number < len(self.files) else ""

    def location(self, address: int) -> SourceLocation | None:
        """Return the place of an address, None outside of the table and for code that belongs to no line."""
        n = bisect_right(self._starts, address) - 1
        while n >= 0 and address < self._reach[n]:
            _, end, addresses, rows = self._sequences[n]
            if address < end:
                return self._place(rows[bisect_right(addresses, address) - 1])
            n -= 1
        return None

    def _place(self, row: tuple[int, int]) -> SourceLocation | None:
        if row not in self._places:
            file = self.file(row[0])
            self._places[row] = SourceLocation(file, row[1]) if file and 0 < row[1] <= LAST_LINE else None
        return self._places[row]


def read_line_table(data: bytes, at: int, directory: str, line_string: Text, string: Text) -> LineTable:
    """Read the line table whose program begins at an offset of `.debug_line`.

    Args:
        data: the section `.debug_line`.
        at: the offset of the program.
        directory: the folder of the compilation.
        line_string: returns a string of `.debug_line_str`.
        string: returns a string of `.debug_str`.

    Raises one of `dwarf.FAULTS` if the section is damaged.
    """
    reader = Reader(data, at)
    end, offset_size = reader.unit_length()
    version = reader.number(2)
    if not 2 <= version <= 5:
        raise ValueError(f"a line program of version {version}")
    if version >= 5:
        reader.at += 2  # sizes of addresses and segments
    program = reader.number(offset_size)
    program += reader.at
    minimum = reader.number(1)
    if version >= 4:
        reader.at += 1  # operations in an instruction, for VLIW machines
    reader.at += 1  # the default of is_stmt
    line_base = reader.number(1)
    line_base -= (line_base & 128) << 1
    line_range, opcode_base = reader.number(1), reader.number(1)
    lengths = [0, *data[reader.at : reader.at + opcode_base - 1]]
    reader.at += opcode_base - 1
    if version >= 5:
        entries = []
        for _ in range(2):
            formats = [(reader.uleb(), reader.uleb()) for _ in range(reader.number(1))]
            count = reader.uleb()
            if count > len(data):
                raise ValueError("more files than bytes")
            entries.append([_entry(reader, formats, offset_size, line_string, string) for _ in range(count)])
        folders = [name for name, _ in entries[0]]
        own = folders[0] if folders else directory
        files = [shown_path([folders[n] if n < len(folders) else "", name], own) for name, n in entries[1]]
    else:
        folders = [""]
        while name := reader.string():
            folders.append(name)
        files = [""]
        while name := reader.string():
            number = reader.uleb()
            reader.uleb()
            reader.uleb()
            files.append(shown_path([folders[number] if number < len(folders) else "", name], ""))
    return LineTable(files, _run(data, program, min(end, len(data)), minimum, line_base, line_range, lengths))


def _entry(
    reader: Reader, formats: list[tuple[int, int]], offset_size: int, line_string: Text, string: Text
) -> tuple[str, int]:
    """Read a file or folder: return its name, and the number of its folder."""
    name, folder = "", 0
    for content, form in formats:
        value: int | str = 0
        if form == 0x08:
            value = reader.string()
        elif form in (0x1F, 0x0E):
            value = (line_string if form == 0x1F else string)(reader.number(offset_size))
        elif form == 0x0F:
            value = reader.uleb()
        elif form in _NUMBERS:
            value = reader.number(_NUMBERS[form])
        elif form == 0x1E:
            reader.at += 16
        elif form == 0x09:
            reader.at += reader.uleb()
        else:
            raise ValueError(f"a file's name of form {form:#x}")
        if content == _PATH:
            name = str(value)
        elif content == _DIRECTORY:
            folder = int(value)
    return name, folder


def _run(
    data: bytes, at: int, end: int, minimum: int, line_base: int, line_range: int, lengths: list[int]
) -> list[tuple[int, int, list[int], list[tuple[int, int]]]]:
    """Run a line program and return the sequences that it writes (see `LineTable`)."""
    opcode_base = len(lengths)
    steps = [divmod(opcode - opcode_base, line_range) for opcode in range(256)]
    addresses_of = [step * minimum for step, _ in steps]
    lines_of = [line_base + rest for _, rest in steps]
    constant = addresses_of[255]
    sequences: list[tuple[int, int, list[int], list[tuple[int, int]]]] = []
    address, file, line = 0, 1, 1
    addresses: list[int] = []
    rows: list[tuple[int, int]] = []
    while at < end:
        opcode = data[at]
        at += 1
        if opcode >= opcode_base:
            address += addresses_of[opcode]
            line += lines_of[opcode]
            addresses.append(address)
            rows.append((file, line))
        elif opcode == 1:
            addresses.append(address)
            rows.append((file, line))
        elif opcode == 2:
            step, at = uleb(data, at)
            address += step * minimum
        elif opcode == 3:
            step, at = signed_leb(data, at)
            line += step
        elif opcode == 4:
            file, at = uleb(data, at)
        elif opcode == 8:
            address += constant
        elif opcode == 9:
            address += int.from_bytes(data[at : at + 2], "little")
            at += 2
        elif opcode == 0:
            length, at = uleb(data, at)
            extended = data[at]
            if extended == 1:  # the end of a sequence
                if rows and address > addresses[0]:
                    if any(a > b for a, b in pairwise(addresses)):
                        order = sorted(range(len(rows)), key=addresses.__getitem__)
                        addresses, rows = [addresses[n] for n in order], [rows[n] for n in order]
                    sequences.append((addresses[0], address, addresses, rows))
                address, file, line = 0, 1, 1
                addresses, rows = [], []
            elif extended == 2:
                address = int.from_bytes(data[at + 1 : at + length], "little")
            at += length
        else:  # columns, blocks and unknown operations have this count of numbers
            for _ in range(lengths[opcode]):
                _, at = uleb(data, at)
    return sequences
