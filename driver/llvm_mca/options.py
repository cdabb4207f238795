"""The command line of incc-mca and of llvm-mca, which have the same options (`driver/cli/options.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from incc.driver import UsageError
from incc.driver.cli.kinds import MCA, NO, YES, Option
from incc.driver.cli.options import find, has
from incc.driver.cli.values import OptionValues

_LIBRARY_SWITCHES = """
W asm-show-inst color crel disable-symbolication dwarf64 emit-compact-unwind-non-canonical fatal-warnings fdpic
incremental-linker-compatible mark-data-regions mc-relax-all no-deprecated-warn no-type-check no-warn print-all-options
print-debug-counter print-options save-temp-labels sort-timers stats stats-json time-passes track-memory
x86-branches-within-32B-boundaries x86-pad-for-align x86-pad-for-branch-align
"""
_LIBRARY_VALUES = """
aarch64-neon-syntax as-secure-log-file crash-diagnostics-dir debug-counter dwarf-version emit-dwarf-unwind
info-output-file rng-seed target-abi x86-align-branch x86-align-branch-boundary x86-pad-max-prefix-size
"""
IGNORED = dict.fromkeys(_LIBRARY_SWITCHES.split(), False) | dict.fromkeys(_LIBRARY_VALUES.split(), True)
"""The options of LLVM's libraries, which have no effect on an analysis, and True for those that need a value."""


class CommandLine(msgspec.Struct, frozen=True, kw_only=True):
    """A command line without help options."""

    given: OptionValues
    file: str
    """The input, "" or - for standard input."""
    order: dict[str, int]
    """The options' names, with the position of the last occurrence of each."""
    ignored: list[str]
    """The options without effect, as they are written."""


def _find(spelled: str) -> Option:
    """Return an option. Raises UsageError, which names the other commands that have it."""
    if not has(MCA, spelled):
        from incc.driver.cli.usage import others_with

        if others := others_with(spelled):
            raise UsageError(f"unknown option {spelled}{others}")
    return find(MCA, spelled)


def read(arguments: Sequence[str], several: str = "") -> CommandLine:
    """Read a command line. Raises UsageError, for several input files with this hint."""
    given = OptionValues(MCA)
    files: list[str] = []
    order: dict[str, int] = {}
    ignored: list[str] = []
    rest = iter(arguments)
    for position, argument in enumerate(rest):
        if argument == "--":
            files += rest
        elif argument == "-" or not argument.startswith("-"):
            files.append(argument)
        elif argument.startswith("---"):
            raise UsageError(f"unknown option {argument}")
        else:
            spelled, equals, text = argument.partition("=")
            name, value = spelled.lstrip("-"), text if equals else None
            if name in IGNORED:
                if IGNORED[name] and value is None:
                    next(rest, "")
                ignored.append(f"-{name}")
                continue
            option = _find(spelled)
            if option.name == "instruction-tables":  # a switch up to LLVM 21
                value = {**dict.fromkeys(YES, "normal"), **dict.fromkeys(NO, "none")}.get(value or "true", value)
            if value is None and option.kind == "attached":
                value = "-"  # a former spelling, in which -o names the file
            elif value is None and option.needs_value:
                value = next(rest, "")
            order[option.name] = position
            if value == "" and (option.kind == "switch" or name in ("march", "mattr", "mtriple")):
                value = None  # llvm-mca takes these for the switch, and for the default
                if option.needs_value:
                    continue
            given.take(spelled, value)
    if len(files) > 1:
        raise UsageError(f"one input file at a time, not {files[0]} and {files[1]}{several}")
    if given["disable-cb"]:
        ignored.append("-disable-cb")
    return CommandLine(given=given, file=files[0] if files else "", order=order, ignored=list(dict.fromkeys(ignored)))


def expanded(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with those of response files (`@FILE`) in their places. Raises UsageError."""
    if not any(argument.startswith("@") for argument in arguments):
        return list(arguments)
    from incc.frontends.gcc_wrapper.response_files import expanded_by_llvm

    try:
        return expanded_by_llvm(arguments)
    except ValueError as error:
        raise UsageError(str(error)) from None


def requested_help(arguments: Iterable[str]) -> str:
    """Return the kind of help that is requested anywhere on a command line, "version" for the version, "" for none."""
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if argument in ("-version", "--version"):
            return "version"
        if name.lstrip("-") in ("help-hidden", "help-list", "help-list-hidden") and not equals and name[0] == "-":
            return "all"
        if name in ("-h", "-help", "--help"):
            given = OptionValues(MCA)
            given.take("-help", value if equals else None)
            return str(given["help"])
    return ""
