"""What incc-scan makes of a project's commands: each is run for its assembly alone, and leaves nothing."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager

from incc.driver.errors import AnalysisError
from incc.frontends.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.driver.pipeline import Settings
    from incc.driver.report.build import KernelPlace
    from incc.frontends.gcc_wrapper.compile_commands import Command
    from incc.frontends.kernel import Kernel
    from incc.frontends.unit import Unit
    from incc.models.model import MachineModel


class ReadUnit(NamedTuple):
    """What a unit is called, its kernels, where each is in the source, and the cores that they are analysed for."""

    name: str
    kernels: list[Kernel]
    places: list[KernelPlace]
    models: Sequence[MachineModel]


class Project(NamedTuple):
    """The commands of a project that compile something, and a note on the others, "" if there are none."""

    commands: list[Command]
    note: str


def project_of(path: str, sources: Sequence[str]) -> Project:
    """The commands of a compilation database, which is named or lies in the folder that is named: those that compile
    one of the sources, all without any. Raises ValueError."""
    from incc.frontends.gcc_wrapper.compile_commands import NAME, read_commands

    if os.path.isdir(path):
        path = os.path.join(path, NAME)
    try:
        commands = read_commands(path)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    others = sorted({os.path.basename(c.words[0]) for c in commands if not c.compiles})
    named = ", ".join(others[:3]) + ", …" * (len(others) > 3)
    compiling = [command for command in commands if command.compiles]
    if not compiling:
        of_others = f" of compilers that are known, but of {named}" if others else ""
        raise ValueError(f"{path}: there are no commands{of_others or ' in it'}")
    if not sources:
        count = len(commands) - len(compiling)
        what = "command compiles no source" if count == 1 else "commands compile no source"
        return Project(
            compiling, f"{count} {what} and {'is' if count == 1 else 'are'} left out ({named})" * bool(count)
        )
    wanted = {os.path.realpath(source): source for source in sources}
    if missing := wanted.keys() - {command.path for command in compiling}:
        names = ", ".join(sorted(wanted[name] for name in missing))
        raise ValueError(f"{path}: no command for {names}")
    return Project([command for command in compiling if command.path in wanted], "")


def settings_of(command: Command, asked: Sequence[Settings], notes: list[str], chosen: bool) -> list[Settings]:
    """What is asked of the analysis, with what the source's project says in its incc.toml; nothing where it leaves the
    source out, which `notes` says, of one that was `chosen` by its name."""
    from incc.driver.builds.project import project_of

    path = os.path.abspath(os.path.join(command.folder, command.file))
    project = project_of(path)
    notes.extend(project.problems)
    if not project.wants(path):
        notes.append(f"{command.file}: left out by {project.path}" if chosen else f"{project.path} leaves sources out")
        return []
    return [settings for one in asked for settings in project.applied(one, notes)]


def units_of(command: Command, problems: list[str], remarks: bool = False) -> list[Unit]:
    """What a command compiles, with what the compiler says of its loops if `remarks` are wanted. Why there is nothing
    goes to `problems`."""
    from incc.frontends.gcc_wrapper.compiler import Compiler, CompilerError, child_environment, find_program
    from incc.frontends.gcc_wrapper.processes import Processes
    from incc.frontends.gcc_wrapper.session import Compilation, Failure

    if command.problem:
        problems.append(f"{command.file}: {command.problem}")
        return []
    if not os.path.isdir(command.folder):
        problems.append(f"{command.file}: not analysed: there is no folder {command.folder}, in which it was compiled")
        return []
    environment = child_environment(os.environ)
    words = list(command.words)
    try:
        compiler = Compiler(find_program(words[0], environment, folder=command.folder), words[:1])
    except CompilerError as error:
        problems.append(f"{command.file}: not analysed: {error}")
        return []
    processes = Processes(command.folder, b"", None)
    compilation = Compilation(compiler, words[1:], environment, processes, command.folder, remarks=remarks)
    with ends_in_order():
        try:
            return compilation.assembly_alone()
        except Failure as error:
            text = error.compiler_message or str(error)
            problems.append(text if text.startswith(f"{command.file}:") else f"{command.file}: {text}")
        except OSError as error:
            problems.append(f"{command.file}: not analysed: {error.filename or words[0]}: {error.strerror}")
        finally:
            processes.end()
            compilation.close()
    return []


@contextmanager
def ends_in_order() -> Iterator[None]:
    """Lets a process that is told to end (also a worker, when the scan is interrupted) end what it has started and
    remove what is temporary first."""

    def end(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def read_unit(
    unit: Unit, models: Sequence[MachineModel], asked: Sequence[Settings], problems: list[str], notes: list[str]
) -> ReadUnit | None:
    """The loops of a unit, those of system headers left out as in the build, for these cores or, without any, for those
    that `asked` names or the one that its command is for; None for what cannot be analysed, of which `problems` says
    why."""
    from incc.driver.pipeline import Settings, choose_model, decode_unit, kernel_places, read_assembly, select
    from incc.frontends.isa import isa

    name = unit.source or unit.assembly_file
    try:
        if not models:
            chosen = [choose_model(one.mcpu, unit.cpu) for one in asked]
            models = [choice.model for choice in chosen]
            notes.extend([choice.note for choice in chosen if choice.note])
        if unreadable := isa(models[0].isa).unreadable:
            raise AnalysisError(f"{name}: {models[0].name} is an {models[0].isa} core, and {unreadable}")
        parsed = read_assembly(unit, models[0].isa)
        selected = select(unit, parsed, Settings(functions=asked[0].functions))
        kernels = decode_unit(unit, parsed, selected.regions)
    except AnalysisError as error:
        problems.append(_about(name, unit, str(error)))
        return None
    problems.extend(f"{name}: {x.function}: not analysed: {x.reason}" for x in selected.left_out)
    problems.extend(f"{name}: {r.message}: {r.text}" for kernel in kernels for r in kernel.refused)
    return ReadUnit(name, kernels, kernel_places(parsed, selected, kernels), models)


def _about(name: str, unit: Unit, text: str) -> str:
    """A message about a unit, whose assembly, that it may name, nobody has."""
    return f"{name}: {text.removeprefix(f'{unit.assembly_file}: ')}".replace(f"{name}: {name}: ", f"{name}: ")


def write_report(unit: Unit, command: Command, settings: Sequence[Settings], folder: str, problems: list[str]) -> None:
    """Write the report of a unit, as incc in a build does, under the name that it has there. `settings`: of each
    core."""
    from incc.driver.deliver import file_name, replace_file
    from incc.driver.pipeline import analyze_unit
    from incc.driver.report.build import build_report, unit_report
    from incc.driver.views.json import render

    try:
        report = build_report([unit_report(analyze_unit(unit, one)) for one in settings])
    except AnalysisError:
        return  # whoever reads the unit for the table is told
    try:
        os.makedirs(folder, exist_ok=True)
        name = file_name(report, "json", os.path.realpath(command.folder))
        replace_file(os.path.join(folder, name), render(report))
    except OSError as error:
        problems.append(f"{unit.source or unit.assembly_file}: no report: {folder}: {error.strerror}")
