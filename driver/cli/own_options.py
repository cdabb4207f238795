"""The options of incc itself, from among the compiler's arguments and from the environment.

Every start of the wrapper runs this module, so it imports the table of options only if there are any.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from incc.driver import UsageError
from incc.frontends.gcc_wrapper.compiler import TAKES_NEXT, files_of

if TYPE_CHECKING:
    from incc.driver.cli.values import OptionValues

PREFIX = "--analyze-"

WARNINGS = ("-Wincc", "-Wno-incc", "-Werror=incc", "-Wno-error=incc")
"""Warning options in the compiler's style; the last one counts."""

OTHERS = ("--analyze", "--emit-marked", "--incc-cc", "--marker", "--try")
"""The options of the table without the prefix. Other similar arguments belong to the compiler."""

OUTPUTS = ("--analyze-o", "--analyze-output")
"""The names of --analyze=FILE in the spelling of other commands. `commandLine` in front/main.cpp has them, too."""

PROBE = f"{PREFIX}probe"
"""The option for probes, which does not turn the analysis on."""

_COMPILER = "--incc-cc"


class WrapperOptions(msgspec.Struct):
    """The options of a run of incc."""

    report: bool = False
    """True if an option or variable turns the analysis on."""
    output: str = ""
    """The report's file or folder; "" for standard output (or standard error, see `wrapping`)."""
    append: bool = False
    commanded: bool = False
    """True if an option on the command line concerns the analysis, not only variables."""
    compiler: str = ""
    """The value of --incc-cc."""
    named: bool = False
    """True if --analyze or INCC_ANALYZE is given, not only options that change the analysis."""
    checks: bool = False
    """True if an option requests the check of the expectations in the source."""
    errors: bool = False
    """True if unmet expectations are errors."""
    warnings: bool = True
    """True if unmet expectations are reported."""
    given: OptionValues | None = None
    """All other options; None if there are none."""
    problems: list[str] = []
    """Mistakes in the environment. They must not stop a build, so they become warnings."""

    @property
    def printed(self) -> bool:
        """True if the report itself is requested, not only diagnostics."""
        return self.report and (self.named or not (self.given and self.given["remarks"]))

    @property
    def wants_analysis(self) -> bool:
        return (
            self.report
            or self.checks
            or bool(self.given and (self.given["--emit-marked"] or self.given["keep-assembly"]))
        )

    @property
    def probes(self) -> bool:
        """True if the code gets probes."""
        return bool(self.given and self.given["probe"])

    @property
    def folder(self) -> str:
        """The folder of reports; "" if the report goes elsewhere."""
        return self.output if self.output and os.path.isdir(self.output) else ""

    @property
    def format(self) -> str:
        """The report's format; by default JSON in a folder, since programs such as incc-report read that."""
        given = self.all()
        return "json" if self.folder and "format" not in given.names else str(given["format"])

    @property
    def help(self) -> str:
        """The requested kind of help; "" for none."""
        return self.given["help"] if self.given else ""

    def all(self) -> OptionValues:
        """Return the values of all options, with defaults for those that are not given."""
        if self.given is None:
            from incc.driver.cli.kinds import WRAPPER
            from incc.driver.cli.values import OptionValues

            self.given = OptionValues(WRAPPER)
        return self.given


def split(arguments: list[str], environment: Mapping[str, str]) -> tuple[WrapperOptions, list[str]]:
    """Split arguments into incc's options and the compiler's arguments. Raises UsageError for incc's options.

    The command line wins over the environment. `--analyzer-…` and other similar arguments belong to the compiler.
    """
    options = WrapperOptions()
    own: list[str] = []
    rest: list[str] = []
    theirs = False
    for argument in arguments:
        if theirs or not argument.startswith(("--", "-W")) or not _is_own(argument):
            rest.append(argument)
            theirs = argument in TAKES_NEXT
        else:
            own.append(argument)
    # Another incc that started this one already analyses (see `compiler`): only remove the options.
    nested = bool(environment.get("INCC_DEPTH"))
    if not nested:
        _read_environment(options, environment)
        if (
            options.wants_analysis
            or environment.get("INCC_PROBE")
            or any(not argument.startswith(_COMPILER) for argument in own)
        ):
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
            # The mistake is in the environment.
            options.problems.append(str(error))
    return options, rest


def _is_own(argument: str) -> bool:
    name = argument.partition("=")[0]
    return name in OTHERS or argument in WARNINGS or name.startswith(PREFIX)


def _read_environment(options: WrapperOptions, environment: Mapping[str, str]) -> None:
    get = environment.get
    if words := get("INCC_OPTIONS", ""):
        _read_words(options, words)
    analyze = get("INCC_ANALYZE", "")
    if analyze not in ("", "0"):
        options.report = options.named = True
        if analyze not in ("1", "-"):
            options.output, options.append = os.path.abspath(analyze), True
    if output := get("INCC_OUTPUT", ""):
        # An absolute path, since messages name it.
        options.output, options.append = os.path.abspath(output), True


def _read_settings(options: WrapperOptions, environment: Mapping[str, str]) -> None:
    """Read the variables that change the analysis; a run without analysis ignores them."""
    from incc.driver.cli.kinds import WRAPPER
    from incc.driver.cli.options import options_of

    for option in options_of(WRAPPER):
        value = environment.get(option.variable, "") if option.variable else ""
        if not value or (option.kind == "flag" and value == "0"):
            continue
        try:
            for text in value.split() if option.kind == "list" else [value]:
                options.all().put(option, option.variable, None if option.kind == "flag" else text)
        except UsageError as error:
            options.problems.append(str(error))


def _read_words(options: WrapperOptions, words: str) -> None:
    """Read options from a variable, which are quoted as in a shell."""
    try:
        for word in shlex.split(words):
            name = word.partition("=")[0]
            if name in (_COMPILER, f"{PREFIX}help") or not _is_own(word):
                raise UsageError(f"{word} is not allowed here")
            _take(options, word)
        _check(options, [])
    except (UsageError, ValueError) as error:
        options.problems.append(f"INCC_OPTIONS: {error}; see --analyze-help")
        options.given = None
    # The variable does not turn the analysis on, so that users can set it permanently.
    options.report = options.checks = options.named = False


def _take(options: WrapperOptions, argument: str) -> None:
    """Take one of incc's own options. Raises UsageError."""
    name, equals, text = argument.partition("=")
    value = text if equals else None
    if name == _COMPILER and value:
        # A run without analysis need not load the table of options.
        options.compiler = value
        return
    if argument in WARNINGS:
        options.warnings = argument != "-Wno-incc"
        options.errors = argument == "-Werror=incc" or (options.errors and argument == "-Wincc")
        options.checks = options.warnings and (options.checks or argument != "-Wno-error=incc")
        return
    if (name.startswith("--analyze") and argument != PROBE) or name == "--try":
        options.report = True
    if name in ("--analyze", *OUTPUTS):
        options.named = True
        if value == "" or (value is None and name != "--analyze"):
            raise UsageError(f"{name}= needs a file name; without one, write --analyze")
        if value:
            options.output, options.append = value if value != "-" else "", False
        return
    if name == f"{PREFIX}model-path" and value:
        value = os.path.abspath(value)
    options.all().take(name, value)


def _check(options: WrapperOptions, rest: list[str]) -> None:
    """Raise UsageError if a file to write is another file of the command."""
    from incc.driver.cli.kinds import check_targets

    given = options.all()
    targets = [(f"{PREFIX}{name}", file) for name, file in given.files().items()]
    if options.output and not options.append:
        targets.append(("--analyze", options.output))
    if given["--emit-marked"]:
        targets.append(("--emit-marked", given["--emit-marked"]))
    check_targets(targets, files_of(rest) if targets else [])
