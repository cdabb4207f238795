"""The commands `incc` and `incc-mca`, with the options of the table."""

from __future__ import annotations

import importlib

from incc.driver.cli.command import ENVIRONMENT, NAMES, Command, OptionGroup, names
from incc.driver.cli.kinds import MCA, WRAPPER
from incc.driver.cli.options import options_of
from incc.driver.cli.shared import COMPILED

COMMANDS = {
    MCA: Command(
        name=MCA,
        usage=("incc-mca [options] [FILE]",),
        summary="predict the cycles of loops in assembly and their bottlenecks",
        about=(
            "Analyse the assembly in FILE (default: standard input): the regions marked for OSACA, llvm-mca or IACA, "
            "or the whole file if there are no markers. In an object or executable, analyse the regions between "
            "IACA's byte markers, or the innermost loops. Options may have one dash or two.",
            f"A source is compiled, and its marked regions or else its innermost loops are analysed: {COMPILED}",
        ),
        groups=(
            OptionGroup("what to analyse", tuple(options_of(MCA, "analyse"))),
            OptionGroup("what to show", tuple(options_of(MCA, "show"))),
            OptionGroup(
                "what to write (if FILE is a folder: to a file in it named after the input)",
                tuple(options_of(MCA, "write")),
            ),
            OptionGroup("", tuple(options_of(MCA, "other"))),
        ),
        environment=ENVIRONMENT,
        status="0; 1 if some input could not be read or a file could not be written; 2 for a mistake on the command "
        "line",
    ),
    WRAPPER: Command(
        name=WRAPPER,
        usage=("incc ARGS…",),
        summary="run a compiler and report on the loops that it compiled",
        about=(
            "Run the compiler with ARGS. With --analyze, report the cycles per iteration and the bottleneck of each "
            "innermost loop. Without any of the options below (or INCC_ANALYZE), only run the compiler.",
            "The compiler is $INCC_CC, else --incc-cc=NAME, else the one that the name of incc ends in (a link "
            "incc-gcc, incc-clang++-19, incc-gfortran … to incc), else cc.",
        ),
        groups=(
            OptionGroup(
                "what to write (if FILE is a folder: to a file in it for each compilation)",
                tuple(options_of(WRAPPER, "write")),
            ),
            OptionGroup("what to analyse", tuple(options_of(WRAPPER, "analyse"))),
            OptionGroup("what to show in addition", tuple(options_of(WRAPPER, "show"))),
            OptionGroup("", tuple(options_of(WRAPPER, "other"))),
        ),
        after=(
            "Every --analyze-… option turns the analysis on; --emit-marked alone writes no report.",
            "-Wincc warns if a prediction does not meet the expectation of a mark in the source (// incc: analyze "
            "expect(cycles <= 2), docs/source-marks.md), even without a report. -Werror=incc turns these warnings into "
            "errors, after the object is written. -Wno-incc and -Wno-error=incc undo this.",
        ),
        environment=(
            ("INCC_ANALYZE=1|FILE", "like --analyze; reports are appended to FILE"),
            ("INCC_OUTPUT=FILE|FOLDER", "append reports to FILE, or write one for each compilation to FOLDER"),
            (
                "INCC_FORMAT, INCC_MCPU, INCC_FUNCTION, INCC_STRICT, INCC_LTO",
                "like the options; INCC_FUNCTION may name several functions, separated by spaces",
            ),
            ("INCC_OPTIONS", "further options, quoted as in a shell; they change the analysis but do not turn it on"),
            (
                "INCC_MODE=lean|full",
                "like --analyze-mode (default: lean if only the environment turns the analysis on)",
            ),
            ("INCC_CC", "compiler to run"),
            *ENVIRONMENT,
            ("INCC_DEBUG=1", "print a traceback if the analysis fails"),
        ),
        status="the compiler's; 1 if the analysis fails with --analyze-strict or an expectation with -Werror=incc; 2 "
        "for a mistake in the options",
    ),
}


def command_of(name: str) -> Command:
    """Return the command of this name."""
    if name in COMMANDS:
        return COMMANDS[name]
    # By name, since the commands import the modules of this package.
    command: Command = importlib.import_module(f"incc.driver.commands.{name.removeprefix('incc-')}").COMMAND
    return command


def others_with(option: str) -> str:
    """Return a hint at the commands that have an option which one of them lacks; "" if none has it."""
    having = []
    for command in map(command_of, NAMES):
        shown = [each for group in command.all_groups() for each in group.options]
        if command.name != WRAPPER and any(option in names(each, command.name) for each in shown):
            having.append(command.name)
    return f"; {', '.join(having)} {'has' if len(having) == 1 else 'have'} it" if having else ""
