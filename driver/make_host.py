"""`incc-model make host`: measures the processor that this runs on, and writes a model of it.

Whatever is measured is kept in a folder of JSON lines, so that a run that was interrupted goes on where it was.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from incc.measuring.forms.target import features_of_host, target
from incc.measuring.harness import Harness, Unavailable, missing
from incc.measuring.host import forms as host_forms
from incc.measuring.host import model as host
from incc.measuring.host import ports as host_ports
from incc.measuring.pipeline import comparison as pipeline
from incc.measuring.pipeline.probing import Bench
from incc.measuring.stand_in import Simulated
from incc.models.files.check import check
from incc.models.importers.merge import replace_file
from incc.models.loading import find_cpu, load, purge, search_places
from incc.models.processors.host import read

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from incc.measuring.forms.bench import Machine
    from incc.measuring.forms.target import Target
    from incc.measuring.harness import Failure, Loop, Measurement
    from incc.measuring.host import aarch64 as host_aarch64
    from incc.measuring.pipeline.comparison import Compared
    from incc.measuring.ports.study import FormPorts
    from incc.models.model import MachineModel

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

_BUSY = 0.5
"""The part of disturbed samples from which on a machine is called busy."""


class Options(NamedTuple):
    """`output`: the model file; `folder`: where figures are kept, "" for beside the file; `quick`: the pipeline and the
    forms of the loops only; `minutes`: for forms, 0 for no end; `relative`: of what core, "" for the nearest."""

    output: str
    folder: str = ""
    quick: bool = False
    minutes: float = 0
    relative: str = ""
    model_path: tuple[str, ...] = ()
    counters: bool = True


def run(args: argparse.Namespace) -> int:
    """The command; its exit status."""
    options = Options(args.output, args.resume, args.quick, args.minutes, args.relative, tuple(args.model_path))
    try:
        name = host.name_of(options.output)
    except ValueError as e:
        return _failed(str(e), USAGE)
    if why := host.may_write(options.output):
        return _failed(f"{options.output}: {why}")
    if why := missing() or host.why_not_here():
        return _failed(why)
    folder = options.folder or f"{os.path.splitext(options.output)[0]}.measured"
    # What the system or a batch queue ends, ends as what somebody interrupts.
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
                print(f"time is told by the clock: {harness.counters_missing}")
            if host.has_forms_alone(relative):
                from incc.measuring.host.aarch64 import Assembled

                with _own_folder(folder):
                    return make_aarch64(options, name, relative, Assembled(harness), folder)
            with _own_folder(folder):
                status = make(options, name, relative, harness, folder)
            if harness.busy > _BUSY:
                print(
                    f"the machine was busy: something else ran beside {harness.busy:.0%} of the samples; figures of\n"
                    "windows (rob, rs, load_buffer, store_buffer) may be too small"
                )
            return status
    except Unavailable as e:
        return _failed(str(e))
    except KeyboardInterrupt:
        print(
            f"\nincc-model: interrupted; what was measured is in {folder}: the same command goes on from there",
            file=sys.stderr,
        )
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except OSError as e:
        # Half a line that stands at the end of a file then is measured again.
        return _failed(
            f"{e.filename or folder}: {e.strerror}; what was measured is in {folder}: the same command goes on from "
            "there"
        )
    finally:
        signal.signal(signal.SIGTERM, before)


def _relative(options: Options) -> tuple[MachineModel | None, str]:
    """The model to start from, and a sentence about it."""
    if options.relative:
        model = load(options.relative, options.model_path)
        if model.isa != host.isa_here():
            return None, f"{model.name} has another instruction set than this machine"
        return model, f"starting from {model.name} ({model.title})"
    # A model of this host that was made before is not its own relative: only those that come with incc count.
    cpu = find_cpu("native", options.model_path)
    if not cpu.model:
        why = f": {cpu.why}" if cpu.why else ""
        return None, f"no model is near to this processor{why}; name one with --relative"
    model = load(cpu.model, options.model_path)
    if model.isa != host.isa_here():
        return None, f"{model.name} has another instruction set than this machine"
    nearest = f", the nearest to this core ({cpu.why})" if cpu.nearest else ""
    return model, f"starting from {model.name} ({model.title}){nearest}"


def make(
    options: Options,
    name: str,
    relative: MachineModel,
    machine: Machine,
    folder: str,
    there: frozenset[str] | None = None,
) -> int:
    """Measures, writes the model, checks it, and prints how good it is. `there`: the features of the machine by
    iced-x86's names, without those of the processor that this runs on."""

    def measure(loops: Iterable[Loop]) -> Iterator[Measurement | Failure]:
        return (machine.measure(loop) for loop in loops)

    bench = Bench(measure, os.path.join(folder, "loops.jsonl"), options.quick)
    again = Bench(measure, os.path.join(folder, "loops_again.jsonl"), options.quick)
    compared = _pipeline(bench, again, relative)
    loops = host.cases()
    core = target(relative, features_of_host(read().features) if there is None else there)
    end = time.monotonic() + 60 * options.minutes if options.minutes else float("inf")
    result = _forms(options, relative, machine, loops, folder, core, end)
    result, ports = _ports(options, relative, machine, loops, folder, core, end, result)

    def write() -> host.Written:
        forms = host_forms.entries(result.different, relative)
        written = host.model_text(name, relative, host.processor_name(), compared, forms, result, ports)
        replace_file(options.output, written.text)
        purge()
        return written

    places = search_places(options.model_path)
    written = write()
    findings = check(os.path.abspath(options.output), places)
    if not any(f.level == "error" for f in findings):
        compared, result, some = _without_contradicted(
            bench, loops, relative, load(options.output, options.model_path), written, compared, result
        )
        if some:
            written = write()
            findings = check(os.path.abspath(options.output), places)
    for finding in findings:
        print(finding)
    errors = sum(f.level == "error" for f in findings)
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


def make_aarch64(
    options: Options, name: str, relative: MachineModel, machine: host_aarch64.Machine, folder: str
) -> int:
    """What there is for AArch64: its forms, without probes of the pipeline and without loops to compare on."""
    from incc.measuring.forms import aarch64 as forms_aarch64
    from incc.measuring.host import aarch64 as host_aarch64

    print(forms_aarch64.NOT_TRIED)
    path = os.path.join(folder, "forms.jsonl")
    todo = host_aarch64.wanted(relative)
    end = time.monotonic() + 60 * options.minutes if options.minutes else float("inf")
    known = host_forms.read(path)
    with _Progress("forms", len(todo)) as progress:

        def said() -> bool:
            progress.step()
            return time.monotonic() < end

        result = host_aarch64.compare(machine, relative, todo, path, known, said)
    done = len(known.records) + len(known.failed)
    if done < len(todo):
        print(
            f"{options.minutes:g} minutes are over: {done} of {len(todo)} forms\n"
            "more: the same command goes on from there"
        )
    print(
        f"forms: {result.same} as in {relative.name}, {len(result.different)} differ, {len(result.unsteady)} do not "
        f"repeat,\n  {len(result.faster)} are faster than its ports allow, {len(known.failed)} cannot be measured"
    )
    forms = host_forms.entries(result.different, relative)
    written = host.model_text(name, relative, host.processor_name(), [], forms, result, note=forms_aarch64.NOT_TRIED)
    replace_file(options.output, written.text)
    purge()
    findings = check(os.path.abspath(options.output), search_places(options.model_path))
    for finding in findings:
        print(finding)
    errors = sum(f.level == "error" for f in findings)
    print(f"{options.output}: {len(written.forms)} forms differ from {relative.name}; {errors} errors")
    return FAILED if errors else OK


@contextlib.contextmanager
def _own_folder(folder: str) -> Iterator[str]:
    """The folder, with a note about what its figures are of: those of another processor are no use. While it is this
    run's, no other one measures into it: both would be busy with the same, and beside each other."""
    import fcntl

    os.makedirs(folder, exist_ok=True)
    mine = f"{host.processor_name()}\n{read().family} {read().model} {read().stepping}\n"
    with open(os.path.join(folder, "processor"), "a+", encoding="utf-8", errors="replace") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unavailable(f"{folder}: another run is measuring into it just now") from None
        except OSError:
            pass  # a file system without locks
        file.seek(0)
        there = file.read()
        if not there:
            file.write(mine)
            file.flush()
        elif there != mine:
            raise Unavailable(f"{folder} has the figures of another processor; name another folder with --resume")
        print(f"figures are kept in {folder}")
        yield folder


def _pipeline(bench: Bench, again: Bench, relative: MachineModel) -> list[Compared]:
    """`again`: for what differs, which is measured once more."""
    found: list[Compared] = []
    with _Progress("pipeline", len(pipeline.PROBES)) as progress:
        for name, findings in pipeline.probe(bench):
            found += pipeline.compare(findings, relative, name)
            progress.step()
        # What probes tell each other is as sure as it gets.
        again.plain_nops, again.seen = bench.plain_nops, dict(bench.seen)
        found = pipeline.confirmed(again, found, relative)
    rows = [c for c in found if not c.finding.name.startswith(("macro_fusion.", "note:"))]
    width = max((len(c.finding.name) for c in rows), default=0)
    print(f"\n{'parameter':{width}}  {'found':>10}  {relative.name:>16}")
    for c in rows:
        value = "-" if c.finding.value is None else _shown(c.finding.value)
        known = "-" if c.known is None else _shown(c.known)
        print(f"{c.finding.name:{width}}  {value:>10}  {known:>16}  {_VERDICTS[c.verdict]}")
    pairs = [c for c in found if c.finding.name.startswith("macro_fusion.")]
    agree = sum(c.verdict == "agrees" for c in pairs)
    differ = [c.finding.name.removeprefix("macro_fusion.") for c in pairs if c.verdict == "differs"]
    if pairs:
        print(f"macro-fusion: {agree} of {len(pairs)} pairs as in {relative.name}")
        if differ:
            print(f"  different: {', '.join(differ)}")
    print()
    return found


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

        def said(key: host_forms.Key) -> bool:
            progress.step()
            return time.monotonic() < end

        known = host_forms.read(path)
        before = len(known.records) + len(known.failed)
        result = host_forms.compare(
            host_forms.measure(bench, todo, path, known, said, simulated), bench, simulated, relative, path
        )
    done = len(known.records) + len(known.failed)
    if time.monotonic() >= end:
        each = (time.monotonic() - start) / max(1, done - before)
        left = max(0, len(todo) - done)
        print(
            f"{options.minutes:g} minutes are over: {done} of {len(todo)} forms; the others take about "
            f"{max(1, round(left * each / 60))} minutes\nmore: the same command goes on from there"
        )
    print(
        f"forms: {result.same} as in {relative.name}, {len(result.different)} differ, {len(result.unsteady)} do not "
        f"repeat,\n  {len(result.faster)} are faster than its ports allow, {len(result.missing)} it does not have, "
        f"{len(known.failed)} cannot be measured"
    )
    return result


_MOST_STUDIED = 60
"""Forms whose ports are looked for in a run: eight throughputs each."""


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
    """Other ports for forms that contradict the relative's, and what was found of each of these and of blockers.

    Which forms do beside others, though not alone, is looked at for those of the loops, unless it is to be quick. What
    is found is believed if a second study, with nothing of the first but the forms, says the same.
    """
    wanted = host_forms.contradicting(result)[:_MOST_STUDIED]
    if not options.quick:
        wanted += [form for form in host.forms_of(loops, relative) if form not in wanted]
    wanted = [form for form in wanted if not host_ports.why_not(form, core.features, relative)]
    if not wanted or time.monotonic() >= end:
        return result, []

    def study(forms: Sequence[str], name: str) -> list[FormPorts]:
        with _Progress("ports", None) as progress:

            def said() -> bool:
                progress.step()
                return time.monotonic() < end

            ask = host_ports.oracle(machine, said)
            return host_ports.find(forms, core, relative, ask, os.path.join(folder, name)).mappings

    def differ(found: Iterable[FormPorts]) -> list[FormPorts]:
        return [
            m for m in found if host_ports.surely_different(m, relative.lookup(m.form, frozenset()), relative.ports)
        ]

    try:
        found = study(wanted, "ports.jsonl")
        first = differ(found)
        again = {m.form: m.uops for m in study([m.form for m in first], "ports_again.jsonl")} if first else {}
    except host_ports.Ended:
        print("ports: the time is over before they could be told; the relative's stay")
        return result, []
    believed = [m for m in first if sorted(again.get(m.form, ())) == sorted(m.uops)]
    unsure = sum(m.how != "measured" for m in found)
    print(
        f"ports of {len(found)} forms: {len(found) - unsure - len(first)} as in {relative.name}, {len(believed)} "
        f"others taken, {len(first) - len(believed)} that do not repeat\n  and {unsure} that time does not tell: "
        f"{relative.name}'s stay"
    )
    return host_forms.with_ports(result, believed, relative), [m for m in found if m in believed or m not in first]


def _without_contradicted(
    bench: Bench,
    loops: Sequence[host.Case],
    relative: MachineModel,
    made: MachineModel,
    written: host.Written,
    compared: list[Compared],
    result: host_forms.Result,
) -> tuple[list[Compared], host_forms.Result, bool]:
    """Without the changes that measured loops contradict (`measuring/host/choice.py`), and whether there are any."""
    from incc.measuring.host.choice import contradicted

    bench.tries = min(bench.tries, 3)
    outcomes, _ = host.compare_loops(bench, loops, relative, made)
    cycles = {o.name: o.cycles for o in outcomes}
    cases = [case for case in loops if case.name in cycles]
    found = contradicted(cases, [cycles[c.name] for c in cases], relative, made, written.parameters, written.forms)
    for one in found:
        print(
            f"left out: {one.change.name}: the {one.loops} loops here that it concerns are {one.with_it:.1%} off "
            f"with it, {one.without:.1%} without"
        )
    parameters = {one.change.parameter: one for one in found if one.change.parameter}
    forms = {one.change.form: one for one in found if one.change.form}
    after = []
    for c in compared:
        left = parameters.get(c.finding.name.partition(".")[0])
        if left is not None and c.verdict == "differs":
            text = f"{c.finding.text} ({left.loops} loops {left.with_it:.1%} off with it, {left.without:.1%} without)"
            c = c._replace(verdict="against", finding=c.finding._replace(text=text))
        after.append(c)
    against = [
        f"{form}: seen twice as other than {text}, but {forms[form].loops} loops are {forms[form].with_it:.1%} off "
        f"with it, {forms[form].without:.1%} without"
        for (form, conditions), _, text in result.different
        if form in forms and not conditions
    ]
    result = result._replace(
        different=[d for d in result.different if d.key[0] not in forms], against=(*result.against, *against)
    )
    return after, result, bool(found)


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
    print(f"  {'measured':>9} {'before':>9} {'after':>9}  farthest off")
    for o in worst:
        print(f"  {o.cycles:9.2f} {o.before:9.2f} {o.after:9.2f}  {o.name}")


def _as_argument(path: str) -> str:
    return path if os.path.dirname(path) else f"./{path}"


class _Progress:
    """A bar on a terminal; elsewhere nothing."""

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
