"""The debug information (DWARF) in assembly text, assembled into the sections that `dwarf` reads.

Compilers write debug information as data whose addresses are labels of the code. Here the address of a statement is a
number made of its index and its section, so that no code has to be assembled or relocated. Nothing is read before it is
needed. Data in a form that compilers do not write counts as damage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from incc.frontends.asm.parse import Assembly, unescape
from incc.frontends.asm.places import Places
from incc.frontends.isa import word_set
from incc.frontends.kernel import Inlined, Variable, line_number
from incc.frontends.objects.dwarf import Dwarf
from incc.frontends.objects.line_program import LineTable

Token = tuple[str, str, str]
"""A label, or a directive and its operand."""

_WIDTHS = {
    "byte": 1, "value": 2, "short": 2, "hword": 2, "2byte": 2, "long": 4, "int": 4, "4byte": 4, "quad": 8, "8byte": 8,
    "xword": 8, "word": 4,  # as on AArch64; x86 compilers do not use .word here
}  # fmt: skip
# `.file` may be anywhere, and `.ident` follows gcc's text in whatever section it ends.
_TOKENS = r'^(?:([^\s:#"]+):|[ \t]+\.(?!file|ident)(\w+)[ \t]+("(?:[^"\\]|\\.)*"|[^\s#"]+))'
_TERMS = r"([-+]?)([^-+]+)"
_LONGEST = 128
"""Bits of a number of variable length."""
_MOST_ZEROS = 1 << 16

# The sections to which others refer by labels.
_NAMED = word_set(
    ".debug_abbrev .debug_addr .debug_info .debug_line_str .debug_loc .debug_loclists .debug_ranges .debug_rnglists"
    " .debug_str .debug_str_offsets .debug_abbrev.dwo .debug_info.dwo .debug_loc.dwo .debug_loclists.dwo"
    " .debug_rnglists.dwo .debug_str.dwo .debug_str_offsets.dwo"
)


class TextDebug:
    """The debug information of a parsed text."""

    def __init__(self, assembly: Assembly, text: str) -> None:
        self._assembly = assembly
        self._text = text
        self._lines: list[str] = []
        sections = dict.fromkeys([statement.section for statement in assembly.statements])
        self._number_of = {section: number for number, section in enumerate(sections, 1)}
        self._loaded: dict[str, bytes] = {}
        self._assembled: dict[str, tuple[bytearray, list[tuple[int, int, str]]]] = {}
        """Sections before labels are filled in, and the offset, width and operand of each field with labels."""
        self._labels: dict[str, int] = {}
        """The offsets of labels in the sections of debug information."""
        self._numbers: dict[Token, bytes] = {}
        files = {line_number(number): name for number, name in assembly.files.items()}
        names = [files.get(number, "") for number in range(min(max(files, default=-1) + 1, len(text)))]
        self._dwarf = Dwarf(self._load, lambda name, folder: self._load, LineTable(names, []))

    def inlined(self, statements: Iterable[int]) -> dict[int, tuple[Inlined, ...]] | None:
        """Return the functions inlined at each of these statements, outermost first, empty if there are none.

        The result is None if there is no debug information of functions that can be read.
        """
        address_of = {i: self.address(i) for i in statements}
        calls = self._dwarf.inlined(address_of.values())
        return None if calls is None else {i: calls.get(address, ()) for i, address in address_of.items()}

    def variables(self, addresses: Iterable[int]) -> dict[int, tuple[Variable, ...]]:
        """Return the variables at each of these addresses (`address`), as `DebugInformation.variables` does."""
        return self._dwarf.variables(addresses)

    def everything_inlined(self) -> list[tuple[str, str]]:
        """Return the name of each inlined function and of the function around it, each pair once."""
        return list(dict.fromkeys(self._dwarf.every_inlined()))

    def address(self, statement: int) -> int:
        """Return the address of a statement; that after it is one more."""
        number = self._number_of[self._assembly.statements[statement].section]
        return number * (len(self._assembly.statements) + 1) + statement

    # --- sections ---

    def _load(self, name: str) -> bytes:
        """Return a section. Raises ValueError and KeyError for data that compilers do not write."""
        if name not in self._loaded:
            data, fields = self._assemble(name)
            for at, width, operand in fields:
                value = self._labels.get(operand)
                if value is None:
                    value = self._value(operand) & ((1 << 8 * width) - 1)
                data[at : at + width] = value.to_bytes(width, "little")
            self._loaded[name] = bytes(data)
        return self._loaded[name]

    def _assemble(self, name: str) -> tuple[bytearray, list[tuple[int, int, str]]]:
        """Return a section before labels are filled in, see `_assembled`."""
        if name in self._assembled:
            return self._assembled[name]
        data, fields = self._assembled[name] = bytearray(), []
        if not self._lines:
            self._lines = self._text.split("\n")
        for section, first, end in self._assembly.debug:
            if section == name:
                for token in re.findall(_TOKENS, "\n".join(self._lines[first - 1 : end - 1]), re.MULTILINE):
                    data += self._numbers.get(token) or self._encoded(token, len(data), fields)
        return data, fields

    def _encoded(self, token: Token, at: int, fields: list[tuple[int, int, str]]) -> bytes:
        """Return the bytes of a directive, none for a label. Adds the field of a directive with labels."""
        label, directive, operand = token
        if label:
            self._labels[label] = at
            return b""
        if operand[0] == '"':
            return unescape(operand[1:-1]).encode("utf-8", "surrogateescape") + b"\0" * (directive != "ascii")
        if directive in ("uleb128", "sleb128"):
            return _leb(self._value(operand), directive == "sleb128")
        if directive in ("zero", "skip", "space"):
            return bytes(min(int(operand, 0), _MOST_ZEROS))
        width = _WIDTHS.get(directive, 0)  # of `.hidden` and its like, which follow compilers' text, 0
        if operand[0].isdigit() or operand[0] == "-":
            data = self._numbers[token] = (int(operand, 0) & ((1 << 8 * width) - 1)).to_bytes(width, "little")
            return data
        if width:
            fields.append((at, width, operand))
        return bytes(width)

    def _value(self, operand: str) -> int:
        """Return the value of a sum of numbers and labels."""
        value = 0
        for sign, term in re.findall(_TERMS, operand):
            number = int(term, 0) if term[0].isdigit() else self._symbol(term)
            value += -number if sign == "-" else number
        return value

    def _symbol(self, name: str) -> int:
        """Return the address of a label of the code, or the offset of another in its section, 0 if it is unknown."""
        if name in self._assembly.labels:
            return self.address(self._assembly.labels[name])
        if name not in self._labels:
            for section in sorted(_NAMED - self._assembled.keys()):
                self._assemble(section)
        return self._labels.get(name, 0)


def _leb(value: int, signed: bool) -> bytes:
    """Return a number of variable length (LEB128). Raises ValueError for one that is too long or has a sign."""
    if value.bit_length() > _LONGEST or (value < 0 and not signed):
        raise ValueError("a number that is too long")
    data = bytearray()
    while True:
        data.append(value & 127)
        value >>= 7
        if value in (0, -1) and (not signed or (data[-1] >> 6) == -value):
            return bytes([byte | 128 for byte in data[:-1]]) + data[-1:]


def places_of_text(
    assembly: Assembly, text: str, statements: Iterable[int], is_system: Callable[[str], bool]
) -> Places | None:
    """Return the places of these statements of a text, None without debug information that can be read."""
    inlined = TextDebug(assembly, text).inlined(statements) if assembly.debug else None
    if inlined is None:
        return None
    return Places(lambda i: assembly.statements[i].location, inlined, is_system)
