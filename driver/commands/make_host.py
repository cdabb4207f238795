"""`incc-model make host`: measure this processor and write a model of it.

Measurements are kept in a folder of JSON lines, with which an interrupted run continues.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
import time
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from incc.measuring.forms import aarch64 as forms_aarch64
from incc.measuring.forms.target import features_of_host, target
from incc.measuring.harness import Harness, Unavailable, missing
from incc.measuring.host import aarch64 as host_aarch64
from incc.measuring.host import forms as host_forms
from incc.measuring.host import model as host
from incc.measuring.host import ports as host_ports
from incc.measuring.host.aarch64 import Assembled
from incc.measuring.host.choice import contradicted
from incc.measuring.pipeline import comparison as pipeline
from incc.measuring.pipeline.probing import Bench
from incc.measuring.stand_in import Simulated
from incc.models.check import check
from incc.models.importers.merge import replace_file
from incc.models.loading import find_cpu, load, purge, search_places
from incc.models.processors.host import read

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from incc.measuring.forms.bench import Machine
    from incc.measuring.forms.target import Target
    from incc.measuring.harness import Failure, Loop, Measurement
    from incc.measuring.host.choice import LeftOut
    from incc.measuring.pipeline.comparison import Compared
    from incc.measuring.ports.study import FormPorts
    from incc.models.check import ModelFinding
    from incc.models.model import MachineModel

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

_BUSY = 0.5
"""The share of disturbed samples above which a note is printed."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the command."""

    output: str
    """The model file."""
    folder: str = ""
    """The folder for measurements, "" for one beside the model file."""
    quick: bool = False
    """Measure only the pipeline and the forms of the loops."""
    minutes: float = 0
    """The time for forms, 0 for no limit."""
    relative: str = ""
    """The model to start from, "" for the nearest."""
    model_path: tuple[str, ...] = ()


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    options = Options(
        output=args.output,
        folder=args.resume,
        quick=args.quick,
        minutes=args.minutes,
        relative=args.relative,
        model_path=tuple(args.model_path),
    )
    try:
        name = host.name_of(options.output)
    except ValueError as e:
        return _failed(str(e), USAGE)
    if why := host.may_write(options.output):
        return _failed(f"{options.output}: {why}")
    if why := missing() or host.why_not_here():
        return _failed(why)
    folder = options.folder or f"{os.path.splitext(options.output)[0]}.measured"
    # A batch queue that ends the run interrupts it.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with Harness() as harness:
            relative, why = _relative(options)
            if relative is None:
                return _failed(why)
            if relative.name.lower() == name.lower():
                return _failed(f"{options.output}: a model that inherits from {relative.name} needs another name")
            print(why)
            if harness.counters_missing:
                print(f"measuring by the clock: {harness.counters_missing}")
            if host.has_forms_alone(relative):
                with _own_folder(folder):
                    return make_aarch64(options, name, relative, Assembled(harness), folder)
            with _own_folder(folder):
                status = make(options, name, relative, harness, folder)
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
    finally:
        signal.signal(signal.SIGTERM, before)


def _deadline(options: Options) -> float:
    """Return the time at which measuring forms ends if it begins now."""
    return time.monotonic() + 60 * options.minutes if options.minutes else float("inf")


def _continues(folder: str) -> str:
    return f"the measurements are in {folder}, and the same command continues from there"


def _relative(options: Options) -> tuple[MachineModel | None, str]:
    """Return the model to start from and a sentence about it, or None and why there is none."""
    if options.relative:
        model, nearest = load(options.relative, options.model_path), ""
    else:
        # A model of this processor that was made earlier is not considered: only those that come with incc are.
        cpu = find_cpu("native", options.model_path)
        if not cpu.model:
            why = f": {cpu.why}" if cpu.why else ""
            return None, f"no model is near to this processor{why}; name one with --relative"
        model = load(cpu.model, options.model_path)
        nearest = f", the nearest to this core ({cpu.why})" if cpu.nearest else ""
    if model.isa != host.isa_here():
        return None, f"{model.name} has another instruction set than this machine"
    return model, f"starting from {model.name} ({model.title}){nearest}"


def make(
    options: Options,
    name: str,
    relative: MachineModel,
    machine: Machine,
    folder: str,
    there: frozenset[str] | None = None,
) -> int:
    """Measure, write the model, check it, print how accurate it is, and return the exit status.

    `there` has the features of the machine by iced-x86's names, None for those of this processor.
    """

    def measure(loops: Iterable[Loop]) -> Iterator[Measurement | Failure]:
        return (machine.measure(loop) for loop in loops)

    bench = Bench(measure, os.path.join(folder, "loops.jsonl"), options.quick)
    again = Bench(measure, os.path.join(folder, "loops_again.jsonl"), options.quick)
    compared = _pipeline(bench, again, relative)
    loops = host.cases()
    core = target(relative, features_of_host(read().features) if there is None else there)
    end = _deadline(options)
    result = _forms(options, relative, machine, loops, folder, core, end)
    result, ports = _ports(options, relative, machine, loops, folder, core, end, result)

    def write() -> tuple[host.Written, list[ModelFinding]]:
        forms = host_forms.entries(result.different, relative)
        written = host.model_text(name, relative, host.processor_name(), compared, forms, result, ports)
        return written, _write(options, written)

    written, findings = write()
    if not any(f.level == "error" for f in findings):
        compared, result, any_contradicted = _without_contradicted(
            bench, loops, relative, load(options.output, options.model_path), written, compared, result
        )
        if any_contradicted:
            written, findings = write()
    errors = _print_findings(findings)
    print(
        f"{options.output}: {len(written.parameters)} parameters, {len(written.fusion)} macro-fusion classes and\n"
        f"  {len(written.forms)} forms differ from {relative.name}; {errors} errors, {len(findings) - errors} warnings"
    )
    if errors:
        return FAILED
    made = load(options.output, options.model_path)
    _accuracy(bench, loops, relative, made)
    print(f"use it as -mcpu={_as_argument(options.output)}")
    return OK


def _write(options: Options, written: host.Written) -> list[ModelFinding]:
    """Write the model file and return what `incc-model check` finds in it."""
    replace_file(options.output, written.text)
    purge()
    return check(os.path.abspath(options.output), search_places(options.model_path))


def _print_findings(findings: Sequence[ModelFinding]) -> int:
    """Print findings and return the number of errors."""
    for finding in findings:
        print(finding)
    return sum(f.level == "error" for f in findings)


def make_aarch64(
    options: Options, name: str, relative: MachineModel, machine: host_aarch64.Machine, folder: str
) -> int:
    """Measure forms on AArch64, where there are no probes of the pipeline and no loops to compare on."""
    print(forms_aarch64.NOT_TRIED)
    path = os.path.join(folder, "forms.jsonl")
    todo = host_aarch64.wanted(relative)
    end = _deadline(options)
    kept = host_forms.read(path)
    with _Progress("forms", len(todo)) as progress:

        def go_on() -> bool:
            progress.step()
            return time.monotonic() < end

        result = host_aarch64.compare(machine, relative, todo, path, kept, go_on)
    done = len(kept.records) + len(kept.failed)
    if done < len(todo):
        print(f"{_minutes_over(options, done, len(todo))}\nthe same command continues")
    print(
        f"forms: {result.same} as in {relative.name}, {len(result.different)} differ, {len(result.unsteady)} do not "
        f"repeat,\n  {len(result.faster)} are faster than its ports allow, {len(kept.failed)} cannot be measured"
    )
    forms = host_forms.entries(result.different, relative)
    written = host.model_text(name, relative, host.processor_name(), [], forms, result, note=forms_aarch64.NOT_TRIED)
    errors = _print_findings(_write(options, written))
    print(f"{options.output}: {len(written.forms)} forms differ from {relative.name}; {errors} errors")
    return FAILED if errors else OK


def _minutes_over(options: Options, done: int, total: int) -> str:
    return f"{options.minutes:g} minutes are over: {done} of {total} forms"


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


def _pipeline(bench: Bench, again: Bench, relative: MachineModel) -> list[Compared]:
    """Probe the pipeline, print and return the findings; `again` repeats those that differ from the relative."""
    compared: list[Compared] = []
    with _Progress("pipeline", len(pipeline.PROBES)) as progress:
        for name, findings in pipeline.probe(bench):
            compared += pipeline.compare(findings, relative, name)
            progress.step()
        # The results that probes have for each other need not be confirmed.
        again.plain_nops, again.seen = bench.plain_nops, dict(bench.seen)
        compared = pipeline.confirmed(again, compared, relative)
    rows = [c for c in compared if not c.finding.name.startswith(("macro_fusion.", "note:"))]
    width = max((len(c.finding.name) for c in rows), default=0)
    print(f"\n{'parameter':{width}}  {'found':>10}  {relative.name:>16}")
    for c in rows:
        value = "-" if c.finding.value is None else _shown(c.finding.value)
        theirs = "-" if c.known is None else _shown(c.known)
        print(f"{c.finding.name:{width}}  {value:>10}  {theirs:>16}  {_VERDICTS[c.verdict]}")
    _print_fusion([c for c in compared if c.finding.name.startswith("macro_fusion.")], relative)
    print()
    return compared


def _print_fusion(pairs: Sequence[Compared], relative: MachineModel) -> None:
    if pairs:
        print(f"macro-fusion: {sum(c.verdict == 'agrees' for c in pairs)} of {len(pairs)} pairs as in {relative.name}")
    if differ := [c.finding.name.removeprefix("macro_fusion.") for c in pairs if c.verdict == "differs"]:
        print(f"  different: {', '.join(differ)}")


_VERDICTS = {
    "agrees": "kept",
    "differs": "taken",
    "unsure": "does not repeat; kept",
    "against": "contradicted by loops; kept",
    "unknown": "not measured; kept",
    "note": "no parameter",
}


def _shown(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _forms(
    options: Options,
    relative: MachineModel,
    machine: Machine,
    loops: Sequence[host.Case],
    folder: str,
    core: Target,
    end: float,
) -> host_forms.Result:
    bench, simulated = host_forms.benches(core, machine, Simulated(relative))
    path = os.path.join(folder, "forms.jsonl")
    todo = list(host_forms.wanted(core, host.forms_of(loops, relative), options.quick))
    start = time.monotonic()
    with _Progress("forms", len(todo)) as progress:

        def go_on(key: host_forms.Key) -> bool:
            progress.step()
            return time.monotonic() < end

        kept = host_forms.read(path)
        before = len(kept.records) + len(kept.failed)
        measured = host_forms.measure(bench, todo, path, kept, go_on, simulated)
        result = host_forms.compare(measured, bench, simulated, relative, path)
    done = len(kept.records) + len(kept.failed)
    if time.monotonic() >= end:
        each = (time.monotonic() - start) / max(1, done - before)
        left = max(1, round(max(0, len(todo) - done) * each / 60))
        over = _minutes_over(options, done, len(todo))
        print(f"{over}; the others take about {left} minutes\nthe same command continues")
    print(
        f"forms: {result.same} as in {relative.name}, {len(result.different)} differ, {len(result.unsteady)} do not "
        f"repeat,\n  {len(result.faster)} are faster than its ports allow, {len(result.missing)} it does not have, "
        f"{len(kept.failed)} cannot be measured"
    )
    return result


_MOST_STUDIED = 60
"""Forms whose ports a run infers: eight throughputs each."""


def _ports(
    options: Options,
    relative: MachineModel,
    machine: Machine,
    loops: Sequence[host.Case],
    folder: str,
    core: Target,
    end: float,
    result: host_forms.Result,
) -> tuple[host_forms.Result, list[FormPorts]]:
    """Return the result with other ports for forms that contradict the relative's, and the ports that were inferred.

    Forms of the loops may differ only beside other forms, so that they are studied, too, except with --quick. Ports
    are believed if a second study infers the same from its own throughputs.
    """
    names = host_forms.contradicting(result)[:_MOST_STUDIED]
    if not options.quick:
        names += [form for form in host.forms_of(loops, relative) if form not in names]
    names = [form for form in names if not host_ports.why_not(form, core.features, relative)]
    if not names or time.monotonic() >= end:
        return result, []

    def study(forms: Sequence[str], name: str) -> list[FormPorts]:
        with _Progress("ports", None) as progress:

            def go_on() -> bool:
                progress.step()
                return time.monotonic() < end

            ask = host_ports.oracle(machine, go_on)
            return host_ports.find(forms, core, relative, ask, os.path.join(folder, name)).mappings

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
    bench: Bench,
    loops: Sequence[host.Case],
    relative: MachineModel,
    made: MachineModel,
    written: host.Written,
    compared: list[Compared],
    result: host_forms.Result,
) -> tuple[list[Compared], host_forms.Result, bool]:
    """Return the comparison and the result without changes that loops contradict, and True if there are any.

    The loops are measured here (`measuring/host/choice.py`).
    """
    bench.tries = min(bench.tries, 3)
    outcomes, _ = host.compare_loops(bench, loops, relative, made)
    cycles = {o.name: o.cycles for o in outcomes}
    cases = [case for case in loops if case.name in cycles]
    wrong = contradicted(cases, [cycles[c.name] for c in cases], relative, made, written.parameters, written.forms)
    for each in wrong:
        print(
            f"left out: {each.change.name}: the {each.loops} loops that it concerns are {each.with_it:.1%} off with "
            f"it, {each.without:.1%} without"
        )
    parameters = {each.change.parameter: each for each in wrong if each.change.parameter}
    forms = {each.change.form: each for each in wrong if each.change.form}

    def errors(each: LeftOut) -> str:
        return f"{each.loops} loops are {each.with_it:.1%} off with it, {each.without:.1%} without"

    after = []
    for c in compared:
        left_out = parameters.get(c.finding.name.partition(".")[0])
        if left_out is not None and c.verdict == "differs":
            text = f"{c.finding.text} ({errors(left_out)})"
            c = replace(c, verdict="against", finding=replace(c.finding, text=text))
        after.append(c)
    against = [
        f"{d.key[0]}: seen twice as other than {d.text}, but {errors(forms[d.key[0]])}"
        for d in result.different
        if d.key[0] in forms and not d.key[1]
    ]
    result = replace(
        result, different=[d for d in result.different if d.key[0] not in forms], against=(*result.against, *against)
    )
    return after, result, bool(wrong)


def _accuracy(bench: Bench, loops: Sequence[host.Case], before: MachineModel, after: MachineModel) -> None:
    bench.tries = min(bench.tries, 3)
    outcomes, left_out = host.compare_loops(bench, loops, before, after)
    for name, why in left_out:
        print(f"not compared: {name}: {why}")
    if not outcomes:
        print("accuracy: no loop could be compared")
        return
    print(
        f"accuracy: mean error on {len(outcomes)} loops measured here:\n"
        f"  {host.mean_error(outcomes, 'before'):.1%} with {before.name}, "
        f"{host.mean_error(outcomes, 'after'):.1%} with {after.name}"
    )
    worst = sorted(outcomes, key=lambda o: -abs(o.after - o.cycles) / o.cycles)[:5]
    print(f"  {'measured':>9} {'before':>9} {'after':>9}  largest errors")
    for o in worst:
        print(f"  {o.cycles:9.2f} {o.before:9.2f} {o.after:9.2f}  {o.name}")


def _as_argument(path: str) -> str:
    return path if os.path.dirname(path) else f"./{path}"


class _Progress:
    """A progress bar on a terminal."""

    def __init__(self, what: str, total: int | None) -> None:
        self._step: Callable[[], None] = lambda: None
        self._bar = None
        if sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            bar = Progress(console=Console(stderr=True), transient=True)
            task = bar.add_task(what, total=total)
            self._bar = bar
            self._step = lambda: bar.advance(task)

    def step(self) -> None:
        self._step()

    def __enter__(self) -> _Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def _failed(text: str, status: int = FAILED) -> int:
    print(f"incc-model: {text}", file=sys.stderr)
    return status
