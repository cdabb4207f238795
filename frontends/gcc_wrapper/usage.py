"""The text of `incc --analyze-help`."""

from __future__ import annotations

import os

HELP = """\
usage: incc ARGS…

Runs the compiler with ARGS, and with --analyze reports on the innermost loops of what was compiled: how many cycles
an iteration takes, and what bounds it. Without any of the options below (or INCC_ANALYZE) it only runs the compiler.

The compiler is $INCC_CC, else --incc-cc=NAME, else what incc was called by (a link incc-gcc, incc-clang++-19,
incc-gfortran … to incc), else cc.

what to write; each FILE may be a folder, which gets a file for each compilation
  --analyze[=FILE]            the report, to FILE or standard output (standard error if the compiler writes to that)
  --analyze-format=text|json  the report's format (text)
  --analyze-graph=FILE.dot    the dependency graphs, in Graphviz's language (also: --analyze-dg)
  --analyze-cfg=FILE.dot      the control-flow graphs of the functions with loops
  --analyze-html=FILE.html    the timeline as a page for the browser
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
  --analyze-simulate=false    bounds alone
  --analyze-strict            an analysis that fails is an error (exit status 1), not a warning

what to show, beside what is shown anyway
  --analyze-timeline=N        how many iterations the timeline shows (2), 0 for none
  --analyze-timeline-max-cycles=N
                              cut it after N cycles (80)
  --analyze-wait-view         who waits for whom, in the simulation
  --analyze-detail=LINE       the same for the instructions of that line of the source, with each partner and port;
                              FILE:LINE for a line of a header, or of the assembly that the report names
  --analyze-perfect-front-end, --analyze-unlimited-ports, --analyze-no-dependencies[=register|memory]
                              also simulate the core so changed; several: each alone and all together
  --analyze-what-if=CHANGE    the same for a change like 'port 5 += 1', 'rob = 512' or 'latency VADDPD = 3'; may be
                              given several times
  --analyze-loop=N            cycles of exactly N iterations from a cold start; 1: the latency of one pass
  --analyze-alignment=N|all   simulate with a loop's first byte at N within 64 bytes, or with all 64
  --analyze-branch            a table of the sides of the first branch inside each loop
  --analyze-paths             a table of the ways through each loop with branches inside, up to 16
  --analyze-branch-probability=P
                              how likely a branch is not taken, 0 to 1, to weight them (default: sides alike)
  --analyze-iterations=N      iterations that the summary counts (100)
  --analyze-summary-view, --analyze-instruction-info, --analyze-resource-pressure, --analyze-dependency-view
                              on unless switched off with =false
  --analyze-all-views[=false] every view, or only those named

  --analyze-help              this text
  --incc-cc=NAME              the compiler, with arguments if need be ("ccache gcc")

Every --analyze-… option asks for the analysis; --emit-marked alone writes no report.

environment
  INCC_ANALYZE=1|FILE         as --analyze; reports are added to FILE
  INCC_OUTPUT=FILE|FOLDER     where reports go: added to FILE, or one file for each compilation in FOLDER
  INCC_FORMAT, INCC_MCPU, INCC_FUNCTION, INCC_STRICT
                              as the options; INCC_FUNCTION may name several, with blanks between them
  INCC_OPTIONS                more of the options above, with blanks between them and quotes as in a shell; they say
                              how to analyse, not that
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
