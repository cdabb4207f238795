"""The Python part of the command `incc`: options, help, and compilations with a second run.

The command itself is a small program (front/) that finds the compiler and runs it, or calls this module if there is
more to do.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from incc.driver import UsageError
from incc.driver.builds import watched
from incc.driver.cli.help import print_help, write
from incc.driver.cli.kinds import WRAPPER
from incc.driver.cli.own_options import WrapperOptions, split
from incc.driver.cli.usage import COMMANDS
from incc.frontends.gcc_wrapper.compiler import (
    Compiler,
    CompilerError,
    child_environment,
    find_compiler,
    replace_process,
)
from incc.frontends.gcc_wrapper.processes import Finished
from incc.support.version import __version__

if TYPE_CHECKING:
    from incc.running.compiling import ProbedCommand


def started(arguments: list[str]) -> int:
    """Run incc on behalf of the front and return the exit status.

    Args:
        arguments: The compiler's path, the number of words that name it, these words, and the command's arguments
            including incc's own options.
    """
    watched.begin(os.environ)
    count = int(arguments[1])
    status = _run(Compiler(arguments[0], arguments[2 : 2 + count]), arguments[2 + count :])
    watched.leaving()
    return status


def finished(arguments: list[str]) -> int:
    """Do the full mode's work after a compiler that has succeeded. The arguments are those of `started`."""
    watched.begin(os.environ)
    count = int(arguments[1])
    status = _run(Compiler(arguments[0], arguments[2 : 2 + count]), arguments[2 + count :], Finished())
    watched.leaving()
    return status


def main() -> int:
    """Run incc without the front, as `python -m incc.driver.commands.incc`, and return the exit status.

    The compiler is that of INCC_CC or --incc-cc, or `cc`.
    """
    return _run(None, sys.argv[1:])


def _run(compiler: Compiler | None, given: list[str], children: Finished | None = None) -> int:

    try:
        options, arguments = split(given, os.environ)
        if options.help:
            return print_help(COMMANDS[WRAPPER], options.help)
        if options.given and options.given["version"]:
            return write(f"incc {__version__}\n")
        compiler = compiler or find_compiler(os.environ.get("INCC_CC") or options.compiler or "cc", os.environ)
        environment = child_environment(os.environ)
        probed = _with_probes(options, compiler, arguments, environment) if options.probes else None
        if not options.wants_analysis or "-###" in arguments:
            if children is not None:
                return 0
            watched.leaving()
            if probed:
                arguments, environment = probed.arguments, probed.environment
            replace_process(compiler, arguments, environment)
        from incc.driver.builds.wrapping import run

        return run(options, compiler, arguments, environment, children, probed)
    except (UsageError, CompilerError) as error:
        hint = "; see --analyze-help" if isinstance(error, UsageError) else ""
        sys.stderr.write(f"incc: error: {error}{hint}\n")
        return error.status


def _with_probes(
    options: WrapperOptions, compiler: Compiler, arguments: list[str], environment: dict[str, str]
) -> ProbedCommand | None:
    """Return the command with probes, None if there is none."""
    try:
        from incc.running.compiling import probed_command

        condition = options.all()["where"]
        program = os.environ.get("INCC_PROGRAM", "")
        probed = probed_command(compiler, arguments, environment, program, condition.text if condition else "")
    except Exception as error:  # the compilation is more important than its probes
        if os.environ.get("INCC_DEBUG"):
            raise
        sys.stderr.write(f"incc: warning: no probes: {type(error).__name__}: {' '.join(str(error).split())}\n")
        return None
    if probed.note:
        sys.stderr.write(f"incc: note: no probes: {probed.note}\n")
        return None
    return probed


if __name__ == "__main__":
    sys.exit(main())
