"""The command `incc`: stands in for the compiler, and reports on the loops of what was compiled when asked to."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run the command that `sys.argv` holds; returns its exit status. Does not return if nothing asks for analysis."""
    from incc.driver import UsageError
    from incc.driver.own_options import split
    from incc.frontends.gcc_wrapper.compiler import CompilerError, child_environment, find_compiler, replace_process

    try:
        options, arguments = split(sys.argv[1:], os.environ)
        if options.help:
            from incc.driver.help import print_help
            from incc.driver.options import WRAPPER

            return print_help(WRAPPER, options.help)
        compiler = find_compiler(options.compiler, os.environ, sys.argv[0])
        environment = child_environment(os.environ)
        if not options.wants_analysis or "-###" in arguments:
            replace_process(compiler, arguments, environment)
        from incc.driver.wrapping import run

        return run(options, compiler, arguments, environment)
    except (UsageError, CompilerError) as error:
        hint = "; see --analyze-help" if isinstance(error, UsageError) else ""
        sys.stderr.write(f"incc: error: {error}{hint}\n")
        return error.status


if __name__ == "__main__":
    sys.exit(main())
