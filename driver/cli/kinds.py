"""Options of commands: their records, and how their values are read.

An entry is the source of the parsing of an option, of its help, manual page and completion. `options.py` has the table
of `incc` and `incc-mca`; the modules of other commands have theirs, with the entries of `shared.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from incc.driver import UsageError

if TYPE_CHECKING:
    from incc.core.whatif import CoreChange
    from incc.frontends.asm.call_path import WantedTrips
    from incc.frontends.objects.spans import Addresses
    from incc.report.source.places import NamedKernels, NamedLine
    from incc.report.where import Condition

MCA, WRAPPER = "incc-mca", "incc"
BOTH = (MCA, WRAPPER)

PREFIXES = {MCA: "-", WRAPPER: "--analyze-"}
"""The prefix of option names on a command's line. incc-mca also accepts a second dash."""


PICTURES = (".svg", ".html")
"""The endings of files with pictures."""

FILES = ("file", "picture")
"""The kinds of options that name files to write."""


class Option(msgspec.Struct, frozen=True):
    """An option or operand of a command."""

    syntax: str
    """The name as in the help, and its value: "--where CONDITION". Names of `incc` and `incc-mca` are those after the
    command's prefix. Square brackets enclose an optional part, an ellipsis follows a repeatable one."""
    kind: str
    """One of KINDS: how its value is parsed."""
    help: str = ""
    """The help text; empty if the next option's text covers both."""
    default: Any = ""
    sets: str = ""
    """The part and field of `Settings` that it sets, directly or (READERS) together with other options."""
    view: str = ""
    """The view of the text that it shows."""
    commands: tuple[str, ...] = BOTH
    aliases: tuple[str, ...] = ()
    wrapper_help: str = ""
    """The help text of `incc` where it differs."""
    into: str = ""
    """The name of the value among a command's parsed options, if it is not that of the option."""
    variable: str = ""
    """The environment variable that sets the option of `incc`, too."""
    required: bool = False
    excludes: str = ""
    """A name that options share which exclude each other."""
    stands_for: str = ""
    """The value that a flag gives to the option that it abbreviates (`into`)."""

    @property
    def name(self) -> str:
        """The name, with its dashes if it has no prefix."""
        return self.syntax.replace("[", "=").replace(" ", "=").partition("=")[0]

    @property
    def destination(self) -> str:
        """The name of the value among a command's parsed options."""
        return self.into or self.name.lstrip("-").replace("-", "_")

    @property
    def value(self) -> str:
        """The text that follows the name in the help; for choices and modes also the valid values."""
        return self.syntax[len(self.name) :]

    def spelled(self, command: str) -> str:
        """Return the name as written on a command line."""
        if command == MCA:
            return f"-{self.name.lstrip('-')}"
        return self.name if self.name.startswith("-") else PREFIXES[command] + self.name

    def choices(self) -> list[str]:
        """Return the valid values of a choice or mode."""
        return self.value.strip("[= ]").split("|")

    @property
    def needs_value(self) -> bool:
        return self.kind not in (*NO_VALUE, "changes", "attached")


# --- values ----------------------------------------------------------------------------------------------------------


MOST = 10**12
"""The largest number of iterations or cycles that an option accepts; the core counts in 64 bits."""

_DIGITS = 20
"""Most digits of a number; Python raises an error beyond 4300."""


def _number(option: str, value: str) -> int:
    if value.isdecimal() and len(value) <= _DIGITS and 0 < int(value) <= MOST:
        return int(value)
    if value.isdecimal() and value.strip("0"):
        raise UsageError(f"{option} is at most {MOST}")
    raise UsageError(f"{option} needs a number above 0, not {value!r}")


def integer(text: str) -> int | None:
    """Return an unsigned number in LLVM's notation, where 0x, 0b, 0o or 0 chooses the base; None for other text."""
    base, digits = 10, text
    lower = text[:2].lower()
    if lower in ("0x", "0b", "0o"):
        base, digits = {"0x": 16, "0b": 2, "0o": 8}[lower], text[2:]
    elif text[:1] == "0" and len(text) > 1 and text[1].isdigit():
        base, digits = 8, text[1:]
    if not digits or not digits.isascii() or not digits.isalnum() or len(digits) > 64:
        return None
    try:
        return int(digits, base)
    except ValueError:
        return None


def _uint(option: str, value: str) -> int:
    """Parse a number like LLVM: 0x10, 0b1, 010 for 8."""
    if value.isascii() and value.isdecimal() and len(value) > _DIGITS:
        raise UsageError(f"{option} is at most {MOST}")
    number = integer(value)
    if number is None:
        raise UsageError(f"{option} needs a number, not {value!r}")
    if number > MOST:
        raise UsageError(f"{option} is at most {MOST}")
    return number


def _int(option: str, value: str) -> int:
    number = _uint(option, value.removeprefix("-"))
    return -number if value.startswith("-") else number


def _count(option: str, value: str) -> int:
    if value.isdecimal() and len(value) <= _DIGITS and int(value) <= MOST:
        return int(value)
    if value.isdecimal():
        raise UsageError(f"{option} is at most {MOST}")
    raise UsageError(f"{option} needs a number, not {value!r}")


def _alignment(option: str, value: str) -> int:
    """Parse an offset within 64 bytes; "all" is -2, as in `KernelSettings`."""
    if value == "all":
        return -2
    if not (value.isdecimal() and len(value) <= _DIGITS and int(value) < 64):
        raise UsageError(f"{option} is a number below 64, or all, not {value!r}")
    return int(value)


def _float(text: str) -> float:
    """Parse a number; -1 if the text is none."""
    try:
        return float(text)
    except ValueError:
        return -1.0


def _probability(option: str, text: str) -> float:
    value = _float(text)
    if not 0 <= value <= 1:
        raise UsageError(f"{option} is a number from 0 to 1, not {text!r}")
    return value


def _clock(option: str, text: str) -> float:
    value = _float(text)
    if not 0.001 <= value <= 1000:
        raise UsageError(f"{option} is a clock in GHz, such as 3.5, not {text!r}")
    return value


def _place(option: str, value: str) -> NamedLine:
    from incc.report.source.places import parse

    try:
        return parse(value)
    except ValueError as error:
        raise UsageError(f"{option} {error}") from error


def _choice(option: str, value: str) -> NamedKernels:
    from incc.report.source.places import choice

    try:
        return choice(value)
    except ValueError as error:
        raise UsageError(f"{option} {error}") from error


def _change(option: str, value: str) -> CoreChange:
    from incc.core.changes import parse

    try:
        return parse(value)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _addresses(option: str, value: str) -> Addresses:
    from incc.driver.addresses import addresses

    return addresses(option, value)


def _lines(option: str, text: str) -> tuple[tuple[int, int], ...]:
    """Parse lines as OSACA's --lines does: numbers and spans `8-18` or `20:24`, with commas between them."""
    spans = []
    for part in text.split(","):
        first, dash, last = part.replace(":", "-").partition("-")
        try:
            span = _number(option, first.strip()), _number(option, (last if dash else first).strip())
        except UsageError:
            span = 1, 0
        if span[0] > span[1]:
            raise UsageError(f"{option} takes lines such as 3-12 or 3-8,12, not {text!r}")
        spans.append(span)
    return tuple(spans)


def condition(option: str, text: str, **names: Any) -> Condition:
    """Parse a condition (docs/filters.md); `names` are arguments of `report.where.parse`. Raises UsageError."""
    from incc.report.where import parse

    try:
        parsed = parse(text, **names)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None
    if parsed.needs_baseline and not names.get("pairs"):
        raise UsageError(f"{option}: {text!r} needs a baseline to compare with; use incc-diff")
    return parsed


def _of_row(option: str, text: str) -> Condition:
    from incc.history.export import ROW_NAMES

    return condition(option, text, names=ROW_NAMES)


def _trips(option: str, text: str) -> WantedTrips:
    from incc.frontends.asm.call_path import parse_trips

    try:
        return parse_trips(text)
    except ValueError as error:
        raise UsageError(f"{option} {error}") from error


def _text(option: str, value: str) -> str:
    return value


def _output(option: str, value: str) -> str | None:
    return value if value != "-" else None


def _picture(option: str, value: str) -> str:
    if value.endswith(PICTURES) or value == "-" or value.startswith("/dev/") or os.path.isdir(value):
        return value
    raise UsageError(f"{option} needs a file name that ends in {' or '.join(PICTURES)}, not {value!r}")


def _thousand(option: str, value: str) -> int:
    if value.isdecimal() and int(value[:_DIGITS]) > 1000:
        raise UsageError(f"{option} is at most 1000")
    return _number(option, value)


def _bytes(option: str, text: str) -> int:
    from incc.report.folder.cache import bytes_of

    value = bytes_of(text)
    if value is None:
        raise UsageError(f"{option} is a number of bytes, such as 400M or 2G, not {text!r}")
    return value


def _data(option: str, text: str) -> tuple[str | int, ...]:
    """Parse levels of the memory hierarchy, "all" for each, and sizes such as 4M, with commas between them."""
    from incc.models.memory import ALL, NAMES
    from incc.report.folder.cache import bytes_of

    chosen: list[str | int] = []
    for word in text.split(","):
        name = next((name for name in (*NAMES, ALL) if name.lower() == word.strip().lower()), None)
        level = name or bytes_of(word)
        if not level:
            names = ", ".join((*NAMES, ALL))
            raise UsageError(f"{option} takes {names} or sizes such as 4M, not {text!r}")
        chosen.append(level)
    return tuple(dict.fromkeys(chosen))


def _let(option: str, text: str) -> tuple[str, int]:
    from incc.frontends.marks import parse_value

    try:
        return parse_value(text)
    except ValueError as error:
        raise UsageError(f"{option} {error}") from error


def _minutes(option: str, text: str) -> float:
    value = _float(text)
    if not 0 <= value < 1e6:
        raise UsageError(f"{option} is a number of minutes, not {text!r}")
    return value


ONE: dict[str, Callable[[str, str], Any]] = {
    "text": _text,
    "file": _text,
    "attached": _text,
    "output": _output,
    "picture": _picture,
    "number": _number,
    "uint": _uint,
    "int": _int,
    "count": _count,
    "thousand": _thousand,
    "alignment": _alignment,
    "probability": _probability,
    "trips": _trips,
    "lines": _lines,
    "clock": _clock,
    "data": _data,
    "minutes": _minutes,
    "bytes": _bytes,
    "condition": condition,
    "condition of pairs": partial(condition, pairs=True),
    "condition of rows": _of_row,
    "ranked condition": partial(condition, ranked=True),
}
"""The readers of values by kind. They take the option's name for messages, and raise UsageError."""
MANY: dict[str, Callable[[str, str], Any]] = {
    "list": _text,
    "texts": _text,
    "commas": _text,
    "places": _place,
    "addresses": _addresses,
    "changes": _change,
    "kernels": _choice,
    "let": _let,
    "ranked conditions": partial(condition, ranked=True),
}

YES, NO = ("true", "1", "TRUE", "True"), ("false", "0", "FALSE", "False")
"""The values of a switch that LLVM accepts."""

NO_VALUE = ("switch", "flag", "mode")
"""The kinds that may be without a value."""

KINDS = frozenset((*NO_VALUE, "choice", "views", "operand", "rest", *ONE, *MANY))
"""The kinds of options, by their values.

A switch is true or false, true without a value. A flag has no value. A mode has one of several values or none, which
is "all"; a choice must have one of several. Kinds in `MANY` are repeatable, and texts may be empty. A uint is a number
in LLVM's notation, an int may be negative. A file is a file to write, a picture one with an ending in `PICTURES`, an
output the file of the result, None for - (standard output). An attached value is never the next word, an operand has no
dashes, and the rest is all arguments from the first operand on.
"""


def read_value(option: Option, spelled: str, value: str | None) -> Any:
    """Parse the value of an option, or one of the values of a repeatable option. Raises UsageError.

    Args:
        option: The option.
        spelled: Its name as written.
        value: The text of the value; None without one.
    """
    if not value and option.kind not in (*NO_VALUE, "texts"):
        raise UsageError(f"{spelled} needs a {'file name' if option.kind in (*FILES, 'output') else 'value'}")
    if option.kind == "switch":
        if value not in (None, *YES, *NO):
            raise UsageError(f"{spelled} is true or false, not {value!r}")
        return value in (None, *YES)
    if option.kind == "flag":
        if value is not None:
            raise UsageError(f"{spelled} takes no value")
        return True
    if option.kind == "mode":
        if value not in (None, "all", *option.choices()):
            raise UsageError(f"{spelled} takes {' or '.join(option.choices())}, not {value!r}")
        return value or "all"
    if option.kind == "choice":
        if value not in option.choices():
            raise UsageError(f"{spelled} is one of {', '.join(option.choices())}, not {value!r}")
        return value
    return (ONE.get(option.kind) or MANY[option.kind])(spelled, value or "")


def check_targets(targets: Iterable[tuple[str, str]], inputs: Iterable[str] = ()) -> None:
    """Raise UsageError if two options name the same file, or one would overwrite another file of the command.

    Args:
        targets: Pairs of an option and the file that it writes.
        inputs: Other files of the command.
    """
    taken: dict[str, str] = {}
    try:
        for option, file in targets:
            if "\0" in file:
                raise UsageError(f"{option}={file}: the name contains a NUL".replace("\0", "\\0"))
            if file == "-" or os.path.isdir(file) or file.startswith("/dev/"):
                continue
            path = os.path.realpath(file)
            if path in taken:
                raise UsageError(f"{taken[path]} and {option} name the same file, {file}")
            taken[path] = option
        for file in inputs:
            option_of = taken.get(os.path.realpath(file)) if "\0" not in file else None
            if option_of:
                raise UsageError(f"{option_of} would overwrite {file}")
    except FileNotFoundError:
        raise UsageError("the working directory no longer exists; use absolute paths") from None
