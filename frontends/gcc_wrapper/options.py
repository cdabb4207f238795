"""incc's own options: taken out of the compiler's arguments, or read from the environment.

Every start of the wrapper comes through here, so nothing is imported but `os` (the interpreter has it already).
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from incc.driver.options import AnalysisOptions

FORMATS = ("text", "json")
MARKERS = ("osaca", "llvm-mca", "iaca", "all")

# The compiler hands what follows these to another program or takes it as a name, so it is none of incc's.
_TAKES_NEXT = frozenset(
    ("-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xclang", "-Xanalyzer", "-mllvm", "-o", "-D", "-I", "-include")
)

_NAMES = (
    "--analyze",
    "--analyze-format",
    "--analyze-help",
    "--analyze-strict",
    "--analyze-timeline",
    "--emit-marked",
    "--incc-cc",
    "--marker",
)
"""The wrapper's own options. All others that begin with --analyze- are those of every analysis (driver/options.py)."""

PREFIX = "--analyze-"

# Here --analyze-timeline says how many iterations, and --analyze-format what the report is.
_NOT_HERE = ("timeline", "timeline-max-iterations")


class UsageError(Exception):
    """A mistake in incc's own options; the message says which. `status` is the exit status."""

    status = 2


class Options:
    """What was asked of incc.

    `report`: a report is wanted; it goes to `output`, "" for standard output (or standard error, see `session`), or a
    file or folder, to which it is added if `append`. `marked`: the file for marked assembly, "" for none. `timeline`:
    iterations in the timeline, -1 if that was not said. `analysis`: names and values of the options that every analysis
    has, in the order given. `problems` are mistakes in the environment: they must not stop a build, so they are kept
    for a warning.
    """

    __slots__ = (
        "analysis",
        "append",
        "compiler",
        "format",
        "help",
        "marked",
        "marker",
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
        self.analysis: list[tuple[str, str | None]] = []
        self.marked = ""
        self.marker = "all"
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
    nested = bool(environment.get("INCC_DEPTH"))
    if not nested:
        _read_environment(options, environment)
    # Else started by another incc, which analyses already (see `compiler`): only take the options out.
    rest: list[str] = []
    theirs = False
    for argument in arguments:
        if theirs or not argument.startswith("--"):
            rest.append(argument)
            theirs = argument in _TAKES_NEXT
            continue
        name, equals, value = argument.partition("=")
        if name in _NAMES or name.startswith(PREFIX):
            _take(options, name, value if equals else None)
        else:
            rest.append(argument)
    if nested:
        options.report, options.marked = False, ""
    elif (options.analysis or options.output or options.marked) and options.wants_analysis and not options.help:
        try:
            _check(options, rest)
        except UsageError as error:
            if len(rest) < len(arguments):
                raise
            # All of it comes from the environment.
            options.problems.append(str(error))
    return options, rest


def _read_environment(options: Options, environment: Mapping[str, str]) -> None:
    get = environment.get
    if words := get("INCC_OPTIONS", ""):
        _read_words(options, words)
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
    if mcpu := get("INCC_MCPU", ""):
        options.analysis.append(("mcpu", mcpu))
    options.analysis += [("function", glob) for glob in get("INCC_FUNCTION", "").split()]
    if get("INCC_STRICT", "") not in ("", "0"):
        options.strict = True


def _read_words(options: Options, words: str) -> None:
    """Options from a variable, with blanks between them and quotes as in a shell."""
    import shlex

    asked = options.report
    try:
        for word in shlex.split(words):
            name, equals, value = word.partition("=")
            if name in ("--incc-cc", "--analyze-help") or not (name in _NAMES or name.startswith(PREFIX)):
                raise UsageError(f"{word} is not an option for it")
            _take(options, name, value if equals else None)
        _check(options, [])
    except (UsageError, ValueError) as error:
        options.problems.append(f"INCC_OPTIONS: {error}")
        options.analysis.clear()
    # It says how to analyse, not that: so that it may stand in a user's environment for good.
    options.report = asked


def _take(options: Options, name: str, value: str | None) -> None:
    if name.startswith("--analyze"):
        options.report = True
    if name not in _NAMES:
        _take_analysis(options, name, value)
        return
    if name in ("--analyze-help", "--analyze-strict"):
        if value is not None:
            raise UsageError(f"{name} takes no value")
    elif name != "--analyze" and not value:
        raise UsageError(f"{name} needs a value: {name}=…")
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
    elif name == "--analyze-format":
        options.format = _one_of(name, text, FORMATS)
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


def _take_analysis(options: Options, name: str, value: str | None) -> None:
    """An option that every analysis has; only its name is looked at, see `_check`."""
    from incc.driver.options import AnalysisOptions

    known = AnalysisOptions()
    short = name.removeprefix(PREFIX)
    if short in _NOT_HERE or not known.knows(short):
        raise UsageError(f"unknown option {name}{_likely(name)}; see --analyze-help")
    if known.takes_value(short) and not value:
        raise UsageError(f"{name} needs a value: {name}=…")
    if short == "model-path" and value:
        # abspath as for the reports.
        value = os.path.abspath(value)
    options.analysis.append((short, value))


def analysis(options: Options) -> AnalysisOptions:
    """The options that every analysis has, with their values read. Raises UsageError."""
    from incc.driver import options as driver

    try:
        result = driver.AnalysisOptions(PREFIX)
        for name, value in options.analysis:
            result.take(name, value)
        result.check()
    except driver.UsageError as error:
        raise UsageError(str(error)) from error
    return result


def _check(options: Options, rest: list[str]) -> None:
    """Raises UsageError for values that are no good, and for files to write that are others of the command's."""
    from incc.driver import options as driver

    targets = [(f"{PREFIX}{name}", file) for name, file in analysis(options).files().items()]
    if options.output and not options.append:
        targets.append(("--analyze", options.output))
    if options.marked:
        targets.append(("--emit-marked", options.marked))
    # What is glued to an option may be a file too (-oFILE), and names that do not exist cost nothing.
    theirs = [a.removeprefix("-o") for a in rest if a != "-o"]
    if targets and not any(a.startswith("-o") for a in rest):
        ending = ".s" if "-S" in rest else ".o" if "-c" in rest else ""
        sources = (os.path.splitext(os.path.basename(a))[0] for a in rest if not a.startswith("-"))
        theirs += [stem + ending for stem in sources] if ending else ["a.out"]
    try:
        driver.check_targets(targets, theirs)
    except driver.UsageError as error:
        raise UsageError(str(error)) from error


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise UsageError(f"{name} is one of {', '.join(allowed)}, not {value!r}")
    return value


def _likely(name: str) -> str:
    """What may have been meant by an unknown `--analyze-…`; only what follows that is compared."""
    from difflib import get_close_matches

    from incc.driver import options as driver

    own = [known.removeprefix(PREFIX) for known in _NAMES if known.startswith(PREFIX)]
    others = {*driver.SWITCHES, *driver.NUMBERS, *driver.TEXTS, *driver.LISTS}.difference(_NOT_HERE)
    close = get_close_matches(name.removeprefix(PREFIX), [*own, *sorted(others)], n=1)
    return f", did you mean {PREFIX}{close[0]}?" if close else ""
