"""`incc-mca` in llvm-mca's place: called by a name that begins with llvm-mca, or with --compat.

What is printed, on both streams, is in llvm-mca 19's form, and so is the exit status; the analysis is incc's. The
order in which things are found out is llvm-mca's, so that of several mistakes the same one is told.
"""

from __future__ import annotations

import sys

from incc.driver import UsageError
from incc.driver.llvm_mca.options import BY_NAME, Words, read
from incc.driver.messages import tell
from incc.driver.options import MCA, Given, find, has
from incc.driver.views import llvm_mca
from incc.driver.views.llvm_mca.requested import Heading, Views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Literal

    from incc.driver.llvm_mca.messages import Told
    from incc.driver.llvm_mca.target import Target
    from incc.driver.machine_code import Code
    from incc.driver.pipeline import Settings
    from incc.driver.report import types as t
    from incc.driver.report.brief import Wanted

_PARSE_ERRORS = (
    "error: Assembly input parsing had errors, use -skip-unsupported-instructions=parse-failure to drop failing lines "
    "from the input.\n"
)
_NO_INSTRUCTIONS = "error: no assembly instructions found.\n"

_NO_RETURNS = ("uiret", "sysret")
"""Returns that LLVM's instruction descriptions do not have as such."""

_BY_VIEWS = ("summary-view", "bottleneck-analysis", "resource-pressure", "timeline", "instruction-info")
_BY_STATS = ("register-file-stats", "dispatch-stats", "scheduler-stats", "retire-stats")

_PARAMETERS = ("micro-op-queue-size", "decoder-throughput", "dispatch", "lqueue", "squeue", "register-file-size")
"""Options that JSON repeats, if they are not 0."""


class Stop(Exception):
    """There is no more to be done; what there is to say has been said. `status`: the exit status."""

    def __init__(self, status: int = 1) -> None:
        super().__init__()
        self.status = status


def run(arguments: Sequence[str], program: str) -> int:
    """Do what the command line without the program's name asks for; returns the exit status."""
    try:
        return _run(arguments, program)
    except Stop as stop:
        return stop.status
    except MemoryError:
        _say("error: out of memory\n")
        return 1


def _run(arguments: Sequence[str], program: str) -> int:
    given = Given(MCA)
    words = _words(arguments, program, given)
    target = _target(words.values, program)
    name = words.files[0] if words.files else "-"
    values = words.values
    cpu_help = values.get("mcpu") == "help"
    text, code = ("", None) if cpu_help and name == "-" else _input(name, given)
    if "help" in values.get("mattr", ()) or cpu_help:
        from incc.driver.llvm_mca.help import lists

        _say(lists())
    if cpu_help:
        return 1
    settings = _settings(given, values)
    cpu = _cpu(values.get("mcpu", "native"), settings.model_path, target)
    _say_of_features(values.get("mattr", ()))
    views = _views(words, target, cpu)
    if values.get("output-asm-variant", -1) not in (-1, 0, 1) and values["output-asm-variant"] >= -1:
        _say(
            f"error: unable to create instruction printer for target triple '{target.normal}' with assembly variant "
            f"{values['output-asm-variant']}.\n"
        )
        return 1
    if values.get("x86-asm-syntax") == "intel":
        text = ".intel_syntax noprefix; " + text  # the lines keep their numbers
    if not settings.syntax:
        settings = settings._replace(syntax=_last_syntax(text))
    for option in meaningless(values):
        _say(f"note: {option} has no meaning here\n")
    if target.narrow and code is not None:
        from incc.driver.llvm_mca.target import narrow

        code = narrow(code)
    settings = settings._replace(
        mcpu=cpu,
        timeline_iterations=views.timeline_iterations if views.timeline else 0,
        pressure=views.bottleneck_analysis,
        waits=False,
        cold_iterations=0 if views.instruction_tables else settings.cold_iterations,
        wanted=None if views.json else _wanted(views),
    )
    from incc.frontends.isa import DecodeError

    shown_name = "<stdin>" if name == "-" else name
    try:
        report, views, failed = _analysed(text, shown_name, settings, views, values, code)
    except DecodeError as error:  # what LLVM was stopped for
        _say(f"error: {shown_name}: {error}\n")
        return 1
    if _in_order(report):
        # -all-views and -all-stats do not bring what says nothing of such a core, but its own name does.
        views = views._replace(
            retire_stats=views.retire_stats and bool(values.get("retire-stats")),
            bottleneck_analysis=views.bottleneck_analysis and bool(values.get("bottleneck-analysis")),
        )
    _write(llvm_mca.render(report, views), values.get("o", "-") or "-", keep=not failed)
    return int(failed)


def _in_order(report: t.Report) -> bool:
    runs = [kernel["cold"] for unit in report["units"] for kernel in unit["kernels"] if kernel["cold"]]
    return bool(runs) and not any(run["schedulers"] for run in runs)


def _say(text: str) -> None:
    if sys.stdout is not None:
        try:  # noqa: SIM105 -- contextlib is another import at start-up
            sys.stdout.flush()
        except OSError:  # nothing more fits: that is told of where it is written
            pass
    tell(text)


# --- the command line ------------------------------------------------------------------------------------------------


def _words(arguments: Sequence[str], program: str, given: Given) -> Words:
    """The command line; incc's own options are taken by `given`."""
    if any(argument.startswith("@") for argument in arguments):
        from incc.frontends.gcc_wrapper.response_files import expanded_by_llvm

        try:
            arguments = expanded_by_llvm(arguments)
        except ValueError as error:
            _say(f"{error}\n")
            raise Stop from None

    def own(name: str, value: str | None, following: Sequence[str]) -> int:
        if not has(MCA, f"-{name}"):
            return 0
        taken = 1
        if value is None and find(MCA, f"-{name}").needs_value:
            taken, value = 2, (following[0] if following else "")
        try:
            given.take(f"-{name}", value)
        except UsageError as error:
            _say(f"{program.rpartition('/')[2]}: {error}\n")
            raise Stop from None
        return taken

    words = read(arguments, program, own)
    _say("".join(words.errors))
    if words.wanted:
        from incc.driver.deliver import write_stream
        from incc.driver.llvm_mca.help import help_text, version_text

        wanted = "help" if words.wanted == "h" else words.wanted
        text = version_text() if wanted == "version" else help_text(wanted, program.rpartition("/")[2])
        try:
            write_stream(sys.stdout, lambda width, colour: text)
        except OSError:
            raise Stop from None
        raise Stop(0)
    if words.errors:
        raise Stop
    return words


def _target(values: Mapping[str, object], program: str) -> Target:
    from incc.driver.llvm_mca.target import TargetError, target

    try:
        return target(str(values.get("march", "")), str(values.get("mtriple", "")), program)
    except TargetError as error:
        _say(str(error))
        raise Stop from None


def _input(name: str, given: Given) -> tuple[str, Code | None]:
    """The assembly, or machine code."""
    from incc.driver.errors import AnalysisError
    from incc.driver.files import text_of
    from incc.driver.machine_code import machine_code, read_for

    try:
        if not name:
            raise FileNotFoundError(2, "No such file or directory")
        data = read_for(given, name)
        code = machine_code(given, data, name, "<stdin>" if name == "-" else name)
        return ("", code) if code is not None else (text_of(data), None)
    except (AnalysisError, UsageError) as error:
        _say(f"error: {error}\n")
        raise Stop from None
    except OSError as error:
        _say(f"error: {name}: {error.strerror}\n")
        raise Stop from None


def _settings(given: Given, values: Mapping[str, Any]) -> Settings:
    """What the analysis is told: as incc-mca is, but for the default of regions and what nothing is printed of."""
    for name, value in values.items():
        if has(MCA, f"-{name}"):
            given.put(find(MCA, f"-{name}").name, value)
    settings = given.settings()
    return settings._replace(
        regions=settings.regions if given["auto"] else "llvm-mca",
        cold_iterations=settings.iterations,
        call_latency=values.get("call-latency", 100),
        lacking=True,
        steady=False,
        what_ifs=False,
        marks="ignore",
    )


def _views(words: Words, target: Target, cpu: str) -> Views:
    """What is printed: of options that stand before -all-views or -all-stats, those win."""
    values, places = words.values, words.places
    shown = {name: values.get(name, name in ("summary-view", "resource-pressure", "instruction-info")) for name in
             (*_BY_VIEWS, *_BY_STATS)}  # fmt: skip
    last = max(("all-views", "all-stats"), key=lambda name: places.get(name, 0))
    for names, general in ((_BY_VIEWS, "all-views"), (_BY_STATS, last)):
        if general in values:
            for name in names:
                if places.get(name, 0) < places[general]:
                    shown[name] = values[general]
    tables = values.get("instruction-tables", False)
    parameters = [(f"-{name}", values[name]) for name in _PARAMETERS if values.get(name)]
    if not values.get("noalias", True):
        parameters.append(("-noalias", False))
    return Views(
        summary=shown["summary-view"],
        info=shown["instruction-info"],
        encoding=values.get("show-encoding", False),
        barriers=values.get("show-barriers", False),
        pressure=tables or shown["resource-pressure"],
        timeline=shown["timeline"],
        timeline_iterations=min(values.get("timeline-max-iterations", 0) or 10, values.get("iterations", 0) or 100),
        timeline_cycles=values.get("timeline-max-cycles", 80),
        dispatch_stats=shown["dispatch-stats"],
        scheduler_stats=shown["scheduler-stats"],
        retire_stats=shown["retire-stats"],
        register_file_stats=shown["register-file-stats"],
        bottleneck_analysis=shown["bottleneck-analysis"],
        instruction_tables=tables,
        json=values.get("json", False),
        triple=target.triple,
        march=target.march,
        cpu=cpu,
        parameters=tuple(parameters),
    )


def _wanted(views: Views) -> tuple[Wanted, ...]:
    """What of a report the text of these views is made of."""
    facts = views.info
    busy = views.pressure or views.bottleneck_analysis
    wanted: list[Wanted] = ["text"] if facts or busy or views.timeline else []
    wanted += ["facts"] if facts else []
    wanted += ["encoding"] if facts and views.encoding else []
    wanted += ["pressure"] if busy else []
    return tuple(wanted)


# --- what there is to say beforehand ---------------------------------------------------------------------------------


def _cpu(named: str, model_path: Sequence[str], target: Target) -> str:
    """The name of the processor, or names with commas between them; says so if there is none of a name."""
    from incc.driver.cores import named_cores
    from incc.driver.pipeline import AnalysisError, choose_model

    if not named:
        raise Stop
    names = [_host() if name == "native" else name for name in named_cores(named)]
    for name in names:
        other = foreign = False
        why = ""
        if name == name.lower():  # LLVM's names are as they are written
            try:
                chosen = choose_model(name, "", model_path)
                other, foreign = bool(chosen.note), chosen.model.isa != "x86"
            except AnalysisError as error:
                why = str(error)
            if not other and not foreign and not why:
                continue
        from incc.driver.llvm_mca.names import CPUS, UNSCHEDULED

        if name in UNSCHEDULED.split():
            _say(
                "error: unable to find instruction-level scheduling information for target triple "
                f"'{target.normal}' and cpu '{name}'.\n"
            )
            raise Stop
        if other and not foreign:
            continue
        if name in CPUS.split():
            _say(f"error: {why}\n")
        else:
            _say(f"'{name}' is not a recognized processor for this target (ignoring processor)\n" * 2)
        raise Stop
    return ",".join(names)


def _host() -> str:
    from incc.models.loading import host_cpu

    return host_cpu()[0]


def _say_of_features(named: Sequence[str]) -> None:
    if named:
        from incc.driver.llvm_mca.target import features

        unknown, without = features(named)
        for feature in unknown:
            _say(f"'{feature}' is not a recognized feature for this target (ignoring feature)\n")
        if without:
            _say(f"note: -mattr={','.join(without)} has no meaning here: every instruction is analysed\n")


def meaningless(values: Iterable[str]) -> list[str]:
    """Which of these options of llvm-mca change nothing here, as they are written."""
    without = ("disable-cb", "disable-im")
    return [
        f"-{name}"
        for name in values
        if name in without or (name in BY_NAME and not BY_NAME[name].group and name not in ("x86-asm-syntax", "color"))
    ]


def _last_syntax(text: str) -> Literal["att", "intel"]:
    """The syntax that the text ends in, which llvm-mca prints in."""
    if ".intel_syntax" not in text:
        return "att"
    from incc.frontends import regex as re

    found = re.findall(r"^[^#\n]*?\.(att|intel)_syntax\b", text, re.M)
    return "intel" if found and found[-1] == "intel" else "att"


# --- the analysis ----------------------------------------------------------------------------------------------------


def _analysed(
    text: str, name: str, settings: Settings, views: Views, values: Mapping[str, object], code: Code | None
) -> tuple[t.Report, Views, bool]:
    """The report, with headings for its kernels; whether it ends with an instruction that there are no figures for."""
    from incc.driver.pipeline import model_notes
    from incc.frontends.asm.llvm_regions import regions

    skip = values.get("skip-unsupported-instructions", "none")
    _, problems = regions(text)
    told: list[Told] = []
    odd = code is None and _unusual(text, views.triple)
    narrow = views.march[0] == "i"
    triple = views.triple if views.march == "x86_64" or narrow else ""
    report = None if problems or odd else _report(_plain(text, settings), name, settings, code, narrow)
    if code is not None:
        for each in [left for unit in report["units"] for left in unit["left_out"]] if report else ():
            _say(f"warning: {name}: not analysed: {each['reason']}\n")
    elif report is None or _refused(report) or _doubted():
        from incc.driver.llvm_mca.messages import in_markers, refusals, without_lines

        skipped = skip in ("parse-failure", "any")
        # What GNU as refuses and LLVM takes is read as LLVM has it.
        said = refusals(text, name, [], skipped, triple)
        as_read = ""
        if (report is None or _refused(report)) and not any(each.error for each in said):
            as_read = _as_llvm_reads(_plain(text, settings), triple)
        if not as_read and report is not None and not any(each.error for each in said):
            said = refusals(text, name, _refused(report), skipped, triple)
        errors = [each for each in said if each.error]
        told = said + in_markers(text, name, problems)
        told.sort(key=lambda each: each.place)
        _say("".join(each.text for each in told))
        if errors and not skipped:
            _say(_PARSE_ERRORS)
            raise Stop
        if problems:
            raise Stop
        if errors:
            text = without_lines(text, [each.place[0] for each in errors])
            as_read = _as_llvm_reads(_plain(text, settings), triple) if odd else ""
        text = as_read or _plain(text, settings)
        report = _report(text, name, settings, None, narrow)
        from incc.frontends.x86.assembler import ALONE

        if rest := _refused(report):  # there is no LLVM here, or the assembler does not know what LLVM writes
            _say("".join(each.text for each in refusals(text.replace(ALONE, ""), name, rest, True, triple)))
            if not skipped:
                _say(_PARSE_ERRORS)
                raise Stop
        if _counted(report):
            _say("".join(each.text for each in told))  # llvm-mca reads the file twice
    if report is None or not _counted(report):
        _say(_NO_INSTRUCTIONS)
        raise Stop
    for note in model_notes(report):
        _say(f"note: {note}\n")
    for note in _not_simulated(report):
        _say(f"note: {name}: {note}\n")
    unanalysed = settings.mcpu if values.get("bottleneck-analysis") and _in_order(report) else ""
    unknown = _instructions_seen(report, skip in ("lack-sched", "any"), settings.call_latency, unanalysed)
    if unknown and skip in ("lack-sched", "any") and code is None:
        from incc.driver.llvm_mca.messages import without_lines

        text = without_lines(text, unknown)
        report = _report(text, name, settings, None, narrow)
        if not _counted(report):
            _say(_NO_INSTRUCTIONS)
            raise Stop
    headings = _headings(text, report) if code is None else _headings_of_code(report)
    if unknown and skip not in ("lack-sched", "any"):
        # What llvm-mca has printed by then are the regions before; JSON is written at the end.
        if values.get("json"):
            raise Stop
        _cut(report)
        return report, views._replace(headings=headings), True
    return report, views._replace(headings=headings), False


def _unusual(text: str, triple: str) -> bool:
    from incc.frontends.x86.llvm_messages import unusual

    return unusual(text, triple)


def _plain(text: str, settings: Settings) -> str:
    """The text with MASM's numbers written otherwise; not where loops are looked for, which `jmp 1b` makes."""
    from incc.frontends.x86.llvm_messages import with_plain_numbers

    return with_plain_numbers(text) if settings.regions == "llvm-mca" else text


def _doubted() -> bool:
    """Whether the assembler had something to say of the text that was analysed last."""
    from incc.frontends.x86.assembler import heard

    return bool(heard)


def _as_llvm_reads(text: str, triple: str) -> str:
    from incc.frontends.x86.llvm_messages import TRIPLE, expanded

    return expanded(text, triple or TRIPLE)


def _report(text: str, name: str, settings: Settings, code: Code | None, narrow: bool) -> t.Report:
    """The analysis; `narrow`: of a text that is for 32-bit mode until it says otherwise."""
    from incc.driver.cores import cores_of
    from incc.driver.pipeline import AnalysisError, analyze_for_cores
    from incc.frontends.unit import Unit

    try:
        if code is not None:
            marked = settings._replace(regions="loops" if settings.regions == "loops" else "marked")
            return code.report(cores_of(marked))
        if narrow:
            text = ".code32; " + text  # the lines keep their numbers
        return analyze_for_cores([(Unit(text, name), cores_of(settings))])
    except AnalysisError as error:
        _say(f"error: {error}\n")
        raise Stop from None


def _counted(report: t.Report) -> bool:
    return any(kernel["instructions"] for unit in report["units"] for kernel in unit["kernels"])


def _refused(report: t.Report | None) -> list[t.RefusedStatement]:
    """The statements that could not be read, of one unit: they are the same for every core."""
    if report is None or not report["units"]:
        return []
    unit = report["units"][0]
    return [statement for kernel in unit["kernels"] for statement in kernel["refused"]]


def _not_simulated(report: t.Report) -> list[str]:
    """Of kernels whose run was given up, that there is no view of it and where the cycles come from, each once."""
    kernels: list[Any] = [kernel for unit in report["units"] for kernel in unit["kernels"]]
    return [
        f"line {kernel['first_line']}: {why}; the cycles are those of the steady state, and the run has no views"
        for kernel in kernels
        for why in kernel["notes"]
        if why.startswith("not simulated from a cold start")
    ]


def _instructions_seen(report: t.Report, skipped: bool, call_latency: int, unanalysed: str) -> list[int]:
    """Says what llvm-mca says of each region: of calls, returns and instructions without figures, and that
    bottlenecks are not looked for, where `unanalysed` is the name of a core for which they were asked for in vain.
    Returns the lines of instructions without figures: of all, if they are `skipped`, else of the first one."""
    from incc.frontends.isa import isa

    found: dict[int, None] = {}
    for unit in report["units"]:
        for kernel in unit["kernels"]:
            branch = isa(kernel["isa"]).branch
            calls = returns = False  # llvm-mca says it for each region
            for instruction in kernel["instructions"]:
                kind = ""
                if any(sign in instruction["text"] for sign in ("call", "ret", "CALL", "RET")):
                    kind = branch(instruction["text"].replace("\t", " ").strip())[0]
                if kind == "call" and not calls:
                    calls = True
                    _say(
                        "warning: found a call in the input assembly sequence.\n"
                        f"note: call instructions are not correctly modeled. Assume a latency of {call_latency}cy.\n"
                    )
                if kind == "return" and not returns and not instruction["text"].lstrip().startswith(_NO_RETURNS):
                    returns = True
                    _say(
                        "warning: found a return instruction in the input assembly sequence.\n"
                        "note: program counter updates are ignored.\n"
                    )
                if instruction["unknown"] and instruction["line"] not in found:
                    found[instruction["line"]] = None
                    _say(_unsupported(instruction["text"], skipped))
                    if not skipped:
                        return list(found)
            if unanalysed and not all(instruction["unknown"] for instruction in kernel["instructions"]):
                _say(f"warning: bottleneck analysis is not supported for in-order CPU '{unanalysed}'.\n")
    return list(found)


def _unsupported(text: str, skipped: bool) -> str:
    text = text.strip() if "\t" in text.strip() else "\t".join(text.strip().split(" ", 1))
    what = "found an unsupported instruction in the input assembly sequence"
    if skipped:
        said = f"warning: {what}, skipping with -skip-unsupported-instructions, note accuracy will be impacted:\n"
    else:
        said = f"error: {what}, use -skip-unsupported-instructions=lack-sched to ignore these on the input.\n"
    return f"{said}note: instruction: \t{text}\n"


def _cut(report: t.Report) -> None:
    """Leave the kernels before the first one with an instruction that there are no figures for."""
    cut = False
    for unit in report["units"]:
        kept = []
        for kernel in unit["kernels"]:
            cut = cut or any(instruction["unknown"] for instruction in kernel["instructions"])
            if not cut:
                kept.append(kernel)
        unit["kernels"] = kept


def _headings(text: str, report: t.Report) -> tuple[Heading, ...]:
    """What stands above each kernel: the regions with instructions, by their markers."""
    from incc.frontends.asm.llvm_regions import regions, spans

    marked = regions(text)[0] if "LLVM-MCA-" in text else []
    places = spans(text, marked)
    found: list[Heading] = []
    for unit in report["units"]:
        left = iter(zip(marked, places, strict=True))
        for number, kernel in enumerate(unit["kernels"]):
            heading = Heading(number, kernel["name"]) if kernel["kind"] == "loop" else Heading()
            for region, (first, last) in left:
                named = kernel["name"] == region.name or not region.name
                if named and first <= kernel["first_line"] and kernel["last_line"] <= last:
                    if region.begin >= 0 or region.end >= 0:
                        heading = Heading(number, region.name)
                    break
            found.append(heading)
    return tuple(found)


def _headings_of_code(report: t.Report) -> tuple[Heading, ...]:
    """The same of machine code: its kernels' names. A single block of bytes has none."""
    found = []
    for unit in report["units"]:
        alone = unit["way"] == "given" and len(unit["kernels"]) == 1
        found += [Heading() if alone else Heading(*each) for each in enumerate(k["name"] for k in unit["kernels"])]
    return tuple(found)


# --- writing ---------------------------------------------------------------------------------------------------------


def _write(text: str, path: str, keep: bool) -> None:
    """Write what was asked for. A file of a run that failed is not kept."""
    from incc.driver.files import write_all, write_file

    try:
        if path != "-":
            if keep:
                write_file(path, text)
            return
        if sys.stdout is None:
            return
        sys.stdout.flush()
        try:
            descriptor = sys.stdout.fileno()
        except (OSError, ValueError):  # a stream without a file behind it, as tests have
            sys.stdout.write(text)
            return
        write_all(descriptor, text)
    except BrokenPipeError:
        return
    except OSError as error:
        _say(f"error: {error.strerror}\n")
        raise Stop from None
