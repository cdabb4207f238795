"""The command `incc-diff`: compare kernels across compilers, flags, cores and commits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from incc.comparison import types as c
from incc.comparison.build import ComparisonSettings, compare
from incc.comparison.level import with_data
from incc.comparison.side import ComparedBuild
from incc.driver import UsageError
from incc.driver.cli import shared
from incc.driver.cli.command import ENVIRONMENT, Command, group
from incc.driver.cli.kinds import Option, check_targets
from incc.driver.cli.parsers import Parser, settings_of
from incc.driver.deliver import Render, write_rendered
from incc.driver.messages import fail, guarded, offenders, run_command, say
from incc.driver.sides.analyse import CODE
from incc.driver.sides.labels import distinct
from incc.driver.sides.read import read_sides
from incc.driver.sides.runs import TOP, check_core, is_recorded, is_run, read_run
from incc.models.memory import ALL
from incc.report.documents import InputError
from incc.report.runs import RunReport
from incc.report.source.places import choice
from incc.support.errors import AnalysisError
from incc.support.files import write_file
from incc.support.progress import progress_shown
from incc.support.text import counted
from incc.support.workers import WorkerError, cpus
from incc.views.comparison.cells import SORTS, ComparisonParts

if TYPE_CHECKING:
    import argparse

OK, FAILED, ERROR = 0, 1, 2

PAGE_KERNELS = 2000
"""Most kernels with instructions in a page; each takes a kilobyte or two."""

COMMAND = Command(
    name="incc-diff",
    summary="compare the kernels of several builds, compilers or cores",
    usage=("incc-diff [options] A B [C …]", "incc-diff [options] --run COMPILER… -- ARGS"),
    about=(
        "Compare the kernels of several builds: which became faster or slower, and why. Each kernel is compared with "
        "the first build that has it. An input is a report, a folder of reports, a dataset of incc-scan, a database "
        "(FILE.db, or FILE.db@NAME for a baseline or a commit), or code: sources, assembly, objects, libraries, "
        "programs; - is standard input. "
        "Two runs of programs with probes are compared as well: reports of incc-run, or what probes recorded. A "
        f"source is compiled: {shared.COMPILED}",
    ),
    groups=(
        group(
            "what to compare",
            Option("[INPUT…]", "operand", into="inputs"),
            Option(
                "--baseline DB[@NAME]",
                "text",
                "first input: a baseline or commit of a database (docs/database.md)",
                None,
            ),
            Option(
                "--run COMPILER…",
                "text",
                "compile the command after -- with each of these compilers, without output",
                None,
            ),
            Option(
                "--flags FLAGS",
                "texts",
                "with --run: add flags; each use makes a variant: --flags='-O3 -ffast-math' (repeatable)",
            ),
            shared.mcpu(
                "core, or cores separated by commas, to analyse code for (default: the host; with --run: the "
                "command's target)"
            ),
            shared.function("compare", sets="scope.functions"),
            shared.MODEL_PATH,
            shared.TRUST_INCLUDES,
            shared.MAX_SECONDS,
            shared.MAX_MEMORY,
            replace(
                shared.DATA,
                syntax="--data L1|L2|L3|memory|SIZE",
                help="compare loops whose data are in this level, or of this size, such as 64M (default: L1)",
            ),
            shared.CORES,
            shared.LET,
            shared.jobs("compile, analyse and match"),
        ),
        group(
            "what to show",
            shared.where("show only kernels that meet this condition: 'cycles_b > 1.1*cycles_a'", "condition of pairs"),
            Option(
                "--fail-if CONDITION",
                "condition of pairs",
                "list the kernels that meet this condition, and exit with 1 if there are any: 'cycles > +5%'",
                None,
            ),
            Option("--all", "flag", "include unchanged kernels, and show lists in full"),
            shared.top("rows", "100, in Markdown 20"),
            shared.one_of("--sort", SORTS, "weight", "order of the rows"),
            Option("--detail", "flag", "show figures and causes of every row"),
            Option(
                "--side-by-side[=FUNCTION[:LINE]]",
                "texts",
                "show assembly side by side, for all rows or these functions (repeatable)",
                None,
            ),
        ),
        group(
            "what to write",
            *shared.formats("text", "markdown", "json"),
            shared.OUTPUT,
            shared.HTML,
            Option("--junit FILE", "file", "write JUnit XML with a test per kernel, failed if --fail-if applies", None),
            Option(
                "--github",
                "flag",
                "print GitHub workflow annotations: errors if --fail-if applies, else warnings for slower kernels",
            ),
        ),
    ),
    examples=(
        "incc-diff old.json new.json                        reports of incc, incc-mca or incc-scan",
        "incc-diff build-old/reports build-new/reports      folders of reports (INCC_OUTPUT of two builds)",
        "incc-diff old/libm.so new/libm.so --mcpu=znver4    code",
        "incc-diff run-a.json run-b.json                    what loops took in two runs: reports of incc-run --json",
        "incc-diff kernel.s --mcpu=skylake,znver4           the same code on two cores",
        "incc-diff old/foo.c new/foo.c                      sources",
        "incc-diff --run gcc-11 gcc-12 clang-19 -- -O3 -march=skylake-avx512 foo.c",
        "incc-diff --run gcc --flags=-O2 --flags='-O3 -funroll-loops' -- foo.c",
        "incc-diff --baseline=perf.db@main new.json --fail-if 'cycles > +5%' --junit=perf.xml --github",
        "incc-diff old.json new.json --side-by-side=gemm:120",
        "incc-diff old.json new.json --where 'cycles_b > 1.1*cycles_a and function like \"gemm*\"' --format=markdown",
    ),
    environment=ENVIRONMENT,
    status="0; 1 if --fail-if holds for a kernel, --function matches nothing, or one of several inputs cannot be read "
    "or compiled; 2 for a mistake on the command line, fewer than two inputs that can be compared, or output that "
    "cannot be written",
    abbreviations=False,
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    return guarded("incc-diff", lambda: _run(given), (InputError, AnalysisError, WorkerError), ERROR, prints=False)


def _run(arguments: Sequence[str]) -> int:
    options, compiled = _options(arguments)
    if options.run is None and any(is_run(name) or is_recorded(name) for name in options.inputs):
        return _compare_runs(options)
    _check(options, compiled)
    wanted = _wanted(options)
    show = _show(options)
    with progress_shown():
        sides = _sides(options, compiled)
        if len(sides) < 2:
            raise InputError(f"{sides[0].info.input}: only one core to compare; name a second input")
        comparison = compare(sides, wanted, options.jobs or cpus())
    failures = _deliver(comparison, options, show)
    for failure in failures:
        fail("incc-diff", failure, ERROR)
    status = _status(comparison, bool(failures))
    if status == OK and options.function and not options.where and not comparison.rows:
        return fail("incc-diff", f"no kernel of a function named {' or '.join(options.function)}", FAILED)
    return status


def _compare_runs(options: argparse.Namespace) -> int:
    """Compare two runs of programs with probes."""
    from incc.comparison.runs import compare_runs
    from incc.views.running.difference import render

    inputs = _inputs(options)
    if len(inputs) != 2:
        raise UsageError(f"two runs are compared, not {len(inputs)}")
    unset = vars(Parser(COMMAND).parse_args([]))
    for name, value in vars(options).items():
        if value != unset[name] and name not in _FOR_RUNS:
            raise UsageError(f"--{name.replace('_', '-')} does not apply to runs of programs with probes")
    check_core(options.mcpu, options.model_path)
    targets = [("-o", options.output), ("--html", options.html)]
    check_targets([(option, file) for option, file in targets if file], inputs)
    # Which run of a database is compared depends on the other one.
    runs: dict[int, RunReport] = {}
    problems: list[str] = []
    for n in sorted((0, 1), key=lambda n: not (is_run(inputs[n]) or is_recorded(inputs[n]))):
        runs[n], unread = read_run([inputs[n]], options.mcpu, options.model_path, like=runs.get(1 - n))
        problems += unread
    comparison = compare_runs(runs[0], runs[1])
    write_rendered(options.output, partial(render, comparison, options.format, top=options.top or TOP))
    if options.html:
        write_rendered(options.html, partial(render, comparison, "html", top=0))
    for problem in problems:
        fail("incc-diff", problem, ERROR)
    return FAILED if problems else OK


_FOR_RUNS = frozenset(("inputs", "baseline", "output", "format", "html", "mcpu", "model_path", "top"))
"""The options that apply to runs."""

_say = partial(say, "incc-diff")


# --- options ----------------------------------------------------------------------------------------------------------


def _options(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Parse the options; with --run, the arguments after `--` are the compiler's, else they are inputs."""
    arguments = list(arguments)
    rest: list[str] = []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, rest = arguments[:at], arguments[at + 1 :]
    # An input after --side-by-side is not its value.
    arguments = ["--side-by-side=" if text == "--side-by-side" else text for text in arguments]
    options = Parser(COMMAND).parse_args(arguments)
    if options.run is None:
        options.inputs += rest
        return options, []
    return options, rest


def _check(options: argparse.Namespace, compiled: Sequence[str]) -> None:
    """Raise UsageError for options that cannot be combined, before anything is read."""
    inputs = _inputs(options)
    if options.run is None:
        if options.flags:
            raise UsageError("--flags requires --run")
        cores = len(set(_cores(options)))
        if len(inputs) < 2 and (not inputs or cores < 2):
            raise UsageError(
                "only one input; name another one, or two cores (--mcpu=A,B)"
                if inputs
                else "no inputs; name two, or use --run COMPILER… -- ARGS"
            )
        if inputs.count("-") > 1:
            raise UsageError("standard input can be read only once")
    else:
        if options.inputs:
            raise UsageError(f"--run needs its sources after --, but {options.inputs[0]!r} is before it")
        if not compiled:
            raise UsageError("--run needs a command after --, as in: incc-diff --run gcc clang -- -O3 foo.c")
        count = len(set(options.run)) * len(options.flags or [""]) * len(set(_cores(options)))
        if count + len(inputs) < 2:
            raise UsageError("only one compilation to compare; name more compilers, --flags or cores (--mcpu=A,B)")
    if len(options.data) > 1 or ALL in options.data:
        raise UsageError("--data takes one level or size to compare")
    targets = [("-o", options.output), ("--html", options.html), ("--junit", options.junit)]
    named = [(option, file) for option, file in targets if file]
    if named:
        # All arguments of the compiler count as files, which is harmless.
        check_targets(named, [*inputs, *(text.partition("@")[0] for text in inputs), *compiled])


def _inputs(options: argparse.Namespace) -> list[str]:
    return [*([options.baseline] if options.baseline is not None else []), *options.inputs]


def _cores(options: argparse.Namespace) -> list[str]:
    return [name for name in options.mcpu.split(",") if name] or [""]


def _wanted(options: argparse.Namespace) -> ComparisonSettings:
    """Return the contents of the comparison."""
    # --side-by-side needs the assembly of all kernels, a page only that of the first.
    everything = options.side_by_side is not None
    page = options.html is not None and not everything
    return ComparisonSettings(
        where=options.where,
        fail_if=options.fail_if,
        assembly=everything or page,
        enough=PAGE_KERNELS if page else None,
    )


def _show(options: argparse.Namespace) -> ComparisonParts:
    """Return the parts of the text output. Raises UsageError for an invalid place."""
    choices = None
    if options.side_by_side is not None:
        try:
            choices = tuple(choice(text) for text in options.side_by_side if text)
        except ValueError as error:
            raise UsageError(f"--side-by-side {error}") from None
    return ComparisonParts(
        everything=options.all, top=options.top, detail=options.detail, sort=options.sort, side_by_side=choices
    )


# --- input ------------------------------------------------------------------------------------------------------------


def _sides(options: argparse.Namespace, compiled: Sequence[str]) -> list[ComparedBuild]:
    """Read or compile the builds to compare. Raises InputError."""
    cores = list(dict.fromkeys(name for name in _cores(options) if name))
    jobs = options.jobs or cpus()
    settings = settings_of(COMMAND, options, CODE)
    sides = read_sides(_inputs(options), settings.on(",".join(cores)), jobs) if _inputs(options) else []
    problems = [side.info.problem for side in sides if side.info.problem]
    without_baseline = options.baseline is not None and sides[0].info.problem
    if problems and (without_baseline or (options.run is None and len(sides) - len(problems) < 2)):
        raise InputError("\n".join(dict.fromkeys(problems)))
    _say_of_other_cores(sides, cores, options.model_path)
    if options.run is not None:
        from incc.driver.sides.variants import run_variants, variants

        wanted = variants(list(dict.fromkeys(options.run)), list(options.flags) or [""], cores, list(compiled))
        sides += run_variants(wanted, settings, jobs)
    if options.data:
        sides = [with_data(side, options.data[0]) for side in sides]
    # Labels of inputs and of variants may coincide.
    labels = distinct([side.info.label for side in sides])
    return [replace(side, info=replace(side.info, label=label)) for label, side in zip(labels, sides, strict=True)]


def _say_of_other_cores(sides: Sequence[ComparedBuild], cores: Sequence[str], model_path: Sequence[str]) -> None:
    """Print a note for each report of another core than --mcpu, which affects only code."""
    if not cores:
        return
    from incc.driver.pipeline import choose_model

    wanted = {choose_model(core, "", model_path).model.name for core in cores}
    for side in sides:
        names = [model.name for model in side.info.models]
        if names and not wanted.intersection(names):
            _say(f"note: {side.info.label}: --mcpu does not apply to this report of {', '.join(names)}")


# --- output -----------------------------------------------------------------------------------------------------------


def _deliver(comparison: c.ComparisonReport, options: argparse.Namespace, show: ComparisonParts) -> list[str]:
    """Write all requested files, and return messages for those that could not be written."""
    failures = []

    def attempt(what: str, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            failures.append(f"{what} could not be written: {error.strerror}")

    def write(path: str | None, render: Render) -> None:
        attempt(path or "the comparison", lambda: write_rendered(path, render))

    write(options.output, lambda width, colour: _rendered(comparison, options.format, show, width, colour))
    if options.html:
        from incc.views.comparison import page

        write(options.html, lambda width, colour: page.render(comparison))
    if options.junit:
        from incc.views.exchange import junit

        attempt(options.junit, lambda: write_file(options.junit, junit.render(comparison)))
    if options.github:
        from incc.views.exchange import annotations

        attempt("annotations", lambda: write_rendered(None, lambda width, colour: annotations.render(comparison)))
    return failures


def _rendered(comparison: c.ComparisonReport, kind: str, show: ComparisonParts, width: int, colour: bool) -> str:
    if kind == "json":
        from incc.views.json import render as render_json

        return render_json(comparison)
    if kind == "markdown":
        from incc.views.comparison import markdown

        return markdown.render(comparison, show)
    from incc.views.comparison import text

    return text.render(comparison, width, colour, show)


def _status(comparison: c.ComparisonReport, undelivered: bool) -> int:
    """Return the exit status, and print the reasons for it to standard error."""
    problems = [side for side in comparison.sides if side.problem]
    for side in problems:
        # A message on an input names it.
        named = side.variant is None or side.problem.startswith(f"{side.label}: ")
        _say(f"error: {side.problem if named else f'{side.label}: {side.problem}'}")
    gate = comparison.gate
    if gate and gate.offenders:
        _say(offenders(gate.condition, [comparison.rows[offender.row].name for offender in gate.offenders]))
    if gate and (passed := _not_comparable(comparison, gate)):
        _say(f'note: {counted(passed, "kernel")} passed as not comparable; to fail them, add: or outcome == "unknown"')
    if undelivered or len(comparison.sides) - len(problems) < 2:
        return ERROR
    return FAILED if problems or (gate and gate.offenders) else OK


def _not_comparable(comparison: c.ComparisonReport, gate: c.ComparisonGate) -> int:
    """Return the number of kernels that cannot be compared and do not fail the condition."""
    failing = {offender.row for offender in gate.offenders}
    return sum(
        number not in failing and any(change and change.outcome == "unknown" for change in row.changes)
        for number, row in enumerate(comparison.rows)
    )


def command() -> int:
    """Run the installed command."""
    return run_command(main)


if __name__ == "__main__":
    sys.exit(command())
