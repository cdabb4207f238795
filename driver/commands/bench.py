"""The command `incc-bench`: latency, throughput and conflicts of instructions, measured on this processor."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

from msgspec.structs import asdict

from incc.core.analysis import KernelSettings, analyze_kernel
from incc.driver import UsageError
from incc.driver.cli import shared
from incc.driver.cli.command import ENVIRONMENT, Command, group
from incc.driver.cli.kinds import Option
from incc.driver.cli.parsers import run
from incc.driver.commands import bench_memory, bench_ports
from incc.driver.deliver import write_stream
from incc.driver.messages import fail, run_command, say
from incc.driver.pipeline import (
    ChosenModel,
    choose_model,
    decode_unit,
    in_gnu_syntax,
    read_assembly,
    select,
    with_trust,
)
from incc.driver.settings import Scope
from incc.driver.sources import compiled_source, is_source
from incc.frontends.asm.regions import marked_regions
from incc.frontends.kernel import KernelCode
from incc.frontends.unit import Unit
from incc.measuring.forms import pairs, predicted
from incc.measuring.forms.bench import CoreBench, NotMeasured, loop_of
from incc.measuring.forms.messages import FORMS, NO_FORM, other_machine, wrong_machine, wrong_model
from incc.measuring.forms.operands import Named, Unreadable, matching, read
from incc.measuring.forms.target import MeasuredCore, features_of, features_of_host, target
from incc.measuring.harness import Harness, LoopFailure, Unavailable, missing
from incc.measuring.records import OtherRun, Records
from incc.measuring.records import name as name_of
from incc.measuring.simulated import Simulated, simulated
from incc.models.forms.shapes import by_key, title
from incc.models.model import MachineModel
from incc.models.notation import form_key
from incc.models.processors import host
from incc.support.errors import AnalysisError
from incc.support.files import read_input, write_file
from incc.support.progress import counted, progress_shown
from incc.support.signals import interruptible
from incc.views.bench import lines
from incc.views.bench_page import page, picture
from incc.views.layout import Layout

if TYPE_CHECKING:
    import argparse

    _Item = TypeVar("_Item")

OK, INCOMPLETE, USAGE = 0, 1, 2

BUSY = 0.25
"""The share of disturbed samples above which a note is printed."""

_say = partial(say, "incc-bench")


COMMAND = Command(
    name="incc-bench",
    summary="measure latency, throughput and conflicts of instructions",
    about=(
        "Measure instructions on this processor: the latency from each operand to each result, throughput, ports, "
        "conflicts in pairs, and kernels (docs/measuring.md).",
    ),
    groups=(
        group(
            "forms",
            Option("[FORM…]", "operand", FORMS, into="forms"),
            Option("--all", "flag", "measure all forms that can be measured"),
            Option("--match GLOB", "list", "measure all forms with this key or mnemonic"),
            Option("--list", "flag", "list the forms, without measuring them"),
        ),
        group(
            "what to measure",
            Option("--serial", "flag", "measure only latency"),
            Option("--parallel", "flag", "measure only throughput"),
            Option(
                "--ports",
                "flag",
                "measure issue slots and µops by port, too, with blocking instructions (default with -o)",
            ),
            Option("--pairs", "flag", "measure the forms in pairs: which of them share a port"),
            Option(
                "--port-sets",
                "flag",
                "infer the ports that µops can use from throughputs with blocking instructions, and how certain that "
                "is; -o FILE keeps the throughputs (docs/ports.md)",
            ),
            Option(
                "--loops FILE",
                "list",
                "measure the marked regions or innermost loops of assembly or of a source, which is compiled as by "
                "incc-mca (repeatable)",
                (),
            ),
            shared.function("with --loops: measure"),
            Option(
                "--memory",
                "flag",
                "measure the caches and the memory with loops that stream through arrays, in ten minutes at most "
                "(docs/measuring.md)",
            ),
            Option("--quick", "flag", "with --memory: measure fewer sizes, and only the widest vectors, once"),
            Option("--repeat N", "thousand", "take the median of N measurements (default: 1)", 1),
            Option("--unroll N", "thousand", "links of a chain (default: 16)", 16),
            Option("--no-counters", "flag", "use the clock even if there are performance counters"),
            shared.UNSAFE,
            Option("--simulated", "flag", "simulate the model instead of measuring this processor"),
        ),
        group(
            "what to compare with",
            shared.mcpu("model to compare with (default: the host's)"),
            shared.MODEL_PATH,
            Option("--relative NAME", "text", "with --port-sets: the model of a similar core (default: -mcpu)"),
            Option("--port-count N", "thousand", "with --port-sets: the number of ports (default: the relative's)", 0),
            Option(
                "--issue-width N", "thousand", "with --port-sets: fused µops per cycle (default: the relative's)", 0
            ),
        ),
        group(
            "what to write",
            *shared.formats("text", "json", help="text, or JSON lines"),
            Option(
                "-o FILE",
                "text",
                "also append each result to FILE as a JSON line, for `incc-model import measured`; an interrupted run "
                "continues after the results in FILE",
                aliases=("--output",),
                into="output",
            ),
            Option("--resume FILE", "text", "like -o, for a FILE that exists"),
            Option(
                "--html FILE",
                "text",
                "write an HTML page, or only the matrix of pairs if FILE ends in .svg",
                aliases=("--picture",),
            ),
        ),
    ),
    hidden=(Option("--kernel FILE", "list", default=(), into="loops"),),
    environment=ENVIRONMENT,
    status="0; 1 if something was not measured; 2 for a mistake on the command line, or an output that "
    "cannot be written",
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    try:
        return run(COMMAND, arguments, _run)
    except AnalysisError as error:
        return fail("incc-bench", str(error), INCOMPLETE)


def command() -> int:
    """Run the installed command."""
    return run_command(main)


# --- tasks ------------------------------------------------------------------------------------------------------------


def _run(options: argparse.Namespace) -> int:
    _check(options)
    choice = _model(options)
    if options.memory:
        return OK if bench_memory.run(options, choice.model, _features(choice.model, options.simulated)) else INCOMPLETE
    core = _target(choice.model, options.simulated)
    forms = _forms(options, core)
    if options.list:
        for form in forms:
            print(f"{_key(form)}  {form.title}")
        return OK
    kernels = _kernels(options, choice.model)
    if options.pairs and len(forms) < 2:
        raise UsageError("--pairs requires two forms or more")
    if options.port_sets:
        return _port_sets(options, forms, choice.model, core)
    session = _Session(options, choice.model, core)
    interrupted = False
    try:
        with interruptible():
            if options.pairs:
                session.pairs(forms)
            else:
                session.forms(forms)
            session.kernels(kernels)
    except KeyboardInterrupt:
        interrupted = True
        _say_interrupted(f"{session.number} of {session.total}", session.records.path)
    finally:
        session.close()
    _write(options, session, f"{choice.model.title}; {choice.reason}", choice.note)
    return INCOMPLETE if interrupted or session.failed else OK


def _check(options: argparse.Namespace) -> None:
    """Check the options against each other. Raises UsageError."""
    if options.output and options.resume and options.output != options.resume:
        raise UsageError("-o and --resume must name the same file")
    if options.serial and options.parallel:
        raise UsageError("--serial and --parallel cannot be combined")
    _refuse(options, "port_sets", ("pairs", "loops", "serial", "parallel", "ports", "html"))
    for name in ("relative", "port_count", "issue_width"):
        if getattr(options, name) and not options.port_sets:
            raise UsageError(f"{_option(name)} requires --port-sets")
    if options.function and not options.loops:
        raise UsageError("--function requires --loops")
    _refuse(
        options,
        "memory",
        ("forms", "all", "match", "list", "pairs", "port_sets", "loops", "serial", "parallel", "ports"),
    )
    if options.quick and not options.memory:
        raise UsageError("--quick requires --memory")
    if not (options.forms or options.all or options.match or options.loops or options.memory):
        raise UsageError(NO_FORM)
    if options.html.endswith(".svg") and not (options.pairs or options.memory):
        raise UsageError(f"{options.html}: an .svg file requires --pairs or --memory")
    folder = os.path.dirname(options.html)
    if folder and not os.path.isdir(folder):
        raise UsageError(f"{options.html}: folder {folder} does not exist")


def _refuse(options: argparse.Namespace, name: str, others: Sequence[str]) -> None:
    """Raise UsageError if an option is combined with one that makes no sense with it."""
    for other in others:
        if getattr(options, name) and getattr(options, other):
            raise UsageError(f"{_option(name)} and {_option(other)} cannot be combined")


def _option(name: str) -> str:
    return "forms" if name == "forms" else f"--{name.replace('_', '-')}"


def _model(options: argparse.Namespace) -> ChosenModel:
    """Return the model to compare with. Raises UsageError, and AnalysisError if this machine cannot be measured."""
    try:
        choice = choose_model(options.mcpu, "", options.model_path)
    except AnalysisError as error:
        if not options.mcpu:
            raise
        raise UsageError(str(error)) from None
    if not options.memory and (reason := wrong_model(choice.model.isa, choice.model.name)):
        raise UsageError(reason)
    reason = missing() or other_machine(choice.model.isa) if options.memory else wrong_machine()
    if reason and not options.simulated:
        raise AnalysisError(reason)
    return choice


def _say_interrupted(done: str, path: str) -> None:
    more = f"; the results are in {path}, and the same command continues" if path else ""
    _say(f"interrupted after {done}{more}")


def _port_sets(options: argparse.Namespace, forms: list[Named], model: MachineModel, core: MeasuredCore) -> int:
    """Infer sets of ports, and return the exit status. Raises UsageError and AnalysisError."""
    relative = bench_ports.relative_of(options, model)
    if options.relative:
        # Blockers are the relative's; the features are the processor's, or those of the simulated model.
        core = target(relative, core.features)
    machine = open_machine(options, model)
    throughputs = 0

    def count() -> bool:
        nonlocal throughputs
        throughputs += 1
        return True

    try:
        with interruptible():
            findings, left_out = bench_ports.study(options, forms, core, relative, machine, count)
    except KeyboardInterrupt:
        _say_interrupted(f"{throughputs} throughputs", options.resume or options.output)
        return INCOMPLETE
    except Unavailable as error:
        raise AnalysisError(str(error)) from None
    finally:
        machine.close()
    way = f"by simulation of {model.name}" if options.simulated else f"on this processor, {throughputs} new throughputs"
    bench_ports.write(options, findings, left_out, relative, way)
    if machine.busy > BUSY:
        _say(f"note: something else was running on this core during {100 * machine.busy:.0f} % of the samples")
    return INCOMPLETE if left_out or any(m.how == "unmeasured" for m in findings.mappings) else OK


def _target(model: MachineModel, simulated: bool) -> MeasuredCore:
    return target(model, _features(model, simulated))


def _features(model: MachineModel, simulated: bool) -> frozenset[str]:
    return features_of(model) if simulated else features_of_host(host.read().features)


def _forms(options: argparse.Namespace, core: MeasuredCore) -> list[Named]:
    """Return the forms, each once. Raises UsageError with all mistakes."""
    forms: list[Named] = []
    mistakes: list[str] = []
    for text in options.forms:
        if os.path.isfile(text):
            mistakes.append(f"{text} is a file; measure its loops with --loops={text}")
            continue
        try:
            forms.append(read(text, core))
        except Unreadable as error:
            mistakes.append(str(error))
    if mistakes:
        raise UsageError("; ".join(mistakes))
    if options.all or options.match:
        matches = matching(options.match, core)
        if not matches:
            raise UsageError(f"no form that can be measured matches {' or '.join(map(repr, options.match))}")
        forms += matches
    return list({_key(form): form for form in forms}.values())


def _key(form: Named) -> str:
    return form_key(*form.variant.key)


def _kernels(options: argparse.Namespace, model: MachineModel) -> list[tuple[str, KernelCode]]:
    """Return the kernels of the files, with their names. Raises UsageError."""
    named: list[tuple[str, KernelCode]] = []
    functions = tuple(options.function)
    for path in options.loops:
        try:
            unit = _unit(path, options.mcpu)
            parsed = read_assembly(unit, model.isa)
            marked, _ = marked_regions(parsed)
            scope = Scope(regions="marked" if marked else "loops", functions=functions, system_headers=True)
            selection = select(unit, parsed, scope)
            kernels = decode_unit(unit, parsed, selection.regions)
        except AnalysisError as error:
            where = "" if str(error).startswith(path) else f"{path}: "
            raise AnalysisError(f"{where}{error}") from error
        if not kernels:
            where = f" in a function named {' or '.join(functions)}" if functions else ""
            raise AnalysisError(f"{path}: no loop and no marked region{where}")
        for refused in (statement for kernel in kernels for statement in kernel.refused):
            _say(f"{path}:{refused.line}: {refused.message}")
        named += [(f"{path}:{_line_of(unit, k)}", k) for k in kernels]
    return named


def _unit(path: str, mcpu: str) -> Unit:
    """Read assembly, or compile a source. Raises AnalysisError."""
    if is_source(path):
        unit, note = compiled_source(path, mcpu)
        _say(f"note: {note}")
        return unit
    try:
        text = read_input(path)
    except OSError as error:
        raise AnalysisError(f"{path}: {error.strerror}") from None
    unit = with_trust(Unit(assembly=text, assembly_file=path), Scope())
    for each in unit.notes:
        _say(f"note: {each}")
    return in_gnu_syntax(unit)


def _line_of(unit: Unit, kernel: KernelCode) -> int:
    """Return a kernel's line, of the source if it was compiled."""
    region = kernel.region
    if region is None:
        return 1
    return region.source.line if unit.source and region.source else region.first_line


# --- measuring --------------------------------------------------------------------------------------------------------


def _is_final(record: dict[str, Any]) -> bool:
    """Return True for the record of a failure that would repeat."""
    return "failure" in record and not LoopFailure(**record["failure"]).is_transient


def _is_done(record: dict[str, Any]) -> bool:
    return "failure" not in record or _is_final(record)


class _Session:
    """A run that measures forms and keeps and counts the results."""

    def __init__(self, options: argparse.Namespace, model: MachineModel, core: MeasuredCore) -> None:
        self.options = options
        self.model = model
        self.core = core
        self.number = self.total = self.failed = 0
        self.measured: list[dict[str, Any]] = []
        """The records of this run, also those that an earlier run has measured."""
        self.matrix_of: list[str] = []
        """The notation of the forms in pairs."""
        self._machine: Harness | Simulated | None = None
        self._bench: CoreBench | None = None
        try:
            path = options.resume or options.output
            self.records: Records = Records(path, core.name, bool(options.resume))
        except OtherRun as error:
            raise UsageError(str(error)) from None

    @property
    def machine(self) -> Harness | Simulated:
        """The harness or simulation that runs loops, started when it is first used."""
        if self._machine is None:
            self._machine = open_machine(self.options, self.model)
        return self._machine

    @property
    def bench(self) -> CoreBench:
        """The bench that measures forms. Raises AnalysisError if nothing can be measured."""
        if self._bench is None:
            try:
                self._bench = CoreBench(self.core, self.machine, self.options.repeat, self.options.unroll)
            except NotMeasured as error:
                raise AnalysisError(f"a loop of moves cannot be measured: {error.failure.text}") from None
            self.records.begin(self._bench.header() if self.records.path else {})
        return self._bench

    def _figures(self) -> tuple[str, ...]:
        """Return the figures of forms that are requested."""
        if self.options.serial:
            return ("latency",)
        if self.options.parallel:
            return ("tp",)
        return ("latency", "tp", "ports") if self.options.ports or self.records.path else ("latency", "tp")

    def _measure(
        self,
        items: Sequence[_Item],
        identify: Callable[[_Item], dict[str, Any]],
        measure: Callable[[_Item], dict[str, Any]],
        is_done: Callable[[dict[str, Any]], bool] = _is_done,
    ) -> None:
        """Measure the items without a usable record in the file, and keep the records of all.

        `identify` returns the fields of a record that name the item, `measure` the others or raises NotMeasured;
        `is_done` tells whether a record from the file is used.
        """
        self.total += len(items)
        # Output on the terminal shows the progress itself.
        prints = self.options.format == "json" and sys.stdout.isatty()
        with nullcontext() if prints else progress_shown():
            for item in counted(items, "measuring", len(items)):
                identity = identify(item)
                record = self.records.done.get(name_of(identity))
                if record is None or not is_done(record):
                    try:
                        record = {**identity, **measure(item)}
                    except NotMeasured as error:
                        record = {**identity, "failure": asdict(error.failure)}
                    self.records.add(record)
                self.number += 1
                self.failed += "failure" in record
                self.measured.append(record)
                if self.options.format == "json":
                    print(json.dumps(record), flush=True)

    def forms(self, forms: Sequence[Named]) -> None:
        """Measure forms."""
        requested = self._figures()

        def identify(form: Named) -> dict[str, Any]:
            return {"form": form.variant.shape.key, "conditions": list(form.variant.conditions)}

        def measure(form: Named) -> dict[str, Any]:
            record = {**self.bench.record(form.variant, requested), "what": list(requested)}
            record["model"] = predicted.figures(self.bench, form.variant, self.model)
            return record

        # A record of a run for throughput alone is of no use if latency is requested.
        self._measure(forms, identify, measure, lambda r: _is_final(r) or {*requested} <= {*r.get("what", ())})

    def pairs(self, forms: Sequence[Named]) -> None:
        """Measure the forms alone and in pairs."""
        self.matrix_of = [form.title for form in forms]
        alone: dict[str, float] = {}

        def identify(pair: tuple[Named, Named]) -> dict[str, Any]:
            return {"pair": [form.title for form in pair]}

        def measure(pair: tuple[Named, Named]) -> dict[str, Any]:
            for form in pair:
                if form.title not in alone:
                    alone[form.title] = pairs.together(self.bench, [form]).cycles
            measured = pairs.record(pair, pairs.together(self.bench, pair), [alone[form.title] for form in pair])
            return {**measured, "model": self._pair_model(pair)}

        self._measure(list(combinations(forms, 2)), identify, measure)

    def _pair_model(self, forms: Sequence[Named]) -> float | None:
        cycles = simulated(loop_of(pairs.code_of(self.bench, forms)).code, self.model)
        return None if cycles is None else round(cycles / pairs.copies_of(self.bench), 3)

    def kernels(self, kernels: Sequence[tuple[str, KernelCode]]) -> None:
        """Measure kernels, prepared as by --measure."""
        if kernels and self.records.path:
            self.bench  # noqa: B018 - writes the header, without which nothing can be resumed or imported

        def identify(named: tuple[str, KernelCode]) -> dict[str, Any]:
            # The file may have other code by the time of the next run.
            code = b"".join(instruction.encoding for instruction in named[1].instructions)
            return {"kernel": named[0], "code": f"{crc32(code):08x}"}

        self._measure(kernels, identify, lambda named: self._kernel(named[1]))

    def _kernel(self, kernel: KernelCode) -> dict[str, Any]:
        """Return the figures of a kernel. Raises NotMeasured."""
        from incc.measuring.kernels import prepare, timed

        prepared = prepare(kernel)
        measured = prepared if isinstance(prepared, LoopFailure) else timed(prepared, self.machine.measure)
        if isinstance(measured, LoopFailure):
            raise NotMeasured(measured)
        try:
            model = float(analyze_kernel(kernel, self.model, KernelSettings()).cycles)
        except ValueError:
            model = None
        return {
            "cycles": round(measured.cycles, 3),
            "spread": round(measured.spread, 3),
            "model": model,
            "exit": measured.exit,
            "notes": list(measured.notes),
        }

    def close(self) -> None:
        """End the measuring process, and close the file of records."""
        if self._machine is not None:
            self._machine.close()
        self.records.close()

    @property
    def way(self) -> str:
        """A sentence on how the figures were measured."""
        if self.options.simulated:
            return "simulated, not measured"
        if self._machine is None:
            return "measured earlier" if any("failure" not in r for r in self.measured) else "nothing was measured"
        if self._machine.counters_missing:
            return f"by the clock, relative to a chain of additions (no counters: {self._machine.counters_missing})"
        return "by performance counters"

    @property
    def busy(self) -> float:
        """The share of disturbed samples."""
        return 0.0 if self._machine is None else self._machine.busy


def open_machine(options: argparse.Namespace, model: MachineModel) -> Harness | Simulated:
    """Start the harness or simulation. Raises AnalysisError."""
    if options.simulated:
        return Simulated(model)
    try:
        return Harness(not options.no_counters, model.parameters["port_events"], options.unsafe)
    except Unavailable as error:
        raise AnalysisError(str(error)) from None


# --- output -----------------------------------------------------------------------------------------------------------


def _write(options: argparse.Namespace, session: _Session, core: str, note: str) -> None:
    results = _results(session, core, note)

    def render(width: int, colour: bool) -> str:
        return "".join(f"{line}\n" for line in lines(results, Layout(width, colour)))

    if options.format == "text":
        write_stream(sys.stdout, render)
    if options.html:
        text = picture(results["matrix"]) if options.html.endswith(".svg") else page(results)
        try:
            write_file(options.html, text)
        except OSError as error:  # which names a temporary file
            raise UsageError(f"{options.html}: {error.strerror}") from None
    if session.busy > BUSY:
        _say(
            f"note: something else was running on this core during {100 * session.busy:.0f} % of the samples; repeat "
            "measurements with a large ±"
        )


def _results(session: _Session, core: str, note: str) -> dict[str, Any]:
    """Return the cells of the tables, as the views take them."""
    figures: list[list[str]] = []
    conflicts: list[list[str]] = []
    kernels: list[list[str]] = []
    for record in session.measured:
        failure = record.get("failure")
        if "pair" in record:
            conflicts.append(_pair_cells(record))
        elif "kernel" in record:
            kernels.append([record["kernel"], *_kernel_cells(record)])
        elif failure:
            figures.append([_title(record), "not measured", "", "", "", failure["text"]])
        else:
            figures += _form_cells(_title(record), record)
    return {
        "core": core,
        "way": session.way,
        "notes": [note] if note else [],
        "figures": figures,
        "pairs": conflicts,
        "matrix": _matrix(session) if session.matrix_of else None,
        "kernels": kernels,
    }


def _title(record: dict[str, Any]) -> str:
    return title(by_key()[record["form"]], record["conditions"])


def _cycles(value: float | None, digits: int = 2) -> str:
    # Adding zero removes the sign of -0.00.
    return "-" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"


def _form_cells(title: str, record: dict[str, Any]) -> Iterator[list[str]]:
    for row in predicted.rows(record):
        width = f"{row.spread:.2f}" if row.spread else ""
        model = "" if row.model is None and row.figure.startswith("µops") else _cycles(row.model)
        ports = record.get("model", {}).get("ports", "")
        remark = "differs" if row.differs else f"model: {ports}" if row.figure == "issue slots" and ports else ""
        yield [title, row.figure, _cycles(row.measured), width, model, remark]
        title = ""
    if failed := record.get("failed"):
        latencies = ", ".join(f"{source} → {to}" for to, _, source in (name.partition("<") for name in failed))
        yield [title, f"latency {latencies}", "", "", "", f"not measured: {'; '.join(sorted(set(failed.values())))}"]


def _pair_cells(record: dict[str, Any]) -> list[str]:
    title = " + ".join(record["pair"])
    if "failure" in record:
        return [title, "", "", "", "", "", f"not measured: {record['failure']['text']}"]
    cells = [_cycles(record[key]) for key in ("cycles", "spread", "larger", "sum", "model", "conflict")]
    return [title, *cells]


def _kernel_cells(record: dict[str, Any]) -> list[str]:
    if "failure" in record:
        return ["", "", "", f"not measured: {record['failure']['text']}"]
    model = record["model"]
    far = model is not None and abs(record["cycles"] - model) > max(0.1 * model, 2 * record["spread"])
    return [_cycles(record["cycles"]), _cycles(record["spread"]), _cycles(model), "differs" if far else ""]


def _matrix(session: _Session) -> dict[str, Any]:
    titles = session.matrix_of
    conflicts = {tuple(r["pair"]): r.get("conflict") for r in session.measured if "pair" in r}
    values = [[None if a == b else conflicts.get((a, b), conflicts.get((b, a))) for b in titles] for a in titles]
    return {"titles": titles, "values": values}


if __name__ == "__main__":
    sys.exit(command())
