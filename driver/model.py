"""`incc-model`: lists, shows, checks and imports machine models."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from incc.models.model import MachineModel, ModelError, form_key, list_models, load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.driver.coverage import Refused, Used
    from incc.models.compile import Also, Forms, Source
    from incc.models.importers.common import Imported
    from incc.models.importers.shapes import Shape

OK, FAILED, USAGE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status: 0 done, 1 findings or bad input, 2 wrong usage."""
    parser = _parser()
    args = parser.parse_args(arguments)
    if not args.command:
        parser.print_usage(sys.stderr)
        return USAGE
    try:
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="incc-model", description="Lists, shows, checks and imports machine models.")
    parser.add_argument(
        "--model-path", action="append", default=[], metavar="DIR", help="look for models there first (may be repeated)"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    command = commands.add_parser("list", help="the models that can be loaded")
    command.add_argument("--names", action="store_true", help="all names of processors: which model they stand for")
    command.set_defaults(run=_list)

    command = commands.add_parser("show", help="a model's parameters, or figures of instruction forms")
    command.add_argument("what", nargs="?", help="a form's key, a mnemonic, or a pattern with * and ?")
    command.add_argument(
        "-mcpu", "--mcpu", metavar="NAME", help="the model, or its .toml file; without, what every core says"
    )
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

    command = commands.add_parser("import", help="write or complete a model from measurements or another tool's model")
    command.set_defaults(run=lambda _: _usage(command))
    sources = command.add_subparsers(dest="source", metavar="SOURCE")
    for name, takes, text in (
        ("uops.info", "FILE", "measurements by uops.info, instructions.xml or JSON lines, plain or .gz"),
        ("measured", "FILE", "measurements by models/importers/measure.py, JSON lines"),
        ("amd", "FILE", "uops.info's measurements of AMD's cores, with integer units as in another model"),
        ("osaca", "FILE", "machine files of OSACA, YAML"),
        ("llvm", "", "a scheduling model of LLVM (needs its development files)"),
        ("ibench", "FILE", "output of ibench; what is measured goes before what the model has"),
        ("asmbench", "FILE", "output of asmbench, with names; what is measured goes before what the model has"),
        ("predecessor", "", "forms of another model, on this core's ports"),
        ("derive", "", "forms that behave like one that is in the model"),
    ):
        source = sources.add_parser(name, help=text)
        if takes:
            source.add_argument("files", nargs="*" if name == "amd" else "+", metavar=takes)
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
        source.set_defaults(run=_import, files=[], cpu="", features="", llvm_config="", arch="")
        if name == "amd":
            source.add_argument("--like", default="znver4", metavar="MODEL", help="the model with the integer units")
        if name == "uops.info":
            source.add_argument("--arch", metavar="NAME", help="the core, as uops.info calls it (SKL); for XML files")
        if name not in ("uops.info", "measured", "amd"):
            source.add_argument(
                "--features",
                default="",
                metavar="A,B",
                help="CPUID features (iced-x86's names) of the core beside those of the forms that the model has",
            )
        if name in ("uops.info", "osaca"):
            source.add_argument(
                "--rename-ports", default="", metavar="A=B,…", help="the source's ports that the model calls otherwise"
            )
        if name in ("ibench", "asmbench"):
            source.set_defaults(prefer=True)
        if name == "predecessor":
            # What is in OUT already was measured: it goes into the forms that are made.
            source.set_defaults(prefer=True)
            source.add_argument("-mcpu", "--mcpu", dest="cpu", required=True, metavar="NAME", help="the other model")
            source.add_argument(
                "--ports", default="", metavar="A=B,…", help="the other model's port sets that are different here"
            )
        if name == "llvm":
            source.add_argument("-mcpu", "--mcpu", dest="cpu", required=True, metavar="NAME", help="LLVM's processor")
            source.add_argument("--llvm-config", default="llvm-config-19", metavar="PROGRAM")
    return parser


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

        if args.what is None:
            print("incc-model: name a core (-mcpu=NAME), or an instruction form", file=sys.stderr)
            return USAGE
        if not show_by_core(args.what, args.model_path, _matching):
            print(f"incc-model: no model has a form that matches {args.what!r}", file=sys.stderr)
            return FAILED
        return OK
    model = load(args.mcpu, args.model_path)
    if args.what is None:
        _show_model(model)
        return OK
    forms = _matching(model, args.what)
    if not forms:
        print(f"incc-model: {model.name} has no form that matches {args.what!r}", file=sys.stderr)
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
    """The form with that key (conditions do not matter), else those that match a pattern or are of that mnemonic."""
    from fnmatch import fnmatchcase

    form = what.partition(" [")[0]
    if model.entries(form):
        return [form]
    known = sorted(model.forms())
    if any(c in what for c in "*?["):
        return [f for f in known if fnmatchcase(f.lower(), what.lower())]
    if model.isa == "x86":
        from incc.models.importers.shapes import by_key

        shapes = by_key()
        wanted = what.strip().upper()
        return [f for f in known if f in shapes and (shapes[f].mnemonic == wanted or f.startswith(wanted + "/"))]
    return [f for f in known if f.partition("/")[0] == what.strip().lower()]


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
        from incc.models.compile import read_chain
        from incc.models.model import _find, _places

        places = _places(args.model_path)
        show_disagreements(read_chain(_find(args.models[0], places), places), args.forms)
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
            elif model.isa == "x86":
                code += read_hex(path, args.weighted)
            else:
                raise InputError(f"machine code of {model.isa} cannot be read, only assembly")
    except InputError as error:
        print(f"incc-model: {error}", file=sys.stderr)
        return FAILED
    complete = show_coverage(model, code, args.verbose)
    return FAILED if args.strict and not complete else OK


def _check(args: argparse.Namespace) -> int:
    from incc.models.check import check
    from incc.models.model import _find, _places

    places = _places(args.model_path)
    names = args.models or [m.name for m in list_models(args.model_path)]
    errors = warnings = 0
    for name in names:
        for finding in check(_find(name, places), places):
            errors += finding.level == "error"
            warnings += finding.level == "warning"
            if finding.level == "error" or not args.no_warnings:
                print(finding)
    print(f"{len(names)} models: {errors} errors, {warnings} warnings")
    return FAILED if errors else OK


# --- import ----------------------------------------------------------------------------------------------------------


def _import(args: argparse.Namespace) -> int:
    from incc.models.importers.common import ImportFailed

    try:
        return _run_import(args)
    except ImportFailed as e:
        print(f"incc-model: {e}", file=sys.stderr)
        print(f"incc-model: {args.output} is unchanged", file=sys.stderr)
        return FAILED


def _run_import(args: argparse.Namespace) -> int:
    from fnmatch import fnmatchcase

    from incc.models.compile import merge_forms, read_chain
    from incc.models.importers import derive
    from incc.models.importers.common import Imported, ImportFailed, differences, note_disagreements
    from incc.models.model import _places

    header = _header(args.output)
    chain = read_chain(args.output, _places(args.model_path)) if os.path.exists(args.output) else []
    if not chain and args.source != "uops.info":
        raise ImportFailed(f"{args.output}: no such file: the model's header must be written first (docs/models.md)")
    keep = args.fill or args.prefer or args.compare
    own: Forms = chain[0].forms if chain and keep else {}
    also: Also = chain[0].also if chain and keep else {}
    fusion = _fusion(chain) if keep else {}
    kept = merge_forms(chain if keep else chain[1:]) if chain else {}
    isa = next((s.name.isa for s in chain if s.name.isa), "x86")
    if args.source == "uops.info":
        from incc.models.importers import uops_info

        imported: Imported = uops_info.import_files(args.files, args.keep_going, args.arch, _renamed(args))
        fusion = imported.fusion
        if not keep:
            # Measured on this core: stands before what is inherited, however that came about.
            kept, inherited = {}, kept
            derive.idioms(imported.forms, lambda key: imported.forms.get(key, {}))
            own_source = chain[0].data.get("source", "") if chain else "uops.info"
            imported = imported._replace(forms=differences(imported.forms, inherited, own_source))
            known = {k: v for n in range(len(chain) - 1, 0, -1) for k, v in _fusion(chain[n:]).items()}
            fusion = {k: v for k, v in fusion.items() if v != known.get(k)}
    elif args.source in ("measured", "amd"):
        imported = _import_measured(args)
        fusion = fusion or imported.fusion
    elif args.source in ("ibench", "asmbench"):
        imported = _import_benchmark(args, chain, kept, isa)
    elif isa == "aarch64":
        imported = _import_aarch64(args, chain[0], kept)
    else:
        wanted = _wanted(kept, args.features, others=not (args.prefer or args.compare))
        if args.source == "predecessor":
            from incc.models.importers import predecessor

            parameters = chain[0].data.get("parameters", {})
            inherited = merge_forms(chain[1:])
            measured_here = {
                f: e
                for f, e in own.items()
                if "ports" in (base := e.get((), {})) and base.get("source", chain[0].data.get("source")) != args.source
            }
            imported = predecessor.import_model(args.cpu, args.ports, measured_here, parameters, args.model_path)
            if args.fill:
                args.prefer = False
            elif inherited:
                # Only what differs from the inherited model, which is not known to be like this core.
                made = {f: e for f, e in imported.forms.items() if fnmatchcase(f, args.forms)}
                imported = imported._replace(forms=differences(made, inherited, chain[0].data.get("source", "")))
            fusion = {} if inherited else imported.fusion
        elif args.source == "osaca":
            from incc.models.importers import osaca

            imported = osaca.import_files(args.files, wanted, args.keep_going, _renamed(args))
        elif args.source == "llvm":
            from incc.models.importers import llvm

            imported = llvm.import_cpu(args.cpu, wanted, args.llvm_config, args.keep_going)
        else:
            made = derive.derive(wanted, lambda key: kept.get(key, {}))
            imported = Imported(made, {}, [], [], [])
    if args.forms != "*":
        imported = imported._replace(forms={f: e for f, e in imported.forms.items() if fnmatchcase(f, args.forms)})
    default = chain[0].data.get("source", "") if chain else "uops.info"
    forms = {form: dict(entries) for form, entries in own.items()}
    added = 0
    if (args.prefer or args.compare) and args.source != "predecessor":
        note_disagreements(also, kept, imported.forms, args.source, default, args.prefer)
    for form, entries in imported.forms.items():
        if args.compare or (form in kept and not args.prefer):
            continue
        added += 1
        forms[form] = {c: dict(f) for c, f in entries.items()}
        if () not in forms[form]:
            continue
        base = forms[form][()]
        if isa == "x86" and args.source in ("osaca", "llvm"):
            from incc.models.importers.shapes import by_key

            base = forms[form][()] = derive.pairs_of_twin(by_key()[form], base, lambda key: kept.get(key, {}))
        source = base.get("source", args.source)
        base.pop("source", None)
        if source != default:
            base["source"] = source
    if args.source == "derive":
        added += derive.idioms(forms, lambda key: forms.get(key) or kept.get(key, {}))
    _write(args.output, header, forms, fusion, also)
    _report(args, imported, added)
    return OK


def _import_measured(args: argparse.Namespace) -> Imported:
    from incc.models.importers import amd, measured

    if args.source == "amd":
        return amd.import_files(args.files, args.output, args.like, args.model_path, args.keep_going)
    return measured.import_files(args.files, args.keep_going)


def _renamed(args: argparse.Namespace) -> dict[str, str]:
    from incc.models.importers.common import ImportFailed

    pairs = [r.split("=") for r in args.rename_ports.split(",") if r]
    if not all(len(pair) == 2 and all(pair) for pair in pairs):
        raise ImportFailed(f"malformed list of ports {args.rename_ports!r}: it is written 10=B,11=A")
    return dict(pairs)


def _import_benchmark(args: argparse.Namespace, chain: Sequence[Source], kept: Forms, isa: str) -> Imported:
    from incc.models.importers import asmbench, benchmark, ibench

    read = ibench.read if args.source == "ibench" else asmbench.read
    ports: list[str] = next((s.data["ports"]["names"] for s in chain if "names" in s.data.get("ports", {})), [])
    return benchmark.import_files(read, args.files, args.source, isa, ports, kept, args.keep_going)


def _import_aarch64(args: argparse.Namespace, own: Source, kept: Forms) -> Imported:
    from incc.models.importers.common import ImportFailed

    if args.source == "llvm":
        from incc.models.importers import llvm, llvm_aarch64

        return llvm_aarch64.import_cpu(args.cpu, llvm.enumerate_aarch64(args.cpu, args.llvm_config), args.keep_going)
    if args.source == "osaca":
        from incc.models.importers import osaca_aarch64

        return osaca_aarch64.import_files(args.files, own.name.name, kept, args.keep_going)
    raise ImportFailed(f"{args.output}: {args.source} has nothing for AArch64")


def _wanted(kept: Forms, features: str, others: bool = True) -> list[Shape]:
    """The forms that the core has as far as its known forms tell; with `others` only those that the model lacks."""
    from incc.models.importers.common import ImportFailed
    from incc.models.importers.shapes import FEATURES, by_key
    from incc.models.importers.shapes import features as features_of

    extra = {f for f in features.upper().split(",") if f}
    if unknown := sorted(extra - set(FEATURES.values())):
        raise ImportFailed(f"unknown CPUID feature {unknown[0]!r} (names as in iced-x86's CpuidFeature)")
    shapes = by_key()
    has = extra.union(*(features_of(shapes[f]) for f in kept if f in shapes))
    return [
        s
        for key, s in shapes.items()
        if not (others and key in kept) and features_of(s) <= has and "RESERVEDNOP" not in key
    ]


def _header(path: str) -> str:
    """The part of a model file that is written by hand: up to the imported part, or to its forms."""
    from incc.models.compile import GENERATED
    from incc.models.importers.common import ImportFailed

    if not os.path.exists(path):
        name = os.path.splitext(os.path.basename(path))[0]
        return (
            f'format = 1\nname = "{name}"\naliases = []\ntitle = "{name}"\nisa = "x86"\nsource = "uops.info"\n\n'
            '[sources]\n"uops.info" = "uops.info"\n\n[ports]\nnames = ["0", "1", "2", "3", "4", "5", "6", "7"]\n'
            "resources = []\n\n[ports.functions]\n\n[parameters]\n\n"
        )
    try:
        with open(path, encoding="utf-8") as f:
            text = f.read()
    except (OSError, UnicodeDecodeError) as e:
        raise ImportFailed(f"{path}: {getattr(e, 'strerror', None) or 'not UTF-8 text'}") from None
    cut = len(text)
    for start in (GENERATED.split(";")[0], "[forms]", "[macro_fusion]"):
        at = 0 if text.startswith(start) else text.find("\n" + start) + 1
        if at or text.startswith(start):
            cut = min(cut, at)
    return text[:cut].rstrip("\n") + "\n\n"


def _fusion(chain: Sequence[Source]) -> dict[str, tuple[str, ...]]:
    """The macro-fusion classes that the first model of a chain writes down itself."""
    return {n: tuple(jumps.split()) for s in chain[:1] for n, jumps in s.data.get("macro_fusion", {}).items()}


def _write(path: str, header: str, forms: Forms, fusion: dict[str, tuple[str, ...]], also: Also) -> None:
    from incc.models.compile import write_forms
    from incc.models.importers.common import ImportFailed

    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8") as f:
            f.write(header + write_forms(forms, fusion, also))
        os.replace(temporary, path)
    except OSError as e:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise ImportFailed(f"{path}: {e.strerror}") from None


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


if __name__ == "__main__":
    sys.exit(main())
