"""The text of `incc --analyze-help`."""

from __future__ import annotations

import os

HELP = """\
usage: incc ARGS…

Runs the compiler with ARGS, and with --analyze reports on the innermost loops of what was compiled: how many cycles
an iteration takes, and what bounds it. Without any of the options below (or INCC_ANALYZE) it only runs the compiler.

The compiler is $INCC_CC, else --incc-cc=NAME, else what incc was called by (a link incc-gcc, incc-clang++-19,
incc-gfortran … to incc), else cc.

what to write
  --analyze[=FILE]            the report, to FILE or standard output (standard error if the compiler writes to that)
  --analyze-format=text|json  the report's format (text)
  --analyze-graph=FILE.dot    the dependency graphs, in Graphviz's language
  --analyze-timeline=N        how many iterations the timeline shows (2), 0 for none
  --emit-marked=FILE          the assembly with markers around the loops, for other tools
  --marker=osaca|llvm-mca|iaca|all
                              whose markers (all)

what to analyse
  --analyze-mcpu=NAME         the core, see `incc-model list`; default: the one that the code is tuned or generated
                              for (-mtune, -march, -mcpu), else the host
  --analyze-model-path=FOLDER|FILE
                              look for models there first; may be given several times (also: INCC_MODEL_PATH)
  --analyze-function=GLOB     only functions of this name; may be given several times
  --analyze-fixed-ports       equal shares to all ports that a µop may use, instead of the best distribution
  --analyze-strict            an analysis that fails is an error (exit status 1), not a warning

  --analyze-help              this text
  --incc-cc=NAME              the compiler, with arguments if need be ("ccache gcc")

Every --analyze-… option asks for the analysis; --emit-marked alone writes no report.

environment
  INCC_ANALYZE=1|FILE         as --analyze; reports are added to FILE
  INCC_OUTPUT=FILE|FOLDER     where reports go: added to FILE, or one file for each compilation in FOLDER
  INCC_FORMAT, INCC_MCPU, INCC_FUNCTION, INCC_STRICT
                              as the options; INCC_FUNCTION may name several, with blanks between them
  INCC_CC                     the compiler
  INCC_DEBUG=1                a traceback where the analysis fails
"""


def print_help() -> int:
    """Print the text; returns the exit status."""
    try:
        os.write(1, HELP.encode())
    except OSError:
        return 1
    return 0
