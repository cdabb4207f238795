"""The command `incc-bench`: latency, throughput and conflicts of instructions, measured on the processor at hand."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from types import FrameType
    from typing import Any, TypeVar

    from incc.frontends.kernel import Kernel
    from incc.measuring.forms.bench import Bench
    from incc.measuring.forms.operands import Named
    from incc.measuring.forms.target import Target
    from incc.measuring.harness import Failure, Harness
    from incc.measuring.records import Records
    from incc.measuring.stand_in import Simulated
    from incc.models.model import MachineModel

    _Item = TypeVar("_Item")

OK, INCOMPLETE, USAGE = 0, 1, 2

BUSY = 0.25
"""Part of disturbed samples above which that is said."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status: 0; 1 if something could not be measured, or not all was; 2 for a
    mistake on the command line, or files that cannot be used."""
    from incc.driver import UsageError
    from incc.driver.errors import AnalysisError

    options = _parser().parse_args(sys.argv[1:] if arguments is None else arguments)
    try:
        if sys.stdout is None:  # closed when we were started
            import errno

            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        status = _run(options)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:  # before anything was measured, or while it was written
        _say("interrupted")
        return INCOMPLETE
    except BrokenPipeError:
        # The reader (head, less) has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return OK
    except UsageError as error:
        _say(f"error: {error}")
        return USAGE
    except AnalysisError as error:
        _say(f"error: {error}")
        return INCOMPLETE
    except OSError as error:
        _say(f"error: {error.filename or 'the output could not be written'}: {error.strerror}")
        return USAGE


def _say(message: str) -> None:
    from incc.driver.views.layout import harmless

    if sys.stderr is not None:
        print(harmless(f"incc-bench: {message}", False), file=sys.stderr)


def _positive(text: str) -> int:
    import argparse

    if not (text.isascii() and text.isdigit()) or not 0 < int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to 1000")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    from incc.driver.parsers import Parser
    from incc.measuring.forms.messages import FORMS

    parser = Parser(
        prog="incc-bench",
        summary="latency, throughput and conflicts of instructions, measured",
        description="Measure instructions on the processor at hand: latency from each operand to each result, "
        "throughput, ports, conflicts in pairs, and kernels (docs/measuring.md).",
        status="0; 1 if something could not be measured, or not all was; 2 for a mistake on the command "
        "line, or files that cannot be used",
    )
    parser.add_argument(
        "forms",
        nargs="*",
        metavar="FORM",
        help=FORMS,
    )
    parser.add_argument("--all", action="store_true", help="all forms that can be measured")
    parser.add_argument(
        "--match", action="append", default=[], metavar="GLOB", help="of all, those whose key or mnemonic fits"
    )
    parser.add_argument("--list", action="store_true", help="only list the forms that would be measured")
    what = parser.add_argument_group("what to measure")
    what.add_argument("--serial", action="store_true", help="latency only")
    what.add_argument("--parallel", action="store_true", help="throughput only")
    what.add_argument(
        "--ports",
        action="store_true",
        help="also issue slots and µops by port, beside blocking instructions (with -o always)",
    )
    what.add_argument("--pairs", action="store_true", help="the forms in pairs: who shares a port with whom")
    what.add_argument(
        "--port-sets",
        action="store_true",
        help="which ports the forms' µops can use, by throughputs beside blocking instructions, and how sure that is; "
        "-o FILE keeps the throughputs (docs/ports.md)",
    )
    what.add_argument(
        "--kernel",
        action="append",
        default=[],
        metavar="FILE",
        help="the marked regions, else the innermost loops, of assembly",
    )
    what.add_argument("--repeat", type=_positive, default=1, metavar="N", help="the median of N measurements")
    what.add_argument("--unroll", type=_positive, default=16, metavar="N", help="links of a chain (default: 16)")
    what.add_argument("--no-counters", action="store_true", help="by time alone, even if there are counters")
    what.add_argument(
        "--simulated", action="store_true", help="a simulation of the model in this processor's place, to try things"
    )
    beside = parser.add_argument_group("beside what")
    beside.add_argument(
        "-mcpu", "--mcpu", default="", metavar="NAME", help="the model to compare with (default: the host's)"
    )
    beside.add_argument(
        "--model-path", action="append", default=[], metavar="DIR", help="look for models there first (repeated)"
    )
    beside.add_argument(
        "--relative", default="", metavar="NAME", help="with --port-sets: the model of a similar core (default: -mcpu)"
    )
    beside.add_argument(
        "--port-count", type=_positive, default=0, metavar="N", help="with --port-sets: ports (default: the relative's)"
    )
    beside.add_argument(
        "--issue-width",
        type=_positive,
        default=0,
        metavar="N",
        help="with --port-sets: fused µops a cycle (default: the relative's)",
    )
    write = parser.add_argument_group("what to write")
    write.add_argument("--format", choices=("text", "json"), default="text", help="text (default), or JSON lines")
    write.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default="",
        help="also JSON lines, each when it is known, which `incc-model import measured` reads; a run that ended goes "
        "on behind what FILE has",
    )
    write.add_argument("--resume", metavar="FILE", default="", help="as -o; FILE must be there")
    write.add_argument(
        "--html", "--picture", dest="html", metavar="FILE", default="", help="a page, or with .svg the matrix alone"
    )
    return parser


# --- what is to be done ----------------------------------------------------------------------------------------------


class _Stopped(Exception):
    """Ended by the user or the system, with what was measured in hand."""


def _run(options: argparse.Namespace) -> int:
    from incc.driver import UsageError
    from incc.driver.errors import AnalysisError
    from incc.driver.pipeline import choose_model
    from incc.measuring.forms.messages import NO_FORM, wrong_machine, wrong_model

    if options.output and options.resume and options.output != options.resume:
        raise UsageError("-o and --resume name different files")
    if options.serial and options.parallel:
        raise UsageError("--serial and --parallel exclude each other")
    for other in ("pairs", "kernel", "serial", "parallel", "ports", "html"):
        if options.port_sets and getattr(options, other):
            raise UsageError(f"--port-sets and --{other} exclude each other")
    for name in ("relative", "port_count", "issue_width"):
        if getattr(options, name) and not options.port_sets:
            raise UsageError(f"--{name.replace('_', '-')} goes with --port-sets")
    if not (options.forms or options.all or options.match or options.kernel):
        raise UsageError(NO_FORM)
    if options.html.endswith(".svg") and not options.pairs:
        raise UsageError(f"{options.html}: a picture is of pairs (--pairs)")
    folder = os.path.dirname(options.html)
    if folder and not os.path.isdir(folder):
        raise UsageError(f"{options.html}: there is no folder {folder}")
    try:
        choice = choose_model(options.mcpu, "", options.model_path)
    except AnalysisError as error:
        if not options.mcpu:
            raise
        raise UsageError(str(error)) from None
    if reason := wrong_model(choice.model.isa, choice.model.name):
        raise UsageError(reason)
    if not options.simulated and (reason := wrong_machine()):
        raise AnalysisError(reason)
    core = _target(choice.model, options.simulated)
    forms = _forms(options, core)
    if options.list:
        for form in forms:
            print(f"{_key(form)}  {form.title}")
        return OK
    kernels = _kernels(options, choice.model)
    if options.pairs and len(forms) < 2:
        raise UsageError("pairs need two forms or more")
    if options.port_sets:
        return _port_sets(options, forms, choice.model, core)
    session = _Session(options, choice.model, core)
    status = OK
    try:
        with _signals():
            if options.pairs:
                session.pairs(forms)
            else:
                session.forms(forms)
            session.kernels(kernels)
    except (_Stopped, KeyboardInterrupt):
        status = INCOMPLETE
        where = f"{session.records.path} has it all; the same command goes on" if session.records.path else ""
        _say(f"interrupted after {session.number} of {session.total}" + (f"; {where}" if where else ""))
    finally:
        session.close()
    _write(options, session, f"{choice.model.title}; {choice.reason}", choice.note)
    return status or (INCOMPLETE if session.failed else OK)


def _port_sets(options: argparse.Namespace, forms: list[Named], model: MachineModel, core: Target) -> int:
    """Infers sets of ports; the exit status. Raises UsageError and AnalysisError."""
    from incc.driver import bench_ports
    from incc.driver.errors import AnalysisError
    from incc.measuring.harness import Unavailable

    relative = bench_ports.relative_of(options, model)
    if options.relative:
        # Blockers are the relative's; which features there are the processor says, or the simulated model.
        from incc.measuring.forms.target import target

        core = target(relative, core.features)
    machine = open_machine(options, model)
    number = 0

    def step() -> None:
        nonlocal number
        number += 1

    try:
        with _signals():
            found, left_out = bench_ports.study(options, forms, core, relative, machine, step)
    except (_Stopped, KeyboardInterrupt):
        path = options.resume or options.output
        where = f"; {path} has them; the same command goes on" if path else ""
        _say(f"interrupted after {number} throughputs{where}")
        return INCOMPLETE
    except Unavailable as error:
        raise AnalysisError(str(error)) from None
    finally:
        machine.close()
    way = "by simulation of " + model.name if options.simulated else f"on this processor, {number} throughputs anew"
    bench_ports.write(options, found, left_out, relative, way)
    if machine.busy > BUSY:
        _say(f"note: something else was running on this core beside {100 * machine.busy:.0f} % of the samples")
    return INCOMPLETE if left_out or any(m.how == "unmeasured" for m in found.mappings) else OK


def _target(model: MachineModel, simulated: bool) -> Target:
    from incc.measuring.forms.target import features_of, features_of_host, target
    from incc.models.processors import host

    return target(model, features_of(model) if simulated else features_of_host(host.read().features))


def _forms(options: argparse.Namespace, core: Target) -> list[Named]:
    """The forms, each once. Raises UsageError with all that is wrong."""
    from incc.driver import UsageError
    from incc.measuring.forms.operands import Unreadable, matching, read

    found: list[Named] = []
    wrong: list[str] = []
    for text in options.forms:
        try:
            found.append(read(text, core))
        except Unreadable as error:
            wrong.append(str(error))
    if wrong:
        raise UsageError("; ".join(wrong))
    if options.all or options.match:
        more = matching(options.match, core)
        if not more:
            raise UsageError(f"no form that can be measured fits {' or '.join(map(repr, options.match))}")
        found += more
    return list({_key(form): form for form in found}.values())


def _key(form: Named) -> str:
    from incc.models.notation import form_key

    return form_key(form.variant.shape.key, form.variant.conditions)


def _kernels(options: argparse.Namespace, model: MachineModel) -> list[tuple[str, Kernel]]:
    """The kernels of the files, with their names. Raises UsageError."""
    from incc.driver import UsageError
    from incc.driver.errors import AnalysisError
    from incc.driver.pipeline import Settings, decode_unit, read_assembly, select
    from incc.frontends.asm.regions import marked_regions
    from incc.frontends.unit import Unit

    found = []
    for path in options.kernel:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                unit = Unit(file.read(), path)
            parsed = read_assembly(unit, model.isa)
            chosen, _ = marked_regions(parsed)
            if not chosen:
                chosen = select(unit, parsed, Settings(regions="loops", system_headers=True)).regions
            kernels = decode_unit(unit, parsed, chosen)
        except AnalysisError as error:
            where = "" if str(error).startswith(path) else f"{path}: "
            raise UsageError(f"{where}{error}") from error
        if not kernels:
            raise UsageError(f"{path}: no loop and no marked region in it")
        for refused in (each for kernel in kernels for each in kernel.refused):
            _say(f"{path}:{refused.line}: {refused.message}")
        found += [(f"{path}:{k.region.first_line if k.region else 1}", k) for k in kernels]
    return found


# --- doing it --------------------------------------------------------------------------------------------------------


_PASSING = ("timeout", "harness", "killed", "unsteady")
"""Failures that may be the machine's and not the loop's."""


def _settled(record: dict[str, Any]) -> bool:
    """Whether a record is of what failed, and would again."""
    return "failure" in record and record["failure"]["kind"] not in _PASSING


class _Session:
    """Measures, keeps and counts. `rows` are for the table, `matrix` for the picture of pairs."""

    def __init__(self, options: argparse.Namespace, model: MachineModel, core: Target) -> None:
        from incc.driver import UsageError
        from incc.measuring.records import OtherRun, Records

        self.options = options
        self.model = model
        self.core = core
        self.number = self.total = self.failed = 0
        self.measured: list[dict[str, Any]] = []
        self.titles: dict[str, str] = {}
        self.matrix_of: list[str] = []
        self._machine: Harness | Simulated | None = None
        self._bench: Bench | None = None
        try:
            path = options.resume or options.output
            self.records: Records = Records(path, core.name, bool(options.resume))
        except OtherRun as error:
            raise UsageError(str(error)) from None

    @property
    def machine(self) -> Harness | Simulated:
        """What runs loops, started when it is first needed."""
        if self._machine is None:
            self._machine = open_machine(self.options, self.model)
        return self._machine

    @property
    def bench(self) -> Bench:
        """Raises AnalysisError where nothing can be measured at all."""
        if self._bench is None:
            from incc.driver.errors import AnalysisError
            from incc.measuring.forms.bench import Bench, NotMeasured

            try:
                self._bench = Bench(self.core, self.machine, self.options.repeat, self.options.unroll)
            except NotMeasured as error:
                raise AnalysisError(f"a loop of moves cannot be measured: {error.failure.text}") from None
            self.records.begin(self._bench.header() if self.records.path else {})
        return self._bench

    def _wanted(self) -> tuple[str, ...]:
        if self.options.serial:
            return ("latency",)
        if self.options.parallel:
            return ("tp",)
        return ("latency", "tp", "ports") if self.options.ports or self.records.path else ("latency", "tp")

    def _keep(self, record: dict[str, Any], known: bool = False) -> None:
        self.number += 1
        self.failed += "failure" in record
        self.measured.append(record)
        if not known:
            self.records.add(record)
        if self.options.format == "json":
            import json

            print(json.dumps(record), flush=True)

    def forms(self, forms: Sequence[Named]) -> None:
        """Measures each form that the records do not have."""
        from incc.measuring.forms.bench import NotMeasured
        from incc.measuring.forms.predicted import figures
        from incc.measuring.records import name

        self.total += len(forms)
        for form in _progress(forms):
            v = form.variant
            self.titles[_key(form)] = form.title
            empty: dict[str, Any] = {"form": v.shape.key, "conditions": list(v.conditions)}
            known = self.records.done.get(name(empty))
            # A run for throughput alone is no reason not to measure latency.
            if known is not None and (_settled(known) or set(self._wanted()) <= set(known.get("what", ()))):
                self._keep(known, True)
                continue
            try:
                record = {**self.bench.record(v, self._wanted()), "what": list(self._wanted())}
                record["model"] = figures(self.bench, v, self.model)
            except NotMeasured as error:
                record = {**empty, "failure": error.failure._asdict()}
            self._keep(record)

    def pairs(self, forms: Sequence[Named]) -> None:
        """Measures the forms alone, and all pairs that the records do not have."""
        from incc.measuring.forms.bench import NotMeasured
        from incc.measuring.forms.pairs import Pair, pairs, together
        from incc.measuring.records import name

        self.matrix_of = [form.title for form in forms]
        wanted = list(pairs(forms))
        self.total += len(wanted)
        alone: dict[str, float] = {}
        for first, second in _progress(wanted):
            titles = [first.title, second.title]
            known = self.records.done.get(name({"pair": titles}))
            if known is not None and ("failure" not in known or _settled(known)):
                self._keep(known, True)
                continue
            try:
                for form in (first, second):
                    if form.title not in alone:
                        alone[form.title] = together(self.bench, [form]).cycles
                found = together(self.bench, [first, second])
                both = (alone[first.title], alone[second.title])
                record = Pair(first.title, second.title, found.cycles, found.spread, both).record()
                record["model"] = self._pair_model([first, second])
            except NotMeasured as error:
                record = {"pair": titles, "failure": error.failure._asdict()}
            self._keep(record)

    def _pair_model(self, forms: Sequence[Named]) -> float | None:
        from incc.measuring.forms.bench import loop_of
        from incc.measuring.forms.pairs import code_of
        from incc.measuring.stand_in import simulated

        copies = 3 * self.options.unroll // 2 * 2
        cycles = simulated(loop_of(code_of(self.bench, forms)).code, self.model)
        return None if cycles is None else round(cycles / copies, 3)

    def kernels(self, kernels: Sequence[tuple[str, Kernel]]) -> None:
        """Measures each kernel, prepared as --measure does it."""
        from zlib import crc32

        from incc.core.analysis import KernelSettings, analyze_kernel
        from incc.measuring.harness import Failure
        from incc.measuring.kernels import prepare, together, unsteady
        from incc.measuring.records import name

        self.total += len(kernels)
        if kernels and self.records.path:
            self.bench  # noqa: B018 - writes the header, without which no run goes on and nothing is imported
        for title, kernel in _progress(kernels):
            # Not the name alone, since the file may be another one by the time of the next run.
            code = b"".join(instruction.encoding for instruction in kernel.instructions)
            record: dict[str, Any] = {"kernel": title, "code": f"{crc32(code):08x}"}
            known = self.records.done.get(name(record))
            if known is not None and ("failure" not in known or _settled(known)):
                self._keep(known, True)
                continue
            prepared = prepare(kernel)
            if isinstance(prepared, Failure):
                self._keep({**record, "failure": prepared._asdict()})
                continue
            times = []
            failure: Failure | None = None
            for loop in prepared.loops:
                found = self.machine.measure(loop)
                if isinstance(found, Failure):
                    failure = found
                    break
                times.append(found)
            if failure is not None:
                self._keep({**record, "failure": failure._asdict()})
                continue
            cycles, spread = together(prepared, times)
            if failure := unsteady(cycles, spread):
                self._keep({**record, "failure": failure._asdict()})
                continue
            try:
                model = float(analyze_kernel(kernel, self.model, KernelSettings()).cycles)
            except ValueError:
                model = None
            self._keep(
                {
                    **record,
                    "cycles": round(cycles, 3),
                    "spread": round(spread, 3),
                    "model": model,
                    "exit": prepared.exit,
                    "notes": list(prepared.notes),
                }
            )

    def close(self) -> None:
        if self._machine is not None:
            self._machine.close()
        self.records.close()

    @property
    def way(self) -> str:
        """How figures were had, in words."""
        if self.options.simulated:
            return "simulated, not measured"
        if self._machine is None:
            return "measured before" if any("failure" not in r for r in self.measured) else "nothing was measured"
        if self._machine.counters_missing:
            return f"by the clock, beside a chain of additions (no counters: {self._machine.counters_missing})"
        return "by performance counters"

    @property
    def busy(self) -> float:
        return 0.0 if self._machine is None else self._machine.busy


def open_machine(options: argparse.Namespace, model: MachineModel) -> Harness | Simulated:
    """What runs loops. Raises AnalysisError."""
    from incc.driver.errors import AnalysisError
    from incc.measuring.harness import Harness, Unavailable
    from incc.measuring.stand_in import Simulated

    if options.simulated:
        return Simulated(model)
    try:
        return Harness(not options.no_counters, model.parameters["port_events"])
    except Unavailable as error:
        raise AnalysisError(str(error)) from None


class _signals:
    """SIGTERM and SIGHUP end as an interruption does: with what was measured. Who ignores them (nohup) goes on."""

    def __enter__(self) -> None:
        import signal

        def stop(number: int, frame: FrameType | None) -> None:
            raise _Stopped

        self._before = {
            number: signal.signal(number, stop)
            for number in (signal.SIGTERM, signal.SIGHUP)
            if signal.getsignal(number) != signal.SIG_IGN
        }

    def __exit__(self, *_: object) -> None:
        import signal

        for number, before in self._before.items():
            signal.signal(number, before)


def _progress(items: Sequence[_Item]) -> Iterator[_Item]:
    """The items, with a bar on a terminal where the results do not themselves go there one by one."""
    if len(items) < 2 or sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track  # 0.1 s: only for people who watch

    yield from track(items, description="measuring", transient=True, console=Console(stderr=True))


# --- what is said ----------------------------------------------------------------------------------------------------


def _write(options: argparse.Namespace, session: _Session, core: str, note: str) -> None:
    from incc.driver.deliver import write_stream
    from incc.driver.files import write_whole

    found = _found(session, core, note)

    def render(width: int, colour: bool) -> str:
        from incc.driver.views.bench import lines
        from incc.driver.views.layout import Layout

        return "".join(f"{line}\n" for line in lines(found, Layout(width, colour)))

    if options.format == "text":
        write_stream(sys.stdout, render)
    if options.html:
        from incc.driver import UsageError
        from incc.driver.views.bench_page import page, picture

        if options.html.endswith(".svg"):
            text = picture(found["matrix"])
        else:
            text = page(found)
        try:
            write_whole(options.html, text)
        except OSError as error:  # which names a file beside it
            raise UsageError(f"{options.html}: {error.strerror}") from None
    if session.busy > BUSY:
        _say(
            f"note: something else was running on this core beside {100 * session.busy:.0f} % of the samples, which "
            "were not used as long as there were others; repeat what has a large ±"
        )


def _found(session: _Session, core: str, note: str) -> dict[str, Any]:
    """What the views show, as texts."""
    figures: list[list[str]] = []
    pairs: list[list[str]] = []
    kernels: list[list[str]] = []
    for record in session.measured:
        failure = record.get("failure")
        if "pair" in record:
            pairs.append(_pair_cells(record))
        elif "kernel" in record:
            kernels.append([record["kernel"], *_kernel_cells(record)])
        elif failure:
            figures.append([_title(session, record), "not measured", "", "", "", failure["text"]])
        else:
            figures += _form_cells(_title(session, record), record)
    return {
        "core": core,
        "way": session.way,
        "notes": [note] if note else [],
        "figures": figures,
        "pairs": pairs,
        "matrix": _matrix(session) if session.matrix_of else None,
        "kernels": kernels,
    }


def _title(session: _Session, record: dict[str, Any]) -> str:
    from incc.models.notation import form_key

    return session.titles[form_key(record["form"], record["conditions"])]


def _cycles(value: float | None, digits: int = 2) -> str:
    # Adding zero takes the sign off what is rounded to it.
    return "-" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"


def _form_cells(title: str, record: dict[str, Any]) -> Iterator[list[str]]:
    from incc.measuring.forms.predicted import rows

    for row in rows(record):
        width = f"{row.spread:.2f}" if row.spread else ""
        said = "" if row.model is None and row.figure.startswith("µops") else _cycles(row.model)
        ports = record.get("model", {}).get("ports", "")
        remark = "differs" if row.differs else f"model: {ports}" if row.figure == "issue slots" and ports else ""
        yield [title, row.figure, _cycles(row.measured), width, said, remark]
        title = ""
    if why := sorted(set(record.get("failed", {}).values())):
        pairs = ", ".join(f"{source} → {to}" for to, _, source in (name.partition("<") for name in record["failed"]))
        yield [title, f"latency {pairs}", "", "", "", f"not measured: {'; '.join(why)}"]


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
    known = {tuple(r["pair"]): r.get("conflict") for r in session.measured if "pair" in r}
    values = [[None if a == b else known.get((a, b), known.get((b, a))) for b in titles] for a in titles]
    return {"titles": titles, "values": values}


if __name__ == "__main__":
    sys.exit(main())
