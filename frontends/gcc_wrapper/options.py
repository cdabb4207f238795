"""incc's own options: taken out of the compiler's arguments, or read from the environment.

Every start of the wrapper comes through here, so nothing is imported but `os` (the interpreter has it already).
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FORMATS = ("text", "json")
MARKERS = ("osaca", "llvm-mca", "iaca", "all")

# The compiler hands what follows these to another program or takes it as a name, so it is none of incc's.
_TAKES_NEXT = frozenset(
    ("-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xclang", "-Xanalyzer", "-mllvm", "-o", "-D", "-I", "-include")
)

_NAMES = (
    "--analyze",
    "--analyze-fixed-ports",
    "--analyze-format",
    "--analyze-function",
    "--analyze-graph",
    "--analyze-help",
    "--analyze-mcpu",
    "--analyze-model-path",
    "--analyze-strict",
    "--analyze-timeline",
    "--emit-marked",
    "--incc-cc",
    "--marker",
)


class UsageError(Exception):
    """A mistake in incc's own options; the message says which. `status` is the exit status."""

    status = 2


class Options:
    """What was asked of incc.

    `report`: a report is wanted; it goes to `output`, "" for standard output (or standard error, see `session`), or a
    file or folder, to which it is added if `append`. `marked`: the file for marked assembly, "" for none. `problems`
    are mistakes in the environment: they must not stop a build, so they are kept for a warning.
    """

    __slots__ = (
        "append",
        "compiler",
        "fixed_ports",
        "format",
        "functions",
        "graph",
        "help",
        "marked",
        "marker",
        "mcpu",
        "model_path",
        "output",
        "problems",
        "report",
        "strict",
        "timeline",
    )

    def __init__(self) -> None:
        self.report = False
        self.output = ""
        self.append = False
        self.format = "text"
        self.mcpu = ""
        self.functions: list[str] = []
        self.model_path: list[str] = []
        self.graph = ""
        self.marked = ""
        self.marker = "all"
        self.fixed_ports = False
        self.strict = False
        self.timeline = -1
        self.compiler = ""
        self.help = False
        self.problems: list[str] = []

    @property
    def wants_analysis(self) -> bool:
        return self.report or bool(self.marked)


def split(arguments: list[str], environment: Mapping[str, str]) -> tuple[Options, list[str]]:
    """incc's options, and the arguments that are the compiler's. Raises UsageError for a mistake in the former.

    The command line wins over the environment. `--analyzer-…` and all else that only looks alike is the compiler's.
    """
    options = Options()
    if environment.get("INCC_DEPTH"):
        # Started by another incc, which analyses already (see `compiler`): only take the options out.
        environment = {}
        nested = True
    else:
        nested = False
        _read_environment(options, environment)
    rest: list[str] = []
    theirs = False
    for argument in arguments:
        if theirs or not argument.startswith("--"):
            rest.append(argument)
            theirs = argument in _TAKES_NEXT
            continue
        name, equals, value = argument.partition("=")
        if name in _NAMES or name.startswith("--analyze-"):
            _take(options, name, value if equals else None)
        else:
            rest.append(argument)
    if nested:
        options.report, options.marked = False, ""
    return options, rest


def _read_environment(options: Options, environment: Mapping[str, str]) -> None:
    get = environment.get
    analyze = get("INCC_ANALYZE", "")
    if analyze not in ("", "0"):
        options.report = True
        if analyze not in ("1", "-"):
            options.output, options.append = os.path.abspath(analyze), True
    if output := get("INCC_OUTPUT", ""):
        # abspath: the report is written after the compiler, which cannot change our folder, but messages name it.
        options.output, options.append = os.path.abspath(output), True
    if chosen := get("INCC_FORMAT", ""):
        if chosen in FORMATS:
            options.format = chosen
        else:
            options.problems.append(f"INCC_FORMAT is {' or '.join(FORMATS)}, not {chosen!r}")
    options.mcpu = get("INCC_MCPU", "")
    options.functions = get("INCC_FUNCTION", "").split()
    options.strict = get("INCC_STRICT", "") not in ("", "0")


def _take(options: Options, name: str, value: str | None) -> None:
    if name not in _NAMES:
        raise UsageError(f"unknown option {name}{_likely(name)}; see --analyze-help")
    if name in ("--analyze-help", "--analyze-strict", "--analyze-fixed-ports"):
        if value is not None:
            raise UsageError(f"{name} takes no value")
    elif name != "--analyze" and not value:
        raise UsageError(f"{name} needs a value: {name}=…")
    if name.startswith("--analyze"):
        options.report = True
    text = value or ""
    if name == "--analyze":
        if value == "":
            raise UsageError("--analyze= needs a file name; without one, write --analyze")
        if text == "-":
            options.output, options.append = "", False
        elif text:
            options.output, options.append = text, False
    elif name == "--analyze-help":
        options.help = True
    elif name == "--analyze-strict":
        options.strict = True
    elif name == "--analyze-fixed-ports":
        options.fixed_ports = True
    elif name == "--analyze-format":
        options.format = _one_of(name, text, FORMATS)
    elif name == "--analyze-mcpu":
        options.mcpu = text
    elif name == "--analyze-function":
        options.functions.append(text)
    elif name == "--analyze-model-path":
        # abspath as for the reports.
        options.model_path.append(os.path.abspath(text))
    elif name == "--analyze-graph":
        options.graph = text
    elif name == "--analyze-timeline":
        if not text.isdecimal():
            raise UsageError(f"{name} takes a number of iterations, not {text!r}")
        options.timeline = int(text)
    elif name == "--emit-marked":
        options.marked = text
    elif name == "--marker":
        options.marker = _one_of(name, text, MARKERS)
    else:
        options.compiler = text


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise UsageError(f"{name} is one of {', '.join(allowed)}, not {value!r}")
    return value


def _likely(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, _NAMES, n=1)
    return f", did you mean {close[0]}?" if close else ""
