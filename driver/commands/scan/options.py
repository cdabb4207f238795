"""The command line of incc-scan."""

from __future__ import annotations

from incc.driver.cli import shared
from incc.driver.cli.command import ENVIRONMENT, Command, group
from incc.driver.cli.kinds import Option
from incc.driver.cli.shared import COMPILED

FORMATS = ("text", "json", "reports", "cycles")

COMMAND = Command(
    name="incc-scan",
    summary="analyse the loops of many files",
    about=(
        "Analyse the loops of objects, folders, assembly files or a project, or blocks of machine code. Sources are "
        f"compiled: {COMPILED}",
    ),
    groups=(
        group(
            "options",
            Option(
                "[FILE…]",
                "operand",
                "input files, or folders and archives to search for objects, libraries and programs (default: -, "
                "standard input); a compile_commands.json as with -p; with -p: the sources to analyse (default: all)",
                into="files",
            ),
            Option(
                "-p FILE|FOLDER",
                "text",
                "analyse the commands of a compile_commands.json (or of the folder with it), without a build",
                None,
                into="project",
            ),
            Option("--trust", "flag", "with -p: also run compilers outside PATH, and allow options that run programs"),
            Option("--reports FOLDER", "text", "with -p: also write a report of each source to a folder, as incc does"),
            Option(
                "--cluster ADDRESS|local[:N]",
                "text",
                "have the workers of a Dask scheduler do the work, or N workers that are started on this machine",
            ),
            Option(
                "--input-format hex|asm|obj",
                "choice",
                "hex: at the start of each line a block of machine code, a loop if it ends in a jump to its start; "
                "asm: marked regions or innermost loops of assembly; obj: loops of objects (default: what each file "
                "looks like)",
            ),
            shared.mcpu(
                "core, or cores separated by commas, or all (default: the host; with -p: each command's target)"
            ),
            shared.MODEL_PATH,
            shared.TRUST_INCLUDES,
            shared.MAX_SECONDS,
            shared.MAX_MEMORY,
            shared.function("analyse", sets="scope.functions"),
            *shared.formats(
                *FORMATS,
                help="text: a table of the kernels of each file; json: on each line a kernel on a core, with the "
                "columns of a dataset; reports: on each line a report as JSON; cycles: on each line a block or kernel "
                "and its cycles, with --measure also those measured",
            ),
            Option(
                "-o FILE|FOLDER",
                "output",
                "write to a file; or without --format a dataset to a folder: one that exists, or a name without ending",
                None,
                into="output",
            ),
            Option("--resume", "flag", "with -o FOLDER: continue a scan that was interrupted"),
            Option(
                "--show HASH", "text", "print kernels of the dataset FILE as JSON: those with this hash or content_hash"
            ),
            Option(
                "--input-seconds N",
                "count",
                "leave out an input that takes longer (default: 600; 0: no limit)",
                600,
            ),
            Option(
                "--input-memory SIZE",
                "bytes",
                "leave out an input that makes a process take more memory (default: 4G; 0: no limit)",
                4 << 30,
            ),
            Option(
                "--bounds",
                "flag",
                "do not simulate: predict the largest bound",
                True,
                sets="kernel.simulate",
                into="simulate",
            ),
            shared.where("show kernels that meet a condition on any core, as in 'cycles > 1.1*bound and flop > 0'"),
            shared.top("kernels of all files, those with the most to gain"),
            shared.DATA,
            shared.CORES,
            shared.LET,
            shared.CLOCK,
            Option("--measure", "flag", "also run the kernels on this machine and report the cycles they take"),
            shared.UNSAFE,
            shared.jobs("analyse", "; 1 with --measure"),
        ),
    ),
    hidden=(Option("--output FORMAT|FILE", "file", into="former_output", default=None),),
    environment=ENVIRONMENT,
    status="0; 1 if some of the input could not be analysed; 2 for a mistake on the command line, or an output that "
    "cannot be written",
)
