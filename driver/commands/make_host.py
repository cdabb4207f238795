"""`incc-model make host`: measure this processor and write a model of it.

Measurements are kept in a folder of JSON lines, with which an interrupted run continues.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from incc.driver.commands import bench_memory
from incc.measuring.forms.aarch64 import NOT_TRIED
from incc.measuring.forms.target import MeasuredCore, features_of_host, target
from incc.measuring.harness import Harness, Machine, Unavailable, missing
from incc.measuring.host import aarch64 as host_aarch64
from incc.measuring.host import forms as host_forms
from incc.measuring.host import model as host
from incc.measuring.host import ports as host_ports
from incc.measuring.host.choice import contradicted
from incc.measuring.pipeline import comparison as pipeline
from incc.measuring.pipeline.comparison import ComparedFinding
from incc.measuring.pipeline.probing import ProbeBench
from incc.measuring.ports.study import FormPorts
from incc.measuring.records import OtherRun, Records
from incc.measuring.simulated import Simulated
from incc.measuring.streams.fit import error_of
from incc.models.check import ModelFinding, check
from incc.models.loading import find_cpu, load, purge, search_places
from incc.models.memory import MemoryHierarchy
from incc.models.model import MachineModel
from incc.models.processors.host import read
from incc.support.files import replace_file
from incc.support.signals import interruptible

if TYPE_CHECKING:
    import argparse

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

_BUSY = 0.5
"""The share of disturbed samples above which a note is printed."""
_MEMORY_WORTH = 0.01
"""The least decrease of the mean error that justifies a model which differs in its caches and memory only."""
_WORTH_KEEPING = 0.001
"""By how much less the mean error must be for another model of a core that has one."""


class MakeHostOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the command."""

    output: str
    """The model file."""
    resume: str = ""
    """The folder for measurements, "" for one next to the model file."""
    quick: bool = False
    """Measure only the pipeline and the forms of the loops."""
    minutes: float = 0
    """The time for forms, 0 for no limit."""
    relative: str = ""
    """The model to start from, "" for the nearest."""
    model_path: tuple[str, ...] = ()
    unsafe: bool = False
    """Measure even if the system cannot isolate the code from files and other processes."""


class _Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run of the command on one machine."""

    options: MakeHostOptions
    relative: MachineModel
    folder: str
    """The folder for measurements."""
    end: float
    """The time at which measuring forms ends."""
    loops: Sequence[host.Case] = ()
    """The loops on which predictions are compared."""
    memory: MemoryHierarchy | None = None
    """The measured memory hierarchy."""
    memory_is_better: bool = False
    """True if it explains measured streams better than the relative's."""


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    options = msgspec.convert(args, MakeHostOptions, from_attributes=True)
    try:
        name = host.name_of(options.output)
    except ValueError as e:
        return _failed(str(e), USAGE)
    if why := host.may_write(options.output):
        return _failed(f"{options.output}: {why}")
    if why := missing():
        return _failed(why)
    folder = options.resume or f"{os.path.splitext(options.output)[0]}.measured"
    try:
        with interruptible(), Harness(unsafe=options.unsafe) as harness:
            relative, why, exact = _relative(options)
            if relative is None:
                return _failed(why)
            if relative.name.lower() == name.lower():
                return _failed(f"{options.output}: a model that inherits from {relative.name} needs another name")
            print(why)
            if harness.counters_missing:
                print(f"measuring by the clock: {harness.counters_missing}")
            with _own_folder(folder):
                if relative.isa == host_aarch64.ISA:
                    return make_aarch64(options, relative, host_aarch64.HostMachine(harness), folder)
                status = make(options, relative, harness, folder, exact=exact, streams=_streams)
            if harness.busy > _BUSY:
                print(
                    f"the machine was busy: something else ran during {harness.busy:.0%} of the samples, so that the\n"
                    "windows (rob, rs, load_buffer, store_buffer) may be too small"
                )
            return status
    except Unavailable as e:
        return _failed(str(e))
    except KeyboardInterrupt:
        print(f"\nincc-model: interrupted; {_continues(folder)}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except OSError as e:
        return _failed(f"{e.filename or folder}: {e.strerror}; {_continues(folder)}")


def _streams(relative: MachineModel) -> bench_memory.MeasuredMachine:
    return bench_memory.machine_of_host(relative, features_of_host(read().features))


def _begin(options: MakeHostOptions, relative: MachineModel, folder: str, loops: Sequence[host.Case] = ()) -> _Run:
    end = time.monotonic() + 60 * options.minutes if options.minutes else float("inf")
    return _Run(options=options, relative=relative, folder=folder, end=end, loops=loops)


def _with_memory(this: _Run, machine: Callable[[MachineModel], bench_memory.MeasuredMachine]) -> _Run:
    """Measure the caches and the memory, print how well that explains streams, and return the run with them."""
    relative = this.relative
    try:
        streams = machine(relative)
        with Records(os.path.join(this.folder, "memory.jsonl"), relative.name) as records:
            records.begin({"core": relative.name})
            wanted = bench_memory.plan(streams, this.options.quick)
            outcome = bench_memory.measure(streams, relative, records, wanted, [])
    except (Unavailable, OtherRun) as e:
        print(f"caches and memory: not measured: {e}")
        return this
    if outcome.fit is None:
        print("caches and memory: no time to measure them; the same command continues")
        return this
    memory, figures = outcome.fit.memory, outcome.figures
    errors = [error_of(m, figures, streams.levels, relative) if m else None for m in (relative.memory, memory)]
    before = "it has none" if errors[0] is None else f"{errors[0]:.1%} with {relative.name}'s"
    print(f"caches and memory: mean error on held-out loops: {before}, {errors[1]:.1%} as measured")
    better = errors[0] is None or (errors[1] is not None and errors[1] < errors[0] - _MEMORY_WORTH)
    return replace(this, memory=memory, memory_is_better=better)


def _continues(folder: str) -> str:
    return f"the measurements are in {folder}, and the same command continues from there"


def _relative(options: MakeHostOptions) -> tuple[MachineModel | None, str, bool]:
    """Return the model to start from and a sentence about it, or None and why there is none.

    The last item is True if the model is of this very core.
    """
    exact = False
    if options.relative:
        model, nearest = load(options.relative, options.model_path), ""
    else:
        # A model of this processor that was made earlier is not considered: only those that come with incc are.
        cpu = find_cpu("native", options.model_path)
        if not cpu.model:
            why = f": {cpu.why}" if cpu.why else ""
            return None, f"no model is near to this processor{why}; name one with --relative", False
        model = load(cpu.model, options.model_path)
        exact = not cpu.nearest
        nearest = f", the nearest to this core ({cpu.why})" if cpu.nearest else ""
    if model.isa != host.isa_here():
        return None, f"{model.name} has another instruction set than this machine", False
    return model, f"starting from {model.name} ({model.title}){nearest}", exact


def make(
    options: MakeHostOptions,
    relative: MachineModel,
    machine: Machine,
    folder: str,
    there: frozenset[str] | None = None,
    exact: bool = False,
    streams: Callable[[MachineModel], bench_memory.MeasuredMachine] | None = None,
) -> int:
    """Measure, write the model, check it, print how accurate it is, and return the exit status.

    A model that predicts loops worse than the relative is not kept, nor is one of the same core that is no better.

    Args:
        options: The command's options.
        relative: The model to start from.
        machine: The machine that runs loops.
        folder: The folder for measurements.
        there: The features of the machine by iced-x86's names; None for those of this processor.
        exact: True if the relative is a model of this very core.
        streams: A function that returns the machine whose caches and memory are measured; None not to measure them.
    """
    bench = ProbeBench(machine.measure, os.path.join(folder, "loops.jsonl"), options.quick)
    again = ProbeBench(machine.measure, os.path.join(folder, "loops_again.jsonl"), options.quick)
    compared = _pipeline(bench, again, relative)
    this = _begin(options, relative, folder, host.cases())
    if streams is not None:
        this = _with_memory(this, streams)
    core = target(relative, features_of_host(read().features) if there is None else there)
    result, ports = _ports(this, core, machine, _forms_of_x86(this, core, machine))
    written, findings = _write(this, compared, result, ports)
    if not any(f.level == "error" for f in findings):
        made = load(options.output, options.model_path)
        remaining = _without_contradicted(this, bench, made, written, compared, result)
        if remaining != (compared, result):
            compared, result = remaining
            written, findings = _write(this, compared, result, ports)
    if _print_written(this, written, findings):
        return FAILED
    gain = _gain(this, bench, load(options.output, options.model_path))
    if gain is not None and (gain < 0 or (exact and gain < _WORTH_KEEPING)):
        if this.memory_is_better:
            _write(this, [], replace(result, different=[]))
            print(f"{relative.name} predicts these loops as well: the model differs in its caches and memory only")
            return OK
        os.remove(options.output)
        purge()
        print(f"nothing needs changing: {relative.name} predicts these loops as well; no model was written")
        return OK
    print(f"use it as -mcpu={options.output if os.path.dirname(options.output) else f'./{options.output}'}")
    return OK


def _write(
    this: _Run,
    compared: Sequence[ComparedFinding],
    result: host_forms.FormsComparison,
    ports: Sequence[FormPorts] = (),
    note: str = "",
) -> tuple[host.WrittenModel, list[ModelFinding]]:
    """Write the model file; return its contents, and what `incc-model check` finds in it."""
    options, relative = this.options, this.relative
    name = host.name_of(options.output)
    forms = host_forms.entries(result.different, relative)
    written = host.model_text(name, relative, host.processor_name(), compared, forms, result, ports, note, this.memory)
    replace_file(options.output, written.text)
    purge()
    return written, check(os.path.abspath(options.output), search_places(options.model_path))


def _print_written(this: _Run, written: host.WrittenModel, findings: Sequence[ModelFinding]) -> int:
    """Print findings and how much of the model is its own, and return the number of errors."""
    for finding in findings:
        print(finding)
    errors = sum(f.level == "error" for f in findings)
    print(
        f"{this.options.output}: {len(written.parameters)} parameters, {len(written.fusion)} macro-fusion classes and\n"
        f"  {len(written.forms)} forms differ from {this.relative.name}; {errors} errors, "
        f"{len(findings) - errors} warnings"
    )
    return errors


def make_aarch64(
    options: MakeHostOptions, relative: MachineModel, machine: host_aarch64.TextMachine, folder: str
) -> int:
    """Measure forms on AArch64, where there are no probes of the pipeline and no loops to compare on."""
    print(NOT_TRIED)
    bench = host_aarch64.AArch64Bench(machine, relative)
    expected = host_aarch64.AArch64Bench(host_aarch64.ModelMachine(relative), relative)
    this = _begin(options, relative, folder)
    result = _forms(this, bench, expected, host_aarch64.wanted(relative))
    written, findings = _write(this, [], result, note=NOT_TRIED)
    return FAILED if _print_written(this, written, findings) else OK


@contextlib.contextmanager
def _own_folder(folder: str) -> Iterator[str]:
    """Lock a folder for measurements for this run, and yield it.

    Raises Unavailable if another run has locked it, or if it contains measurements of another processor.
    """
    os.makedirs(folder, exist_ok=True)
    mine = f"{host.processor_name()}\n{read().family} {read().model} {read().stepping}\n"
    with open(os.path.join(folder, "processor"), "a+", encoding="utf-8", errors="replace") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unavailable(f"{folder}: in use by another run") from None
        except OSError:
            pass  # a file system without locks
        file.seek(0)
        there = file.read()
        if not there:
            file.write(mine)
            file.flush()
        elif there != mine:
            raise Unavailable(f"{folder}: measurements of another processor; name another folder with --resume")
        print(f"measurements are kept in {folder}")
        yield folder


def _pipeline(bench: ProbeBench, again: ProbeBench, relative: MachineModel) -> list[ComparedFinding]:
    """Probe the pipeline, print and return the findings; `again` repeats those that differ from the relative."""
    compared: list[ComparedFinding] = []
    with _progress("pipeline", len(pipeline.PROBES)) as go_on:
        for name, findings in pipeline.probe(bench):
            compared += pipeline.compare(findings, relative, name)
            go_on()
        # The results that probes have for each other need not be confirmed.
        again.plain_nops, again.seen = bench.plain_nops, dict(bench.seen)
        compared = pipeline.confirmed(again, compared, relative)
    rows = [c for c in compared if not c.finding.name.startswith(("macro_fusion.", "note:"))]
    width = max((len(c.finding.name) for c in rows), default=0)
    print(f"\n{'parameter':{width}}  {'found':>10}  {relative.name:>16}")
    for c in rows:
        value, theirs = ("-" if v is None else host.shown(v) for v in (c.finding.value, c.known))
        print(f"{c.finding.name:{width}}  {value:>10}  {theirs:>16}  {_VERDICTS[c.verdict]}")
    if pairs := [c for c in compared if c.finding.name.startswith("macro_fusion.")]:
        print(f"macro-fusion: {sum(c.verdict == 'agrees' for c in pairs)} of {len(pairs)} pairs as in {relative.name}")
    if differ := [c.finding.name.removeprefix("macro_fusion.") for c in pairs if c.verdict == "differs"]:
        print(f"  different: {', '.join(differ)}")
    print()
    return compared


_VERDICTS = {
    "agrees": "kept",
    "differs": "taken",
    "unsure": "does not repeat; kept",
    "against": "contradicted by loops; kept",
    "unknown": "not measured; kept",
    "note": "no parameter",
}


def _forms_of_x86(this: _Run, core: MeasuredCore, machine: Machine) -> host_forms.FormsComparison:
    """Compare the forms of the loops, then, unless only these are wanted, all others."""
    bench, simulated = host_forms.benches(core, machine, Simulated(this.relative))
    todo = host_forms.wanted(core, host.forms_of(this.loops, this.relative), this.options.quick)
    return _forms(this, bench, simulated, list(todo))


def _forms(
    this: _Run,
    bench: host_forms.FormBench,
    expected: host_forms.FormBench,
    todo: Sequence[host_forms.Measurable],
) -> host_forms.FormsComparison:
    """Measure forms, and compare them with the figures of the relative's bench."""
    options, relative = this.options, this.relative
    path = os.path.join(this.folder, "forms.jsonl")
    start = time.monotonic()
    kept = host_forms.read(path)
    before = len(kept.records) + len(kept.failed)
    with _progress("forms", len(todo), this.end) as go_on:
        measured = host_forms.measure(bench, todo, path, kept, go_on, expected)
        result = host_forms.compare(measured, bench, expected, relative, path)
    done = len(kept.records) + len(kept.failed)
    if time.monotonic() >= this.end:
        each = (time.monotonic() - start) / max(1, done - before)
        left = max(1, round(max(0, len(todo) - done) * each / 60))
        print(
            f"{options.minutes:g} minutes are over: {done} of {len(todo)} forms; the others take about {left} minutes\n"
            "the same command continues"
        )
    print(
        f"forms: {result.same} as in {relative.name}, {len(result.different)} differ, {len(result.unsteady)} do not "
        f"repeat,\n  {len(result.faster)} are faster than its ports allow, {len(result.missing)} it does not have, "
        f"{len(kept.failed)} cannot be measured"
    )
    return result


_MOST_STUDIED = 60
"""Forms whose ports a run infers: eight throughputs each."""


def _ports(
    this: _Run, core: MeasuredCore, machine: Machine, result: host_forms.FormsComparison
) -> tuple[host_forms.FormsComparison, list[FormPorts]]:
    """Return the result with other ports for forms that contradict the relative's, and the ports that were inferred.

    Forms of the loops may differ only in combination with other forms, so they are studied, too, except with --quick.
    Ports are believed if a second study infers the same from its own throughputs.
    """
    relative = this.relative
    names = host_forms.contradicting(result)[:_MOST_STUDIED]
    if not this.options.quick:
        names += [form for form in host.forms_of(this.loops, relative) if form not in names]
    names = [form for form in names if not host_ports.why_not(form, core.features, relative)]
    if not names or time.monotonic() >= this.end:
        return result, []

    def study(forms: Sequence[str], name: str) -> list[FormPorts]:
        with _progress("ports", None, this.end) as go_on:
            ask = host_ports.oracle(machine, go_on)
            return host_ports.find(forms, core, relative, ask, os.path.join(this.folder, name)).mappings

    def differs(ports: FormPorts) -> bool:
        return host_ports.surely_different(ports, relative.lookup(ports.form, frozenset()), relative.ports)

    try:
        studied = study(names, "ports.jsonl")
        different = [ports for ports in studied if differs(ports)]
        again = {m.form: m.uops for m in study([m.form for m in different], "ports_again.jsonl")} if different else {}
    except host_ports.Ended:
        print(f"ports: the time is over before they are inferred; {relative.name}'s are kept")
        return result, []
    believed = [ports for ports in different if sorted(again.get(ports.form, ())) == sorted(ports.uops)]
    unsure = sum(ports.how != "measured" for ports in studied)
    print(
        f"ports of {len(studied)} forms: {len(studied) - unsure - len(different)} as in {relative.name}, "
        f"{len(believed)} others taken, {len(different) - len(believed)} that do not repeat\n"
        f"  and {unsure} that throughputs do not tell, for which {relative.name}'s are kept"
    )
    kept = [ports for ports in studied if ports in believed or ports not in different]
    return host_forms.with_ports(result, believed, relative), kept


def _without_contradicted(
    this: _Run,
    bench: ProbeBench,
    made: MachineModel,
    written: host.WrittenModel,
    compared: list[ComparedFinding],
    result: host_forms.FormsComparison,
) -> tuple[list[ComparedFinding], host_forms.FormsComparison]:
    """Return the comparison and the result without changes that loops contradict.

    The loops are measured here (`measuring/host/choice.py`).
    """
    bench.tries = min(bench.tries, 3)
    loops, _ = host.halves(this.loops)
    outcomes, _ = host.compare_loops(bench, loops, this.relative, made)
    cycles = {o.name: o.cycles for o in outcomes}
    cases = [case for case in loops if case.name in cycles]
    measured = [cycles[case.name] for case in cases]
    wrong = contradicted(cases, measured, this.relative, made, written.parameters, written.forms)
    errors = {}
    for each in wrong:
        print(
            f"left out: {each.change.name}: the {each.loops} loops that it concerns are {each.with_it:.1%} off with "
            f"it, {each.without:.1%} without"
        )
        errors[each.change] = f"{each.loops} loops are {each.with_it:.1%} off with it, {each.without:.1%} without"
    parameters = {change.parameter: text for change, text in errors.items() if change.parameter}
    forms = {change.form: text for change, text in errors.items() if change.form}
    after = []
    for c in compared:
        text = parameters.get(c.finding.name.partition(".")[0])
        if text is not None and c.verdict == "differs":
            c = replace(c, verdict="against", finding=replace(c.finding, text=f"{c.finding.text} ({text})"))
        after.append(c)
    against = [
        f"{d.key[0]}: seen twice as other than {d.text}, but {forms[d.key[0]]}"
        for d in result.different
        if d.key[0] in forms and not d.key[1]
    ]
    different = [d for d in result.different if d.key[0] not in forms]
    return after, replace(result, different=different, against=(*result.against, *against))


def _gain(this: _Run, bench: ProbeBench, after: MachineModel) -> float | None:
    """Print how accurate both models are on the loops that decided nothing.

    Returns by how much the mean error is less with the new model; None if no loop could be compared.
    """
    bench.tries = min(bench.tries, 3)
    before = this.relative
    _, loops = host.halves(this.loops)
    outcomes, left_out = host.compare_loops(bench, loops, before, after)
    for name, why in left_out:
        print(f"not compared: {name}: {why}")
    if not outcomes:
        print("accuracy: no loop could be compared")
        return None
    error, with_new = (host.mean_error(outcomes, which) for which in ("before", "after"))
    print(
        f"accuracy: mean error on {len(outcomes)} loops measured here, which decided about no figure:\n"
        f"  {error:.1%} with {before.name}, {with_new:.1%} with {after.name}"
    )
    worst = sorted(outcomes, key=lambda o: -abs(o.after - o.cycles) / o.cycles)[:5]
    print(f"  {'measured':>9} {'before':>9} {'after':>9}  largest errors")
    for o in worst:
        print(f"  {o.cycles:9.2f} {o.before:9.2f} {o.after:9.2f}  {o.name}")
    return error - with_new


@contextlib.contextmanager
def _progress(what: str, total: int | None, end: float = float("inf")) -> Iterator[Callable[[], bool]]:
    """Show a progress bar on a terminal; yield a function that advances it, and returns False once the time is over."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda: time.monotonic() < end
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task(what, total=total)

        def advance() -> bool:
            bar.advance(task)
            return time.monotonic() < end

        yield advance


def _failed(text: str, status: int = FAILED) -> int:
    print(f"incc-model: {text}", file=sys.stderr)
    return status
