"""The command `incc-model`: list, show, check, measure and import machine models."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from incc.driver import UsageError
from incc.driver.cli import shared
from incc.driver.cli.command import ENVIRONMENT, Command, group
from incc.driver.cli.kinds import Option
from incc.driver.cli.parsers import run
from incc.driver.coverage import CoverageError, RefusedCode, Used, read_assembly, read_hex
from incc.driver.instructions import matching, near
from incc.driver.messages import fail, run_command
from incc.models.importers import SOURCES, importer
from incc.models.loading import find_model, list_models, load, search_places
from incc.models.model import MachineModel, ModelError
from incc.models.notation import form_key

if TYPE_CHECKING:
    import argparse

    from incc.models.importers.common import Imported

OK, FAILED = 0, 1


def _fail(message: str) -> int:
    return fail("incc-model", message, FAILED)


# --- list, show, check -----------------------------------------------------------------------------------------------


def _list(args: argparse.Namespace) -> int:
    if args.names:
        from incc.driver.model_views import show_names

        show_names(args.model_path)
        return OK
    rows = [(m.name, m.isa or "", m.title, ", ".join(m.aliases)) for m in list_models(args.model_path)]
    widths = [max((len(r[c]) for r in rows), default=0) for c in range(3)]
    for name, isa, title, aliases in rows:
        print(f"{name:{widths[0]}}  {isa:{widths[1]}}  {title:{widths[2]}}  {aliases}".rstrip())
    return OK


def _show(args: argparse.Namespace) -> int:
    if not args.mcpu:
        from incc.driver.model_views import show_by_core

        if args.what is None or args.ports:
            raise UsageError("name a core (-mcpu=NAME), or an instruction form")
        if show_by_core(args.what, args.model_path, matching):
            return OK
        models = [load(entry.path, args.model_path) for entry in list_models(args.model_path)]
        return _fail(f"no model has a form that matches {args.what!r}{near(models, args.what)}")
    model = load(args.mcpu, args.model_path)
    if args.ports:
        from incc.driver.model_views import show_ports

        show_ports(model)
        return OK
    if args.what is None:
        _show_model(model)
        return OK
    forms = matching(model, args.what)
    if not forms:
        return _fail(f"{model.name} has no form that matches {args.what!r}{near([model], args.what)}")
    for n, form in enumerate(forms):
        if n:
            print()
        _show_form(model, form)
    return OK


def _show_model(model: MachineModel) -> None:
    print(f"{model.title} ({model.name}; also {', '.join(model.aliases)})" if model.aliases else model.title)
    print(f"isa {model.isa}, {len(list(model.forms()))} forms, version {model.version}")
    for path in model.files:
        print(f"file {os.path.relpath(path)}")
    print(f"ports {', '.join(model.ports)}; resources {', '.join(model.resources) or 'none'}")
    for name, ports in model.functions.items():
        print(f"  {name} = {ports}")
    print("parameters")
    for name, value in sorted(model.stated_parameters.items()):
        text = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        print(f"  {name} = {text if text != '' else 'none'}")
    print("sources")
    for name, text in model.sources.items():
        print(f"  {name}: {text}")


def _show_form(model: MachineModel, form: str) -> None:
    for conditions, fields in model.entries(form):
        figures = model.lookup(form, frozenset(conditions))
        assert figures is not None
        print(form_key(form, conditions))
        uops = " + ".join(f"{n} × {{{ports}}}" for ports, n in figures.uops) or "none"
        print(f"  µops      {uops}; {figures.retire_slots} fused")
        if figures.latency:
            print("  latency   " + ", ".join(f"{s} → {t}: {c}" for t, s, c in figures.latency))
        if figures.divider:
            print(f"  divider   {figures.divider} cycles")
        if figures.throughput:
            print(f"  measured  one in {figures.throughput:g} cycles")
        if figures.breaks_dependency:
            print("  idiom     does not depend on its inputs")
        if figures.fusion:
            print(f"  fuses     {' '.join(model.macro_fusion.get(figures.fusion, ()))}")
        for name, value in figures.attributes.items():
            if value:
                print(f"  {name}" + ("" if value is True else f" {value}"))
        if not conditions or "source" in fields or "derived" in fields:
            origin = figures.source + (f"; derived: {figures.derived}" if figures.derived else "")
            print(f"  source    {origin}")


def _diff(args: argparse.Namespace) -> int:
    from incc.driver.model_views import show_difference, show_disagreements

    if len(args.models) != (1 if args.sources else 2):
        raise UsageError("diff compares two models; with --sources it takes one")
    if args.sources:
        from incc.models.files.source import read_chain

        places = search_places(args.model_path)
        show_disagreements(read_chain(find_model(args.models[0], places), places, find_model), args.forms)
    else:
        left, right = (load(name, args.model_path) for name in args.models)
        show_difference(left, right, args.summary, args.forms)
    return OK


def _coverage(args: argparse.Namespace) -> int:
    from incc.driver.model_views import show_coverage

    model = load(args.mcpu, args.model_path)
    code: list[Used | RefusedCode] = []
    for path in args.files:
        if args.input_format == "asm":
            code += read_assembly(path, model.isa, args.auto)
        else:
            code += read_hex(path, model.isa, args.weighted)
    complete = show_coverage(model, code, args.verbose)
    return FAILED if args.strict and not complete else OK


def _check(args: argparse.Namespace) -> int:
    from incc.models.check import check

    places = search_places(args.model_path)
    names = args.models or [m.name for m in list_models(args.model_path)]
    errors = warnings = 0
    for name in names:
        for finding in check(find_model(name, places), places):
            errors += finding.level == "error"
            warnings += finding.level == "warning"
            if finding.level == "error" or not args.no_warnings:
                print(finding)
    print(f"{len(names)} models: {errors} errors, {warnings} warnings")
    return FAILED if errors else OK


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
    _report(args, done.imported, done.added)
    return OK


def _report(args: argparse.Namespace, imported: Imported, added: int) -> None:
    reasons: dict[str, int] = {}
    for what, why in imported.unmatched:
        reasons[why.partition(":")[0]] = reasons.get(why.partition(":")[0], 0) + 1
        if args.verbose:
            print(f"not used: {what}: {why}")
    for note in imported.notes:
        print(note)
    for skipped in imported.skipped:
        print(f"skipped: {skipped}")
    print(f"{added} forms written to {args.output}, {len(imported.forms) - added} were there already")
    for why, count in sorted(reasons.items()):
        print(f"{count} not used: {why}")
    if imported.skipped:
        print(f"{len(imported.skipped)} malformed records skipped")


# --- options ---------------------------------------------------------------------------------------------------------


def _command(name: str, run: Callable[[argparse.Namespace], int], summary: str, *options: Option) -> Command:
    return Command(name=f"incc-model {name}", summary=summary, groups=(group("", *options),), run=run)


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
        run=lambda options: _import(options, name),
        # Loaded with its importer when they are needed.
        extend=lambda parser: importer(name).add_arguments(parser),
    )


_FORMS = Option("--forms GLOB", "text", "only forms with a matching key", "*")

COMMAND = Command(
    name="incc-model",
    summary="list, show, check, measure and import models of processor cores",
    about=("List, show, check, measure and import machine models.",),
    groups=(group("options", shared.MODEL_PATH),),
    commands=(
        _command(
            "list",
            _list,
            "list the models",
            Option("--names", "flag", "list all names of processors, with their models"),
        ),
        _command(
            "show",
            _show,
            "show a model's parameters, or figures of instruction forms",
            Option(
                "[FORM]",
                "operand",
                "key of a form, pattern with * and ?, mnemonic in either syntax, or instruction with its operands",
                None,
                into="what",
            ),
            shared.mcpu("model or .toml file (default: the figures of every core)"),
            Option("--ports", "flag", "draw the core: front end, window and ports"),
        ),
        _command(
            "diff",
            _diff,
            "compare two models, or the sources of a model",
            Option("MODEL…", "operand", "two models or .toml files; with --sources one", into="models"),
            Option("--sources", "flag", "show figures of the model's sources that are not used"),
            Option("--summary", "flag", "only count the forms that differ, by field"),
            _FORMS,
        ),
        _command(
            "coverage",
            _coverage,
            "count instructions that a model knows, derives or lacks",
            Option("--mcpu NAME", "text", "model or .toml file", aliases=("-mcpu",), required=True),
            shared.one_of("--input-format", ("asm", "hex"), "asm", "asm, or hex: the bytes of a block on each line"),
            Option("--auto", "flag", "read only the innermost loops of assembly files"),
            Option("--weighted", "flag", "take the number after the bytes as a block's weight"),
            Option("--strict", "flag", "exit with status 1 if the model lacks an instruction"),
            Option("--verbose", "flag", "also list derived instructions"),
            Option("FILE…", "operand", into="files"),
        ),
        _command(
            "check",
            _check,
            "look for errors in models",
            Option("[MODEL…]", "operand", "models or .toml files (default: all)", into="models"),
            Option("--no-warnings", "flag", "report only errors"),
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
            Option("--minutes N", "minutes", "stop measuring forms after N minutes (default: no limit)", 0),
            Option("--relative NAME", "text", "model to start from (default: the nearest)"),
        ),
        Command(
            name="incc-model import",
            summary="write or complete a model from measurements or another tool",
            commands=tuple([_source_command(name, summary) for name, (_, summary) in SOURCES.items()]),
        ),
    ),
    environment=ENVIRONMENT,
    status="0; 1 for findings or bad input; 2 for a mistake on the command line",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run(COMMAND, arguments, lambda options: options.run(options), (ModelError, CoverageError), FAILED)


def command() -> int:
    """Run the installed command."""
    return run_command(main)


if __name__ == "__main__":
    sys.exit(command())
