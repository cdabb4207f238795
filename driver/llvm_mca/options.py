"""llvm-mca's command line, read as LLVM 19 reads it: the names of its options, how their values are written, what is
said of mistakes.

What an option means to the analysis is said by the table of all options (`options.py`), which has the same names; here
is what LLVM's `cl::opt` makes of the words on a command line.
"""

from __future__ import annotations

from incc.driver.options import integer
from incc.frontends.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


class LlvmOption(NamedTuple):
    """An option as LLVM declares it.

    `kind`: bool, uint, int, string, list, enum, or flag, which takes no value. `value`: what the help writes for it.
    `group`: Generic, Tool or View; "" for those of LLVM's libraries, which no help lists. `hidden`: only in
    --help-hidden. `help`: its line there. `choices`: the names of an enum, with their lines.
    """

    name: str
    kind: str
    group: str
    help: str = ""
    value: str = ""
    hidden: bool = False
    choices: tuple[tuple[str, str], ...] = ()

    @property
    def needs_value(self) -> bool:
        return self.kind not in ("bool", "flag")


_SKIPPED = (
    ("none", "Exit with an error when an instruction is unsupported for any reason (default)"),
    ("lack-sched", "Skip instructions on input which lack scheduling information"),
    ("parse-failure", "Skip lines on the input which fail to parse for any reason"),
    ("any", "Skip instructions or lines on input which are unsupported for any reason"),
)

# fmt: off
TABLE: tuple[LlvmOption, ...] = (
    LlvmOption("h", "flag", "Generic", "Alias for --help", hidden=True),
    LlvmOption("help", "flag", "Generic", "Display available options (--help-hidden for more)"),
    LlvmOption("help-hidden", "flag", "Generic", "Display all available options", hidden=True),
    LlvmOption("help-list", "flag", "Generic", "Display list of available options (--help-list-hidden for more)"),
    LlvmOption("help-list-hidden", "flag", "Generic", "Display list of all available options", hidden=True),
    LlvmOption("print-all-options", "bool", "Generic", "Print all option values after command line parsing",
               hidden=True),
    LlvmOption("print-options", "bool", "Generic", "Print non-default options after command line parsing",
               hidden=True),
    LlvmOption("version", "flag", "Generic", "Display the version of this program"),

    LlvmOption("call-latency", "uint", "Tool", "Number of cycles to assume for a call instruction", hidden=True),
    LlvmOption("decoder-throughput", "uint", "Tool",
               "Maximum throughput from the decoders (instructions per cycle)", hidden=True),
    LlvmOption("dispatch", "uint", "Tool", "Override the processor dispatch width"),
    LlvmOption("instruction-tables", "bool", "Tool", "Print instruction tables"),
    LlvmOption("iterations", "uint", "Tool", "Number of iterations to run"),
    LlvmOption("json", "bool", "Tool", "Print the output in json format"),
    LlvmOption("lqueue", "uint", "Tool", "Size of the load queue"),
    LlvmOption("march", "string", "Tool", "Target architecture. See -version for available targets"),
    LlvmOption("mattr", "list", "Tool", "Target specific attributes (-mattr=help for details)", "<a1,+a2,-a3,...>"),
    LlvmOption("mcpu", "string", "Tool", "Target a specific cpu type (-mcpu=help for details)", "<cpu-name>"),
    LlvmOption("micro-op-queue-size", "uint", "Tool", "Number of entries in the micro-op queue", hidden=True),
    LlvmOption("mtriple", "string", "Tool", "Target triple. See -version for available targets"),
    LlvmOption("noalias", "bool", "Tool", "If set, assume that loads and stores do not alias"),
    LlvmOption("o", "string", "Tool", "Output filename", "<filename>"),
    LlvmOption("output-asm-variant", "int", "Tool", "Syntax variant to use for output printing"),
    LlvmOption("print-imm-hex", "bool", "Tool", "Prefer hex format when printing immediate values"),
    LlvmOption("register-file-size", "uint", "Tool",
               "Maximum number of physical registers which can be used for register mappings"),
    LlvmOption("squeue", "uint", "Tool", "Size of the store queue"),

    LlvmOption("all-stats", "bool", "View", "Print all hardware statistics"),
    LlvmOption("all-views", "bool", "View", "Print all views including hardware statistics"),
    LlvmOption("bottleneck-analysis", "bool", "View", "Enable bottleneck analysis (disabled by default)"),
    LlvmOption("disable-cb", "bool", "View",
               "Disable custom behaviour (use the default class which does nothing)."),
    LlvmOption("disable-im", "bool", "View",
               "Disable instrumentation manager (use the default class which ignores instruments.)."),
    LlvmOption("dispatch-stats", "bool", "View", "Print dispatch statistics"),
    LlvmOption("instruction-info", "bool", "View", "Print the instruction info view (enabled by default)"),
    LlvmOption("register-file-stats", "bool", "View", "Print register file statistics"),
    LlvmOption("resource-pressure", "bool", "View", "Print the resource pressure view (enabled by default)"),
    LlvmOption("retire-stats", "bool", "View", "Print retire control unit statistics"),
    LlvmOption("scheduler-stats", "bool", "View", "Print scheduler statistics"),
    LlvmOption("show-barriers", "bool", "View",
               "Print memory barrier information in the instruction info view"),
    LlvmOption("show-encoding", "bool", "View", "Print encoding information in the instruction info view"),
    LlvmOption("skip-unsupported-instructions", "enum", "View",
               "Force analysis to continue in the presence of unsupported instructions", "<value>", choices=_SKIPPED),
    LlvmOption("summary-view", "bool", "View", "Print summary view (enabled by default)", hidden=True),
    LlvmOption("timeline", "bool", "View", "Print the timeline view"),
    LlvmOption("timeline-max-cycles", "uint", "View",
               "Maximum number of cycles in the timeline view, or 0 for unlimited. Defaults to 80 cycles"),
    LlvmOption("timeline-max-iterations", "uint", "View",
               "Maximum number of iterations to print in timeline view"),

    # Of LLVM's libraries: what assembles, and what looks at a run of the tool itself.
    *(LlvmOption(name, "bool", "") for name in (
        "no-warn", "no-deprecated-warn", "fatal-warnings", "no-type-check", "mc-relax-all",
        "incremental-linker-compatible", "fdpic", "crel", "dwarf64", "emit-compact-unwind-non-canonical",
        "asm-show-inst", "save-temp-labels", "mark-data-regions", "x86-branches-within-32B-boundaries",
        "x86-pad-for-align", "x86-pad-for-branch-align", "color", "stats", "stats-json", "time-passes",
        "track-memory", "sort-timers", "print-debug-counter", "disable-symbolication",
    )),
    *(LlvmOption(name, "uint", "") for name in (
        "dwarf-version", "x86-align-branch-boundary", "x86-pad-max-prefix-size", "rng-seed",
    )),
    *(LlvmOption(name, "string", "") for name in (
        "target-abi", "as-secure-log-file", "x86-align-branch", "info-output-file", "crash-diagnostics-dir",
    )),
    LlvmOption("debug-counter", "list", ""),
    LlvmOption("x86-asm-syntax", "enum", "", choices=(("att", ""), ("intel", ""))),
    LlvmOption("aarch64-neon-syntax", "enum", "", choices=(("generic", ""), ("apple", ""))),
    LlvmOption("emit-dwarf-unwind", "enum", "", choices=(("always", ""), ("no-compact-unwind", ""), ("default", ""))),
)
# fmt: on

BY_NAME = {option.name: option for option in TABLE}
BY_NAME["W"] = BY_NAME["no-warn"]


class Words(NamedTuple):
    """A command line as it was read: the value of each option that was given, the last one of several, and the place of
    that one among the words; the positional arguments; the option that ends all else (help, version), "" for none; what
    is wrong, as messages that are to be printed as they are."""

    values: dict[str, Any]
    places: dict[str, int]
    files: list[str]
    wanted: str
    errors: list[str]


def read(
    arguments: Sequence[str], program: str, extra: Callable[[str, str | None, Sequence[str]], int] | None = None
) -> Words:
    """Read a command line without the program's name, `program`, which messages are to have as it was called.

    `extra` takes options that LLVM does not know: a name without dashes, what stands behind its =, None without, and
    the next word if there is one; it says how many words it has taken, 0 if it knows no such option.
    """
    short = program.rpartition("/")[2]
    values: dict[str, Any] = {}
    places: dict[str, int] = {}
    files: list[str] = []
    errors: list[str] = []
    only_files = False
    place = 0

    def wrong(option: str, message: str) -> None:
        errors.append(f"{short}: for the {spelled(option)} option: {message}\n")

    while place < len(arguments):
        word = arguments[place]
        place += 1
        if only_files or word in ("", "-") or word[0] != "-":
            files.append(word)
            continue
        if word == "--":
            only_files = True
            continue
        body = word[2:] if word.startswith("--") else word[1:]
        name, equals, text = body.partition("=")
        option = BY_NAME.get(name)
        name = option.name if option else name
        value = text if equals else None
        if option is None:
            if extra is not None and (taken := extra(name, value, arguments[place : place + 1])):
                place += taken - 1
                continue
            # A letter that is an option may begin a group of such.
            while body and (letter := BY_NAME.get(body[0])):
                if letter.needs_value:
                    wrong(letter.name, "may not occur within a group!")
                    break
                if letter.kind == "flag":
                    return Words(values, places, files, letter.name, errors)
                body = body[1:]
            errors.append(f"{short}: Unknown command line argument '{word}'.  Try: '{program} --help'\n")
            errors.append(f"{short}: Did you mean '{_nearest(word)}'?\n")
            continue
        if option.kind == "flag":
            if value is None:
                return Words(values, places, files, option.name, errors)
            wrong(name, f"does not allow a value! '{value}' specified.")
            continue
        if value is None and option.needs_value:
            if place == len(arguments):
                wrong(name, "requires a value!")
                continue
            value = arguments[place]
            place += 1
        found = _VALUES[option.kind](option, value or "")
        if isinstance(found, _Mistake):
            wrong(name, found.message)
            continue
        values[name] = (*values.get(name, ()), *found) if option.kind == "list" else found
        places[name] = place
    if len(files) > 1:
        errors.append(
            f"{short}: Too many positional arguments specified!\n"
            f"Can specify at most 1 positional arguments: See: {program} --help\n"
        )
    return Words(values, places, files, "", errors)


def spelled(name: str) -> str:
    """An option as LLVM writes it: two dashes, or one before a letter."""
    return f"-{name}" if len(name) == 1 else f"--{name}"


class _Mistake(NamedTuple):
    message: str


def _bool(option: LlvmOption, text: str) -> bool | _Mistake:
    if text in ("", "true", "TRUE", "True", "1"):
        return True
    if text in ("false", "FALSE", "False", "0"):
        return False
    return _Mistake(f"'{text}' is invalid value for boolean argument! Try 0 or 1")


def _uint(option: LlvmOption, text: str) -> int | _Mistake:
    value = integer(text)
    return value if value is not None and value < 2**32 else _Mistake(f"'{text}' value invalid for uint argument!")


def _int(option: LlvmOption, text: str) -> int | _Mistake:
    value = integer(text.removeprefix("-"))
    if value is None or value >= 2**31 + text.startswith("-"):
        return _Mistake(f"'{text}' value invalid for integer argument!")
    return -value if text.startswith("-") else value


def _enum(option: LlvmOption, text: str) -> str | _Mistake:
    known = any(text == name for name, _ in option.choices)
    return text if known else _Mistake(f"Cannot find option named '{text}'!")


_VALUES: dict[str, Callable[[LlvmOption, str], Any]] = {
    "bool": _bool,
    "uint": _uint,
    "int": _int,
    "enum": _enum,
    "string": lambda option, text: text,
    "list": lambda option, text: tuple(text.split(",")),
}


_FIRST = ("o", "squeue", "noalias", "summary-view")
"""Which of several names as near is the one, where it is not that in front in the table: LLVM takes the first one of a
hash table."""


def _nearest(word: str) -> str:
    """The option that was probably meant, as LLVM finds and writes it: by edit distance, with what follows the =."""
    body = word[2:] if word.startswith("--") else word[1:]
    name, _, text = body.partition("=")
    best, found = -1, ""
    for option in (*(BY_NAME[first] for first in _FIRST), *TABLE):
        if not option.group:
            continue
        # An option without value is compared with all that was written.
        distance = _distance(option.name, body if option.kind == "flag" else name)
        if best < 0 or distance < best:
            best = distance
            found = spelled(option.name) + (f"={text}" if text and option.kind != "flag" else "")
            if text and option.kind != "flag" and len(option.name) == 1:
                found = f"-{found}"  # with its value it is longer than a letter
    return found


def _distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]
