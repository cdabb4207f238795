"""incc's own options: taken out of the compiler's arguments, or read from the environment.

Every start of the wrapper comes through here, so what reads them is imported only where there are some.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from incc.driver import UsageError
from incc.frontends.gcc_wrapper.compiler import TAKES_NEXT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from incc.driver.cli.options import Given

PREFIX = "--analyze-"

WARNINGS = ("-Wincc", "-Wno-incc", "-Werror=incc", "-Wno-error=incc")
"""Options as the compiler's, of warnings that are incc's: the last one counts."""

OTHERS = ("--analyze", "--emit-marked", "--incc-cc", "--marker", "--try")
"""The options of the table that do not begin with the prefix. What else only looks alike is the compiler's."""

_COMPILER = "--incc-cc"


class Options:
    """What was asked of incc.

    `report`: a report is wanted; it goes to `output`, "" for standard output (or standard error, see `wrapping`), or a
    file or folder, to which it is added if `append`. `commanded`: it is the command line that asks. `named`: by
    --analyze or INCC_ANALYZE, not only by options that say what of it. `warnings`: what the source expects and is not
    so is told of, as an error if `errors`; `checks`: an option asks for that. `compiler`: the value of --incc-cc.
    `given`: all other options, None if there are none. `problems` are mistakes in the environment: they must not stop a
    build, so they are kept for a warning.
    """

    __slots__ = (
        "append",
        "checks",
        "commanded",
        "compiler",
        "errors",
        "given",
        "named",
        "output",
        "problems",
        "report",
        "warnings",
    )

    def __init__(self) -> None:
        self.report = False
        self.output = ""
        self.append = False
        self.commanded = False
        self.compiler = ""
        self.named = False
        self.checks = self.errors = False
        self.warnings = True
        self.given: Given | None = None
        self.problems: list[str] = []

    @property
    def printed(self) -> bool:
        """Whether the report itself is wanted, not only diagnostics."""
        return self.report and (self.named or not (self.given and self.given["remarks"]))

    @property
    def wants_analysis(self) -> bool:
        return (
            self.report
            or self.checks
            or bool(self.given and (self.given["--emit-marked"] or self.given["keep-assembly"]))
        )

    @property
    def folder(self) -> str:
        """The folder of reports, "" if the report goes elsewhere."""
        return self.output if self.output and os.path.isdir(self.output) else ""

    @property
    def format(self) -> str:
        """The report's format. A folder of reports is for programs (incc-report, incc-diff …), but where somebody says
        otherwise."""
        given = self.all()
        return "json" if self.folder and "format" not in given.names else str(given["format"])

    @property
    def help(self) -> str:
        """Which help is wanted, "" for none."""
        return self.given["help"] if self.given else ""

    def all(self) -> Given:
        """All options but the compiler's name, those that were not given as well."""
        if self.given is None:
            from incc.driver.cli.options import WRAPPER, Given

            self.given = Given(WRAPPER)
        return self.given


def split(arguments: list[str], environment: Mapping[str, str]) -> tuple[Options, list[str]]:
    """incc's options, and the arguments that are the compiler's. Raises UsageError for a mistake in the former.

    The command line wins over the environment. `--analyzer-…` and all else that only looks alike is the compiler's.
    """
    options = Options()
    own: list[str] = []
    rest: list[str] = []
    theirs = False
    for argument in arguments:
        if theirs or not argument.startswith(("--", "-W")) or not _is_own(argument):
            rest.append(argument)
            theirs = argument in TAKES_NEXT
        else:
            own.append(argument)
    # If started by another incc, which analyses already (see `compiler`), only take the options out.
    nested = bool(environment.get("INCC_DEPTH"))
    if not nested:
        _read_environment(options, environment)
        if options.wants_analysis or any(not argument.startswith(_COMPILER) for argument in own):
            _read_settings(options, environment)
    for argument in own:
        _take(options, argument)
    options.commanded = any(not argument.startswith(_COMPILER) for argument in own)
    if nested:
        options.report, options.checks, options.given = False, False, None
    elif options.wants_analysis and not options.help and (options.output or options.given):
        try:
            _check(options, rest)
        except UsageError as error:
            if own:
                raise
            # All of it comes from the environment.
            options.problems.append(str(error))
    return options, rest


def _is_own(argument: str) -> bool:
    name = argument.partition("=")[0]
    return name in OTHERS or argument in WARNINGS or name.startswith(PREFIX)


def _read_environment(options: Options, environment: Mapping[str, str]) -> None:
    get = environment.get
    if words := get("INCC_OPTIONS", ""):
        _read_words(options, words)
    analyze = get("INCC_ANALYZE", "")
    if analyze not in ("", "0"):
        options.report = options.named = True
        if analyze not in ("1", "-"):
            options.output, options.append = os.path.abspath(analyze), True
    if output := get("INCC_OUTPUT", ""):
        # abspath: the report is written after the compiler, which cannot change our folder, but messages name it.
        options.output, options.append = os.path.abspath(output), True


def _read_settings(options: Options, environment: Mapping[str, str]) -> None:
    """The variables that say how to analyse; they are of no interest to a run without analysis."""
    get = environment.get
    if chosen := get("INCC_FORMAT", ""):
        from incc.driver.cli.options import WRAPPER, find

        formats = find(WRAPPER, f"{PREFIX}format").choices()
        if chosen in formats:
            options.all().take(f"{PREFIX}format", chosen)
        else:
            options.problems.append(f"INCC_FORMAT is {' or '.join(formats)}, not {chosen!r}")
    mode = get("INCC_MODE", "")
    if mode not in ("", "lean", "full"):
        options.problems.append(f"INCC_MODE is lean or full, not {mode!r}")
    if mcpu := get("INCC_MCPU", ""):
        options.all().take(f"{PREFIX}mcpu", mcpu)
    for glob in get("INCC_FUNCTION", "").split():
        options.all().take(f"{PREFIX}function", glob)
    if get("INCC_STRICT", "") not in ("", "0"):
        options.all().take(f"{PREFIX}strict", None)
    if lto := get("INCC_LTO", ""):
        if lto in ("link", "compile"):
            options.all().take(f"{PREFIX}lto", lto)
        else:
            options.problems.append(f"INCC_LTO is link or compile, not {lto!r}")


def _read_words(options: Options, words: str) -> None:
    """Options from a variable, with blanks between them and quotes as in a shell."""
    import shlex

    try:
        for word in shlex.split(words):
            name = word.partition("=")[0]
            if name in (_COMPILER, f"{PREFIX}help") or not _is_own(word):
                raise UsageError(f"{word} is not an option for it")
            _take(options, word)
        _check(options, [])
    except (UsageError, ValueError) as error:
        options.problems.append(f"INCC_OPTIONS: {error}; see --analyze-help")
        options.given = None
    # It says how to analyse, not that: so that it may stand in a user's environment for good.
    options.report = options.checks = options.named = False


def _take(options: Options, argument: str) -> None:
    """Take one of incc's own options. Raises UsageError."""
    name, equals, text = argument.partition("=")
    value = text if equals else None
    if name == _COMPILER and value:
        # Not through the table, which a run without analysis has no other use for.
        options.compiler = value
        return
    if argument in WARNINGS:
        options.warnings = argument != "-Wno-incc"
        options.errors = argument == "-Werror=incc" or (options.errors and argument == "-Wincc")
        options.checks = options.warnings and (options.checks or argument != "-Wno-error=incc")
        return
    if name.startswith("--analyze") or name == "--try":
        options.report = True
    if name == "--analyze":
        options.named = True
        if value == "":
            raise UsageError("--analyze= needs a file name; without one, write --analyze")
        if value:
            options.output, options.append = value if value != "-" else "", False
        return
    if name == f"{PREFIX}model-path" and value:
        # abspath as for the reports.
        value = os.path.abspath(value)
    options.all().take(name, value)


def _check(options: Options, rest: list[str]) -> None:
    """Raises UsageError for files to write that are others of the command's."""
    from incc.driver.cli.options import check_targets
    from incc.frontends.gcc_wrapper.compiler import files_of

    given = options.all()
    targets = [(f"{PREFIX}{name}", file) for name, file in given.files().items()]
    if options.output and not options.append:
        targets.append(("--analyze", options.output))
    if given["--emit-marked"]:
        targets.append(("--emit-marked", given["--emit-marked"]))
    check_targets(targets, files_of(rest) if targets else [])
