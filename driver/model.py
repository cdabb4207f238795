"""`incc-model`: lists, shows, checks and imports machine models."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from incc.driver.parsers import Parser
from incc.models.forms.rules import rules_of
from incc.models.importers import SOURCES, importer
from incc.models.loading import find_model, list_models, load, search_places
from incc.models.model import MachineModel, ModelError
from incc.models.notation import form_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.driver.coverage import Refused, Used
    from incc.models.importers.common import Imported

OK, FAILED, USAGE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status: 0 done, 1 findings or bad input, 2 wrong usage."""
    parser = _parser()
    args = parser.parse_args(arguments)
    if not args.command:
        parser.print_usage(sys.stderr)
        return USAGE
    try:
        if sys.stdout is None:  # closed when we were started
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        status: int = args.run(args)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader (head, less) has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except ModelError as e:
        print(f"incc-model: {e}", file=sys.stderr)
        return FAILED
    except OSError as e:
        print(f"incc-model: {e.filename or 'the output could not be written'}: {e.strerror}", file=sys.stderr)
        if e.filename is None and sys.stdout is not None:
            # What Python has not got rid of yet, it would try to write again at the end, and complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="incc-model",
        summary="list, show, check, measure and import models of processor cores",
        description="Lists, shows, checks, measures and imports machine models.",
        status="0; 1 for findings or bad input; 2 for a mistake on the command line",
    )
    parser.add_argument(
        "--model-path", action="append", default=[], metavar="DIR", help="look for models there first (may be repeated)"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    command = commands.add_parser("list", help="the models that can be loaded")
    command.add_argument("--names", action="store_true", help="all names of processors: which model they stand for")
    command.set_defaults(run=_list)

    command = commands.add_parser("show", help="a model's parameters, or figures of instruction forms")
    command.add_argument(
        "what",
        nargs="?",
        help="a form's key, a pattern with * and ?, a mnemonic in either syntax, or an instruction with its operands",
    )
    command.add_argument(
        "-mcpu", "--mcpu", metavar="NAME", help="the model, or its .toml file; without, what every core says"
    )
    command.add_argument("--ports", action="store_true", help="draw the core: front end, window, ports, what each does")
    command.set_defaults(run=_show)

    command = commands.add_parser("diff", help="what is different between two models, or between a model's sources")
    command.add_argument("models", nargs="+", metavar="MODEL", help="names or .toml files: two, or with --sources one")
    command.add_argument("--sources", action="store_true", help="what sources of the model say that were not used")
    command.add_argument("--summary", action="store_true", help="how many forms are different, and in what, only")
    command.add_argument("--forms", default="*", metavar="GLOB", help="only forms whose key fits")
    command.set_defaults(run=_diff, command_parser=command)

    command = commands.add_parser("coverage", help="which instructions of given code a model knows, derives or lacks")
    command.add_argument("-mcpu", "--mcpu", required=True, metavar="NAME", help="the model, or its .toml file")
    command.add_argument("--input-format", choices=("asm", "hex"), default="asm", help="hex: a block's bytes a line")
    command.add_argument("--auto", action="store_true", help="only the innermost loops of assembly files")
    command.add_argument("--weighted", action="store_true", help="the number after the bytes is a block's weight")
    command.add_argument("--strict", action="store_true", help="exit status 1 if something is lacking")
    command.add_argument("--verbose", action="store_true", help="list what is derived, too")
    command.add_argument("files", nargs="+", metavar="FILE")
    command.set_defaults(run=_coverage)

    command = commands.add_parser("check", help="look for errors in models")
    command.add_argument("models", nargs="*", metavar="MODEL", help="names or .toml files (default: all)")
    command.add_argument("--no-warnings", action="store_true", help="report errors only")
    command.set_defaults(run=_check)

    command = commands.add_parser("make", help="measure this machine and write a model of it")
    _add_make_arguments(command)
    command.set_defaults(run=_make)

    command = commands.add_parser("import", help="write or complete a model from measurements or another tool's model")
    command.set_defaults(run=lambda _: _usage(command))
    sources = command.add_subparsers(dest="source", metavar="SOURCE", parser_class=_SourceParser)
    for name, (_, text) in SOURCES.items():
        source = sources.add_parser(name, help=text)
        source.source = name
        source.add_argument("-o", "--output", required=True, metavar="OUT", help="the model file; its header is kept")
        kept = source.add_mutually_exclusive_group()
        kept.add_argument("--fill", action="store_true", help="keep the forms in OUT, add those that it lacks")
        kept.add_argument("--prefer", action="store_true", help="keep the forms in OUT that the source does not have")
        kept.add_argument(
            "--compare", action="store_true", help="keep all forms in OUT, note where the source has other figures"
        )
        source.add_argument("--forms", default="*", metavar="GLOB", help="only forms whose key fits")
        source.add_argument("--keep-going", action="store_true", help="skip malformed records and count them")
        source.add_argument("--verbose", action="store_true", help="list what was not matched")
        source.set_defaults(run=_import)
    return parser


def _add_make_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["host"], help="the processor that this runs on")
    parser.add_argument(
        "-o", "--output", default="host.toml", metavar="FILE", help="the model file (default: host.toml)"
    )
    parser.add_argument(
        "--resume",
        default="",
        metavar="DIR",
        help="where measured figures are kept (default: FILE without .toml, .measured)",
    )
    parser.add_argument("--quick", action="store_true", help="fewer probes, and only the forms of the hundred loops")
    parser.add_argument("--minutes", type=_minutes, default=0, metavar="N", help="measure forms for so long at most")
    parser.add_argument("--relative", default="", metavar="NAME", help="the model to start from (default: the nearest)")


def _minutes(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value < 1e6:
        raise argparse.ArgumentTypeError(f"not a number of minutes: {text!r}")
    return value


class _SourceParser(Parser):
    """The options of one source; its importer, which brings them, is loaded when they are needed."""

    source = ""

    def complete(self) -> None:
        if self.source:
            importer(self.source).add_arguments(self)
            self.source = ""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.complete()
        return super().parse_known_args(args, namespace)


def _usage(parser: argparse.ArgumentParser) -> int:
    parser.print_usage(sys.stderr)
    return USAGE


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
            print("incc-model: name a core (-mcpu=NAME), or an instruction form", file=sys.stderr)
            return USAGE
        if not show_by_core(args.what, args.model_path, _matching):
            models = [load(entry.path, args.model_path) for entry in list_models(args.model_path)]
            print(
                f"incc-model: no model has a form that matches {args.what!r}{_near(models, args.what)}", file=sys.stderr
            )
            return FAILED
        return OK
    model = load(args.mcpu, args.model_path)
    if args.ports:
        from incc.driver.model_views import show_ports

        show_ports(model)
        return OK
    if args.what is None:
        _show_model(model)
        return OK
    forms = _matching(model, args.what)
    if not forms:
        near = _near([model], args.what)
        print(f"incc-model: {model.name} has no form that matches {args.what!r}{near}", file=sys.stderr)
        return FAILED
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


def _matching(model: MachineModel, what: str) -> list[str]:
    """The form with that key (conditions do not matter), else those that match a pattern, or are of that mnemonic, or
    the one of an instruction as it is written in assembly text."""
    from fnmatch import fnmatchcase

    form = what.partition(" [")[0]
    if model.entries(form):
        return [form]
    known = sorted(model.forms())
    if found := [f for f in known if f.lower() == form.lower()]:
        return found
    wanted = what.strip()
    if any(c in wanted for c in "?[*") and " " not in wanted:
        return [f for f in known if fnmatchcase(f.lower(), wanted.lower())]
    is_called = rules_of(model.isa).is_called
    if found := [f for f in known if is_called(f, wanted)]:
        return found
    return [f for f in known if f == _form_of(model.isa, wanted)] if " " in wanted else []


@cache
def _form_of(isa: str, statement: str) -> str:
    """The form of an instruction in assembly text, "" if it is none."""
    from incc.frontends.isa import DecodeError, TextForm
    from incc.frontends.isa import isa as instruction_set

    if "\n" in statement or ";" in statement:
        return ""
    intel = "%" not in statement and "$" not in statement
    dialects = {dialect: word for word, dialect in instruction_set(isa).syntax.dialects.items()}
    first = f"{dialects['intel']} noprefix" if intel and "intel" in dialects else ""
    try:
        found = list(instruction_set(isa).text_forms(f"{first}\n{statement}\n", [(2, statement)], "<text>"))
    except (DecodeError, OSError):
        return ""
    return found[0].form if found and isinstance(found[0], TextForm) else ""


def _near(models: Sequence[MachineModel], what: str) -> str:
    """A question for what comes close to something that no form is called; "" if nothing does."""
    from difflib import get_close_matches

    word = what.strip().partition(" ")[0]
    known: dict[str, str] = {}
    for rules in {model.isa: rules_of(model.isa) for model in models}.values():
        known |= {name: name for name in rules.mnemonics()}
    for model in models:
        for form in model.forms():
            known.setdefault(form.lower(), form)
            known.setdefault(form.partition("/")[0].lower(), form.partition("/")[0])
    near = [known[name] for name in get_close_matches(word.lower(), known, 12, 0.6)]
    near = [name for name in near if any(_matching(model, name) for model in models)]
    return f"; did you mean {', '.join(near[:4])}?" if near else ""


def _show_form(model: MachineModel, form: str) -> None:
    for conditions, fields in model.entries(form):
        found = model.lookup(form, frozenset(conditions))
        assert found is not None
        print(form_key(form, conditions))
        uops = " + ".join(f"{n} × {{{ports}}}" for ports, n in found.uops) or "none"
        print(f"  µops      {uops}; {found.retire_slots} fused")
        if found.latency:
            print("  latency   " + ", ".join(f"{s} → {t}: {c}" for t, s, c in found.latency))
        if found.divider:
            print(f"  divider   {found.divider} cycles")
        if found.throughput:
            print(f"  measured  one in {found.throughput:g} cycles")
        if found.breaks_dependency:
            print("  idiom     does not depend on its inputs")
        if found.fusion:
            print(f"  fuses     {' '.join(model.macro_fusion.get(found.fusion, ()))}")
        for name, value in found.attributes.items():
            if value:
                print(f"  {name}" + ("" if value is True else f" {value}"))
        if not conditions or "source" in fields or "derived" in fields:
            origin = found.source + (f"; derived: {found.derived}" if found.derived else "")
            print(f"  source    {origin}")


def _diff(args: argparse.Namespace) -> int:
    from incc.driver.model_views import show_difference, show_disagreements

    if len(args.models) != (1 if args.sources else 2):
        return _usage(args.command_parser)
    if args.sources:
        from incc.models.files.source import read_chain

        places = search_places(args.model_path)
        show_disagreements(read_chain(find_model(args.models[0], places), places, find_model), args.forms)
    else:
        left, right = (load(name, args.model_path) for name in args.models)
        show_difference(left, right, args.summary, args.forms)
    return OK


def _coverage(args: argparse.Namespace) -> int:
    from incc.driver.coverage import InputError, read_assembly, read_hex
    from incc.driver.model_views import show_coverage

    model = load(args.mcpu, args.model_path)
    code: list[Used | Refused] = []
    try:
        for path in args.files:
            if args.input_format == "asm":
                code += read_assembly(path, model.isa, args.auto)
            else:
                code += read_hex(path, model.isa, args.weighted)
    except InputError as error:
        print(f"incc-model: {error}", file=sys.stderr)
        return FAILED
    complete = show_coverage(model, code, args.verbose)
    return FAILED if args.strict and not complete else OK


def _check(args: argparse.Namespace) -> int:
    from incc.models.files.check import check

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
    from incc.driver import make_host

    return make_host.run(args)


# --- import ----------------------------------------------------------------------------------------------------------


def _import(args: argparse.Namespace) -> int:
    from incc.models.importers.common import ImportFailed
    from incc.models.importers.merge import import_into

    try:
        done = import_into(args.output, args.source, args, args.forms, args.model_path)
    except ImportFailed as e:
        print(f"incc-model: {e}", file=sys.stderr)
        print(f"incc-model: {args.output} is unchanged", file=sys.stderr)
        return FAILED
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


def command() -> int:
    """The installed command: `main`, which signals end as they do other programs."""
    from incc.driver.messages import interruptible

    return interruptible(main)


if __name__ == "__main__":
    sys.exit(command())
