"""The command `incc-model`: list, show, check, measure and import machine models."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from incc.driver import UsageError, model_views
from incc.driver.cli import shared
from incc.driver.cli.command import ENVIRONMENT, Command, group
from incc.driver.cli.kinds import Option
from incc.driver.cli.parsers import run
from incc.driver.cores import named_cores
from incc.driver.coverage import CoverageError, RefusedCode, Used, measure, read_assembly, read_hex
from incc.driver.deliver import write_rendered
from incc.driver.instructions import matching, near
from incc.driver.messages import fail, run_command, tell_printable
from incc.driver.model_views import by_core
from incc.models.importers import SOURCES, importer
from incc.models.loading import find_model, list_models, load, search_places
from incc.models.model import MachineModel, ModelError
from incc.report.instructions import SORTS, InstructionTable, instruction_table
from incc.support.text import counted
from incc.views.instructions import lines as instruction_lines
from incc.views.layout import Layout, harmless

if TYPE_CHECKING:
    import argparse

    from incc.models.importers.merge import Merged

OK, FAILED = 0, 1


def _fail(message: str) -> int:
    return fail("incc-model", message, FAILED)


def _write(args: argparse.Namespace, lines: Callable[[Layout], Iterable[str]], document: Callable[[], Any]) -> None:
    """Write lines, or a document as JSON, to the output. Raises OSError, which names the file."""

    def render(width: int, colour: bool) -> str:
        if args.format == "json":
            from incc.views.json import render as render_json

            return render_json(document())
        return "".join(f"{harmless(line, colour)}\n" for line in lines(Layout(width, colour)))

    write_rendered(args.output, render)


# --- list, check ------------------------------------------------------------------------------------------------------


def _list(args: argparse.Namespace) -> int:
    if args.names:
        rows = model_views.names(args.model_path)
        _write(args, lambda _: model_views.table(rows), lambda: {"rows": rows})
        return OK
    models = list_models(args.model_path)
    rows = [[m.name, m.isa or "", m.title, ", ".join(m.aliases)] for m in models]
    _write(args, lambda _: model_views.table(rows), lambda: {"rows": models})
    return OK


def _check(args: argparse.Namespace) -> int:
    from incc.models.check import check

    places = search_places(args.model_path)
    names = args.models or [m.name for m in list_models(args.model_path)]
    findings = [finding for name in names for finding in check(find_model(name, places), places)]
    errors = sum(finding.level == "error" for finding in findings)
    warnings = sum(finding.level == "warning" for finding in findings)
    shown = [finding for finding in findings if finding.level == "error" or not args.no_warnings]
    summary = f"{counted(len(names), 'model')}: {counted(errors, 'error')}, {counted(warnings, 'warning')}"
    _write(args, lambda _: [*map(str, shown), summary], lambda: {"models": len(names), "rows": shown})
    return FAILED if errors else OK


# --- show -------------------------------------------------------------------------------------------------------------


def _show(args: argparse.Namespace) -> int:
    in_words = args.ports or args.detail
    if in_words and args.format != "text":
        raise UsageError(f"{'--ports' if args.ports else '--detail'} and --format={args.format} cannot be combined")
    models, pattern, no_core = _shown_models(args)
    select = partial(matching, what=pattern) if pattern else _all_forms
    forms = [form for model in models for form in select(model)]
    if not forms:
        owner = f"{models[0].name} has no" if len(models) == 1 else "no model has a"
        if similar := near(models, pattern):
            return _fail(f"{owner} form that matches {pattern!r}{similar}")
        return _fail(no_core if "did you mean" in no_core else f"{owner} form that matches {pattern!r}")
    in_words = in_words or (not pattern and args.format == "text")
    if in_words:
        parts = [part for model in models for part in _parts(args, model, forms if pattern else [])]
        _write(args, lambda layout: _separated(part(layout) for part in parts), dict)
    if not in_words or args.html:
        _show_table(args, instruction_table(models, forms, pattern, args.sort, args.top), not in_words)
    return OK


def _all_forms(model: MachineModel) -> list[str]:
    return sorted(model.forms())


def _show_table(args: argparse.Namespace, table: InstructionTable, printed: bool) -> None:
    """Write a table of instructions to the output, unless only the page is wanted, and to the page."""
    pages = [args.output] * (args.format == "html") + [args.html] * bool(args.html)
    for path in pages:
        from incc.views.instructions import page

        write_rendered(path, lambda width, colour: page.render(table))
    if printed and args.format != "html":
        _write(args, lambda layout: _table_lines(table, layout), lambda: table)


def _table_lines(table: InstructionTable, layout: Layout) -> Iterable[str]:
    """Return a table with its cores side by side, if there are few and their columns have room."""
    if len(table.cores) > MOST_BESIDE:
        return by_core(table, layout)
    lines = list(instruction_lines(table, layout))
    too_wide = layout.width and any(len(line) > layout.width or "…" in line for line in lines)
    return by_core(table, layout) if too_wide and len(table.cores) > 1 else lines


def _parts(
    args: argparse.Namespace, model: MachineModel, forms: Iterable[str]
) -> Iterator[Callable[[Layout], Iterable[str]]]:
    """Yield the parts of the text on a core that is no table."""
    if args.ports:
        yield partial(model_views.port_lines, model)
    elif not forms:
        yield lambda _: model_views.model_lines(model)
    else:
        for form in dict.fromkeys(forms):
            if model.entries(form):
                yield partial(_form_lines, model, form)


def _form_lines(model: MachineModel, form: str, _: Layout) -> Iterator[str]:
    return model_views.form_lines(model, form)


MOST_BESIDE = 3
"""Most cores that a table of instructions has side by side; more have a row each below the instruction."""


def _shown_models(args: argparse.Namespace) -> tuple[list[MachineModel], str, str]:
    """Return the models to show, the pattern of instructions ("" for none), and why a lone operand is no core.

    A lone operand names cores, or else it is a pattern for every core. Raises UsageError and ModelError.
    """
    no_core = ""
    cores, pattern = args.core, args.pattern
    if args.mcpu:
        if pattern is not None:
            raise UsageError("name the cores either with --mcpu or before the pattern")
        cores, pattern = args.mcpu, args.core
    elif cores is None:
        raise UsageError("name a core, or a pattern of instructions, as in: incc-model show skylake 'vfmadd*pd ymm*'")
    try:
        models = [load(name, args.model_path) for name in dict.fromkeys(named_cores(cores))]
        if not models:
            raise UsageError(f"no core in {cores!r}")
    except ModelError as error:
        if args.mcpu or pattern is not None or args.ports:
            raise
        pattern, no_core = cores, str(error)
        models = [load(entry.path, args.model_path) for entry in list_models(args.model_path)]
    return models, pattern or "", no_core


def _separated(parts: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of each part, with an empty line between parts."""
    for n, part in enumerate(parts):
        yield from [""] * bool(n)
        yield from part


# --- diff, coverage ---------------------------------------------------------------------------------------------------


def _diff(args: argparse.Namespace) -> int:
    if len(args.models) != (1 if args.sources else 2):
        raise UsageError("diff compares two models; with --sources it takes one")
    if args.sources:
        from incc.models.files.source import read_chain

        places = search_places(args.model_path)
        chain = read_chain(find_model(args.models[0], places), places, find_model)
        tables = model_views.disagreements(chain, args.forms)
        _write(args, lambda _: model_views.disagreement_lines(tables), lambda: tables)
        return OK
    from incc.models.compare import compare

    left, right = (load(name, args.model_path) for name in args.models)
    difference = compare(left, right).matching(args.forms)
    names = left.name, right.name
    _write(
        args,
        lambda _: model_views.difference_lines(difference, names, args.summary),
        lambda: model_views.difference_document(difference, names),
    )
    return OK


def _coverage(args: argparse.Namespace) -> int:
    model = load(args.mcpu, args.model_path)
    code: list[Used | RefusedCode] = []
    for path in args.files:
        if args.input_format == "asm":
            code += read_assembly(path, model.isa, args.auto)
        else:
            code += read_hex(path, model.isa, args.weighted)
    coverage = measure(model, [each for each in code if isinstance(each, Used)])
    refused = [each for each in code if isinstance(each, RefusedCode)]
    _write(
        args,
        lambda _: model_views.coverage_lines(model.name, coverage, args.verbose),
        lambda: {"model": model.name, "coverage": coverage, "refused": refused},
    )
    for each in refused:
        tell_printable(f"{each.place}: {each.message}\n")
    return FAILED if args.strict and (coverage.lacking or refused) else OK


def _make(args: argparse.Namespace) -> int:
    from incc.driver.commands import make_host

    return make_host.run(args)


# --- import ----------------------------------------------------------------------------------------------------------


def _import(args: argparse.Namespace, source: str) -> int:
    from incc.models.importers.common import ImportFailed
    from incc.models.importers.merge import import_into

    try:
        done = import_into(args.output, source, args, args.forms, args.model_path)
    except ImportFailed as e:
        _fail(str(e))
        return _fail(f"{args.output} is unchanged")
    _report(args, done)
    return OK


def _report(args: argparse.Namespace, done: Merged) -> None:
    imported = done.imported
    reasons: dict[str, int] = {}
    for what, why in imported.unmatched:
        reasons[why.partition(":")[0]] = reasons.get(why.partition(":")[0], 0) + 1
        if args.verbose:
            print(harmless(f"not used: {what}: {why}", False))
    for note in imported.notes:
        print(harmless(note, False))
    for skipped in imported.skipped:
        print(harmless(f"skipped: {skipped}", False))
    completed = f", {counted(done.completed, 'form')} completed" if done.completed else ""
    there = len(imported.forms) - done.added
    print(f"{counted(done.added, 'form')} written to {args.output}, {there} were there already{completed}")
    for why, count in sorted(reasons.items()):
        print(f"{count} not used: {why}")
    if imported.skipped:
        print(f"{len(imported.skipped)} malformed records skipped")


# --- options ---------------------------------------------------------------------------------------------------------


def _command(name: str, run: Callable[[argparse.Namespace], int], summary: str, *options: Option) -> Command:
    everywhere = (shared.MODEL_PATH,)
    return Command(
        name=f"incc-model {name}", summary=summary, groups=(group("", *options),), everywhere=everywhere, run=run
    )


def _source_command(name: str, summary: str) -> Command:
    return Command(
        name=f"incc-model import {name}",
        summary=summary,
        groups=(
            group(
                "",
                Option(
                    "-o OUT",
                    "text",
                    "model file; its header is kept",
                    aliases=("--output",),
                    into="output",
                    required=True,
                ),
                Option("--fill", "flag", "keep the forms in OUT, and add those that it lacks", excludes="kept"),
                Option("--prefer", "flag", "keep the forms in OUT that the source lacks", excludes="kept"),
                Option(
                    "--compare",
                    "flag",
                    "keep the forms in OUT, and note the source's figures that differ",
                    excludes="kept",
                ),
                _FORMS,
                Option("--keep-going", "flag", "skip malformed records and count them"),
                Option("--verbose", "flag", "list the records that are not used"),
            ),
        ),
        everywhere=(shared.MODEL_PATH,),
        run=lambda options: _import(options, name),
        # Loaded with its importer when they are needed.
        extend=lambda parser: importer(name).add_arguments(parser),
    )


_WRITTEN = (*shared.formats("text", "json"), shared.OUTPUT)
_FORMS = Option("--forms GLOB", "text", "compare only forms with a matching key", "*")

COMMAND = Command(
    name="incc-model",
    summary="list, show, check, measure and import models of processor cores",
    about=("List, show, check, measure and import machine models.",),
    everywhere=(shared.MODEL_PATH,),
    commands=(
        _command(
            "list",
            _list,
            "list the models",
            Option("--names", "flag", "list all names of processors, with their models"),
            *_WRITTEN,
        ),
        _command(
            "show",
            _show,
            "show a model, or tables of its instructions",
            Option("[CORE]", "operand", "model or .toml file, or several separated by commas", None, into="core"),
            Option(
                "[PATTERN]",
                "operand",
                "instructions: a mnemonic or an instruction in either syntax, kinds of operands ('imul r64, m'), a "
                "pattern with * and ? ('vfmadd*pd ymm*'), or a form's key; without CORE on every core",
                None,
                into="pattern",
            ),
            shared.mcpu("the cores, in place of CORE"),
            shared.one_of("--sort", SORTS, SORTS[0], "order of the instructions; figures begin with the largest"),
            shared.top("instructions"),
            Option("--detail", "flag", "show the complete description of each instruction, instead of a table"),
            Option("--ports", "flag", "draw the core: front end, window and ports"),
            *shared.formats("text", "json", "html", help="output format; without PATTERN, json and html have all"),
            shared.OUTPUT,
            shared.HTML,
        ),
        _command(
            "diff",
            _diff,
            "compare two models, or the sources of a model",
            Option("MODEL…", "operand", "two models or .toml files; with --sources one", into="models"),
            Option("--sources", "flag", "show figures of the model's sources that are not used"),
            Option("--summary", "flag", "only count the forms that differ, by field"),
            _FORMS,
            *_WRITTEN,
        ),
        _command(
            "coverage",
            _coverage,
            "count instructions that a model knows, derives or lacks",
            replace(shared.mcpu("model or .toml file"), required=True),
            shared.one_of("--input-format", ("asm", "hex"), "asm", "asm, or hex: the bytes of a block on each line"),
            Option("--auto", "flag", "read only the innermost loops of assembly files"),
            Option("--weighted", "flag", "take the number after the bytes as a block's weight"),
            Option("--strict", "flag", "exit with status 1 if the model lacks an instruction"),
            Option("--verbose", "flag", "also list derived instructions"),
            Option("FILE…", "operand", into="files"),
            *_WRITTEN,
        ),
        _command(
            "check",
            _check,
            "look for errors in models",
            Option("[MODEL…]", "operand", "models or .toml files (default: all)", into="models"),
            Option("--no-warnings", "flag", "report only errors"),
            *_WRITTEN,
        ),
        _command(
            "make",
            _make,
            "measure this processor and write a model of it",
            Option("host", "operand", "this processor", into="what"),
            Option(
                "-o FILE", "text", "model file (default: host.toml)", "host.toml", aliases=("--output",), into="output"
            ),
            Option(
                "--resume FOLDER", "text", "folder for measurements (default: FILE with .measured instead of .toml)"
            ),
            Option("--quick", "flag", "run fewer probes, and measure only the forms of the hundred loops"),
            shared.UNSAFE,
            Option("--minutes N", "minutes", "stop measuring forms after N minutes (default: no limit)", 0),
            Option("--relative NAME", "text", "model to start from (default: the nearest)"),
        ),
        Command(
            name="incc-model import",
            everywhere=(shared.MODEL_PATH,),
            summary="write or complete a model from measurements or another tool",
            commands=tuple([_source_command(name, summary) for name, (_, summary) in SOURCES.items()]),
        ),
    ),
    environment=ENVIRONMENT,
    status="0; 1 for findings or bad input; 2 for a mistake on the command line, or an output that cannot be written",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run(COMMAND, arguments, lambda options: options.run(options), (ModelError, CoverageError), FAILED)


def command() -> int:
    """Run the installed command."""
    return run_command(main)


if __name__ == "__main__":
    sys.exit(command())
