"""One compilation: the compiler runs the unchanged command, and further runs make the assembly of its sources."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec.structs import replace

from incc.frontends.asm.preprocessed import as_in_source
from incc.frontends.gcc_wrapper.assembly import AssemblyPlan, Run, make_plan, reads_stdin
from incc.frontends.gcc_wrapper.children import Children
from incc.frontends.gcc_wrapper.compiler import Compiler, CompilerError
from incc.frontends.gcc_wrapper.dry_run import DryRun, parse
from incc.frontends.gcc_wrapper.outputs import output_of
from incc.frontends.gcc_wrapper.processes import Processes
from incc.frontends.gcc_wrapper.remarks import read_remarks
from incc.frontends.gcc_wrapper.response_files import expanded
from incc.frontends.isa import word_set
from incc.frontends.kernel import CompiledLoop
from incc.frontends.marks import Mark, MarkError
from incc.frontends.unit import IncludeFolders, Unit

if TYPE_CHECKING:
    from incc.frontends.gcc_wrapper.linking import Link

    T = TypeVar("T")

# Variables by which compilers write more files (GCC manual, "Environment Variables"; clang's driver, CC_PRINT_…).
_WRITING_VARIABLES = word_set(
    "DEPENDENCIES_OUTPUT SUNPRO_DEPENDENCIES CC_PRINT_OPTIONS CC_PRINT_HEADERS CC_PRINT_INTERNAL_STAT "
    "CC_PRINT_PROC_STAT CC_LOG_DIAGNOSTICS"
)

_TABLE_VARIABLE = "INCC_LOOP_TABLE"
"""The variable with the name of the pass plugin's file."""

_MARKS_VARIABLE = "INCC_MARK_TABLE"
"""The variable with the name of the file of the plugin that reads marks."""

# Options for which clang's driver itself creates or removes files, even in a dry run, in the language of
# CCC_OVERRIDE_OPTIONS: it applies to the arguments after response files are read. gcc ignores the variable.
_WITHOUT_DRIVER_FILES = "X-MJ s/^-MJ.+$/-w/ X--serialize-diagnostics X-serialize-diagnostics"

WITHOUT_LTO = "compiled without -flto for the analysis: what the link makes of it may be another loop"
"""The note on kernels that may differ from those of the link."""

_WITHOUT_LTO = ("-fno-lto",)

_DRY_RUN = "dry-run"
"""The file of the scratch folder with the driver's own output."""


class AssemblyFailure(Exception):
    """A failure to make assembly. The message is one line for the user."""

    def __init__(self, message: str, compiler_message: str = "") -> None:
        super().__init__(message)
        self.compiler_message = compiler_message
        """The line in which the compiler states the reason, "" if it is another reason."""


class Compilation(msgspec.Struct, eq=False):
    """One run of a compiler on an unchanged command, and the assembly of its sources."""

    compiler: Compiler
    arguments: list[str]
    """The command's arguments."""
    environment: Mapping[str, str]
    """The compiler's environment."""
    children: Children | Processes
    """Runs the programs, for this object alone."""
    folder: str = ""
    """The command's working directory, "" for this process's."""
    without_lto: bool = False
    """Compile sources for the analysis without link-time optimisation."""
    wanted: Callable[[str], bool] = lambda source: True
    """Returns False for a source, as the command names it, that needs no assembly."""
    remarks: bool = False
    """Let units have the compiler's remarks on loops, which may take it a tenth of its time."""
    marks: bool = True
    """Let units have the marks that a plugin of the compiler reads."""
    variables: bool = False
    """Let units have debug information on variables, if the command has no options for debug information."""
    probed: tuple[list[str], dict[str, str]] | None = None
    """The arguments and the environment with which the compiler runs, if they are not those above."""
    warnings: list[str] = []
    """Sources whose assembly could not be made."""
    notes: list[str] = []
    """Sources without assembly."""
    until_link: list[str] = []
    """Sources whose code is generated when they are linked."""
    until_link_why: str = ""
    messages: list[str] = []
    """The output of the compiler in the runs for the assembly alone."""
    unwanted: list[str] = []
    """Sources that are not `wanted`."""
    writes_stdout: bool = False
    """The command itself writes to standard output."""
    _dry_run: DryRun | None = None
    _extra: tuple[str, ...] = ()
    """Arguments of the runs for the analysis alone."""
    _input: bytes | None = None
    """The standard input, None if it was not read."""
    _scratch: str = ""

    def units(self) -> Iterator[Unit]:
        """Start the compiler, and yield each source's assembly as it is made. Ends early if the compiler fails.

        Single sources that fail become warnings.

        Raises:
            Failure: if there is no assembly at all. The compiler then remains to `finish`.
            OSError: likewise.
            CompilerError: if the compiler cannot be started.
        """
        if not self._may_read_stdin():
            self._start_compiler()
        self._scratch = _make_folder(self._temporary_place())
        dry_run = self._ask(self.arguments)
        plan = self._plan_of_sources(dry_run)
        self._dry_run = dry_run
        self.writes_stdout = plan.writes_stdout
        if not self.children.compiler:
            if plan.reads_stdin:
                self._input = self.children.read_input()
            self._start_compiler()
        for skipped in plan.skipped:
            name = _shown(skipped.source)
            if not self._wants(skipped.source):
                continue
            if skipped.until_link:
                self.until_link.append(name)
                self.until_link_why = skipped.reason
            elif skipped.expected:
                self.notes.append(f"{name}: nothing to analyse: {skipped.reason}")
            else:
                self.warnings.append(f"{name}: not analysed: {skipped.reason}")
        for step in plan.runs:
            if not self._wants(step.source):
                continue
            try:
                text = None if self.failed() else self._assembly(step)
            except AssemblyFailure as error:
                self.warnings.append(str(error))
                continue
            if text is None:
                return
            yield self._unit(step, text, dry_run.version, self.arguments)

    def _wants(self, source: str) -> bool:
        if self.wanted(source):
            return True
        self.unwanted.append(_shown(source))
        return False

    def _plan(self, dry_run: DryRun, arguments: Sequence[str], remarks: bool) -> AssemblyPlan:
        """Return the runs for the assembly of a command, with the plugins for the compiler, if there are any."""
        plugin = source_plugin = ""
        if any("-cc1" in command.words for command in dry_run.commands):
            from incc.frontends.clang_plugin.find import clang_major, plugin_for, source_plugin_for

            major = clang_major(dry_run.version_line)
            plugin = plugin_for(major, self.environment)
            source_plugin = source_plugin_for(major, self.environment) if self.marks else ""
        return make_plan(
            dry_run, list(arguments), self._scratch, self.folder, remarks, plugin, source_plugin, self.variables
        )

    def _plan_of_sources(self, dry_run: DryRun) -> AssemblyPlan:
        """Return the runs for the assembly of the command, without link-time optimisation if that is wanted."""
        plan = self._plan(dry_run, self.arguments, self.remarks)
        if self.without_lto and any(skipped.until_link for skipped in plan.skipped):
            arguments = with_flags(self.arguments, _WITHOUT_LTO)
            without = self._plan(self._ask(arguments), arguments, self.remarks)
            if without.runs or without.skipped:  # else the driver refuses the command
                plan, self._extra = without, _WITHOUT_LTO
        return plan

    def _unit(self, step: Run, text: str, version: str, arguments: Sequence[str]) -> Unit:
        name = _shown(step.source)
        seen = expanded([*self.compiler.words[1:], *arguments], self.folder)
        marks, mark_errors = self._marks(step, name)
        return Unit(
            assembly=text,
            assembly_file=os.path.splitext(os.path.basename(name))[0] + ".s" if step.generated else name,
            source=name if step.generated else "",
            compiler=self.compiler.name,
            compiler_version=version,
            command=(*self.compiler.words, *arguments),
            cpu=step.cpu,
            folders=self._folders(step.folders),
            arguments=tuple(seen),
            folder=os.path.abspath(self.folder or "."),
            output=output_of(seen, name),
            way="second-run" if step.generated else "given",
            notes=(WITHOUT_LTO,) if self._extra and step.generated else (),
            loops=self._loops(step, name),
            remarks=read_remarks(step.records, self.folder) if step.records else (),
            marks=marks,
            mark_errors=mark_errors,
        )

    def output_of(self, source: str) -> str:
        """Return the file that the command makes of a source, as `Unit.output`."""
        return output_of(expanded([*self.compiler.words[1:], *self.arguments], self.folder), source)

    def _loops(self, step: Run, name: str) -> tuple[CompiledLoop, ...]:
        """Return the pass plugin's table of a source's loops, empty without a plugin. A plugin that fails is noted."""
        if not step.table:
            return ()
        from incc.frontends.clang_plugin.table import read_table

        without = f"roles of loops are inferred, without the plugin for {self.compiler.name}"
        return self._plugin_table(step.table, read_table, f"{name}: {without}") or ()

    def _marks(self, step: Run, name: str) -> tuple[tuple[Mark, ...], tuple[MarkError, ...]]:
        """Return a source's marks and the errors in marks, none without a plugin. A plugin that fails is noted."""
        if not step.marks:
            return (), ()
        from incc.frontends.clang_plugin.marks_table import read_mark_table

        without = "pragmas and attributes of incc's are not read, without the plugin"
        return self._plugin_table(step.marks, read_mark_table, f"{name}: {without}") or ((), ())

    def _plugin_table(self, path: str, read: Callable[[str], T], note: str) -> T | None:
        """Read the file of a plugin. Returns None and notes the reason if it cannot be read."""
        from incc.frontends.clang_plugin.table import TableError

        try:
            return read(_read(path))
        except OSError:
            why = "it has written nothing"
        except TableError as error:
            why = str(error)
        self.notes.append(f"{note}: {why}")
        return None

    def link(self) -> Link | None:
        """Return the link of the command if code was generated at it, else None. Raises AssemblyFailure and OSError.

        To be called after `units` and `finish`.
        """
        from incc.frontends.gcc_wrapper.linking import find_link, hides_inputs, links

        if self._dry_run is None or not links(self._dry_run):
            return None
        arguments = expanded(self.arguments, self.folder)
        # A driver with a response file makes another one for the linker, and removes it.
        dry_run = self._ask(arguments) if hides_inputs(self._dry_run) else self._dry_run
        return find_link(dry_run, arguments, self.folder)

    def linked_unit(self, link: Link) -> Unit:
        """Return the unit of a linked file, without its code."""
        from incc.frontends.gcc_wrapper.linking import linked_unit

        return linked_unit(
            link,
            self.compiler.name,
            self._dry_run.version if self._dry_run else "",
            (*self.compiler.words, *self.arguments),
            expanded([*self.compiler.words[1:], *self.arguments], self.folder),
            os.path.abspath(self.folder or "."),
        )

    def assembly_with(self, flags: Sequence[str], lines: bool = True) -> list[Unit]:
        """Return the sources' assembly with more arguments after the command's. Raises AssemblyFailure.

        Only the compiler proper is run, and it writes nothing but the text. To be called after `finish`. Without
        `lines`, the text lacks lines of the source that the command does not request, and there are no remarks.
        """
        arguments = with_flags(self.arguments, (*flags, *self._extra))
        dry_run = self._ask(arguments)
        units = []
        for step in self._plan(dry_run, arguments, self.remarks and lines).runs:
            if step.generated and self.wanted(step.source):
                if step.line_options and not lines:
                    step = replace(step, commands=(*step.commands[:-1], _without(step.commands[-1], step.line_options)))
                text = self._assembly(step)
                if text is not None:
                    units.append(self._unit(step, text, dry_run.version, arguments))
        return units

    def assembly_alone(self) -> list[Unit]:
        """Return the sources' assembly without running the command itself, which leaves no files.

        To be called instead of `units`. Raises AssemblyFailure, also for a single source without assembly, and OSError.
        """
        self._scratch = _make_folder(self._temporary_place())
        dry_run = self._ask(self.arguments)
        plan = self._plan_of_sources(dry_run)
        if plan.reads_stdin:
            raise AssemblyFailure("not analysed: the source comes from standard input, which can be read only once")
        for skipped in plan.skipped:
            if skipped.expected:
                self.notes.append(f"{_shown(skipped.source)}: nothing to analyse: {skipped.reason}")
            else:
                raise AssemblyFailure(f"{_shown(skipped.source)}: not analysed: {skipped.reason}")
        if not plan.runs and not plan.skipped:
            # The driver's errors on missing files and unknown options begin with its name; its commands and its
            # configuration may have the word in them as well.
            error = _error_line(_read(os.path.join(self._scratch, _DRY_RUN)), ": error: ", "error: ")
            raise AssemblyFailure(
                error or "the command compiles nothing: there is no source, or an option forbids it", error
            )
        units = []
        for step in plan.runs:
            # The files of earlier sources of the command, such as modules, are in the scratch folder.
            text = self._assembly(replace(step, after_compiler=False))
            if text is not None:
                units.append(self._unit(step, text, dry_run.version, self.arguments))
        return units

    def _folders(self, folders: IncludeFolders) -> IncludeFolders:
        """Return the folders of a command and of the environment. Relative ones are listed as absolute ones, too."""
        named = (
            (self.environment.get(name) or "").split(":")
            for name in ("C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH")
        )
        here = os.path.abspath(self.folder or ".")
        return IncludeFolders(
            *(
                tuple(dict.fromkeys(path for f in some if f for path in (f, os.path.join(here, f))))
                for some in ((*folders.system, *(f for part in named for f in part)), folders.user)
            )
        )

    def failed(self) -> bool:
        """Return True if the compiler has failed already, or was told to stop."""
        return bool(self.children.status(self.children.compiler)) or bool(self.children.interrupted)

    def finish(self) -> int:
        """Wait for the compiler, which is started first if it was not.

        Returns its exit status, or the negative number of the signal that killed it. Raises CompilerError if it cannot
        be started.
        """
        if not self.children.compiler:
            self._start_compiler()
        return self.children.wait(self.children.compiler)

    def close(self) -> None:
        """Remove temporary files."""
        if self._scratch:
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._scratch = ""

    def _may_read_stdin(self) -> bool:
        """Return True if an argument may make the compiler read its source from standard input.

        Only the compiler's dry run tells for certain, and must then come before the compiler itself.
        """
        if "CCC_OVERRIDE_OPTIONS" in self.environment:
            return True
        return any(a == "-" or a.startswith(("@", "/dev/", "/proc/")) for a in self.arguments)

    def _start_compiler(self) -> None:
        compiler = self.compiler
        stdin = self._input_copy()
        arguments, environment = self.probed or (self.arguments, self.environment)
        try:
            self.children.start_compiler(compiler.path, compiler.words + arguments, environment, stdin)
        except OSError as error:
            raise CompilerError(f"{compiler.path}: {error.strerror}", 126) from error
        finally:
            if stdin is not None:
                os.close(stdin)

    def _input_copy(self) -> int | None:
        """Return a file descriptor of a copy of standard input, at its start; None if the input was not read."""
        if self._input is None:
            return None
        # In memory, because the input is gone from the pipe, and must reach the compiler even if the disk is full.
        copy = os.memfd_create("stdin")
        data = memoryview(self._input)
        while data:
            data = data[os.write(copy, data) :]
        os.lseek(copy, 0, os.SEEK_SET)
        return copy

    def _ask(self, arguments: Sequence[str]) -> DryRun:
        """Return the sub-commands that the compiler would run for the command. Raises AssemblyFailure."""
        # -### is the first argument, because after a `--` it would be a file.
        words = [*self.compiler.words, "-###", *arguments]
        environment = self._quiet_environment()
        environment["LC_ALL"] = "C"
        environment["CCC_OVERRIDE_OPTIONS"] = f"# {environment.get('CCC_OVERRIDE_OPTIONS', '')} {_WITHOUT_DRIVER_FILES}"
        log = os.path.join(self._scratch, _DRY_RUN)
        status = self.children.wait(self.children.start(self.compiler.path, words, environment, output=log))
        dry_run = parse(_read(log))
        if status != 0 and not dry_run.version:
            raise AssemblyFailure(
                f"not analysed: {self.compiler.name} does not support -###, which lists its sub-commands"
            )
        return dry_run

    def _temporary_place(self) -> str:
        """Return the folder for temporary files, which is the compiler's: TMPDIR, or /tmp if that is no folder."""
        named = os.path.join(self.folder, self.environment.get("TMPDIR") or "/tmp")
        return named if os.path.isdir(named) else "/tmp"

    def _quiet_environment(self) -> dict[str, str]:
        """Return the compiler's environment without variables that make it write files, and with our TMPDIR."""
        environment = {k: v for k, v in self.environment.items() if k not in _WRITING_VARIABLES}
        environment["TMPDIR"] = self._scratch
        return environment

    def _run(self, step: Run, command: tuple[str, ...], log: str) -> int:
        """Run one of a source's commands and return its status. Raises AssemblyFailure if it cannot be started."""
        environment = self._quiet_environment()
        # The user's own values are for the compiler's run.
        environment.pop(_TABLE_VARIABLE, None)
        environment.pop(_MARKS_VARIABLE, None)
        if step.plugin and step.plugin in command:
            environment[_TABLE_VARIABLE] = step.table
        if step.source_plugin and _has(command, step.source_plugin):
            environment[_MARKS_VARIABLE] = step.marks
        stdin = self._input_copy() if reads_stdin(command) else None
        try:
            process = self.children.start(command[0], command, environment, stdin=stdin, output=log)
        except OSError as error:
            raise AssemblyFailure(f"{_shown(step.source)}: not analysed: {command[0]}: {error.strerror}") from error
        finally:
            if stdin is not None:
                os.close(stdin)
        return self.children.wait(process)

    def _assembly(self, step: Run) -> str | None:
        """Return the assembly of one source, None if the compiler failed meanwhile. Raises AssemblyFailure."""
        if step.after_compiler and self.finish() != 0:
            return None
        log = os.path.join(self._scratch, "log")
        for command in step.commands:
            status = self._run(step, command, log)
            # A plugin that fails must cost nothing but its own results.
            for plugin in (step.source_plugin, (step.plugin,) if step.plugin else ()):
                if status != 0 and plugin and _has(command, plugin) and not self.failed():
                    command = _without(command, plugin)
                    status = self._run(step, command, log)
            output = _read(log)
            if output:
                self.messages.append(output)
            if status != 0:
                if self.failed():
                    return None
                reason = f"no assembly from {os.path.basename(command[0])}{_first_error(output)}"
                raise AssemblyFailure(f"{_shown(step.source)}: not analysed: {reason}", _error_line(output))
        if not step.commands and self._input is not None:
            return self._input.decode("utf-8", "surrogateescape")
        try:
            text = _read(os.path.join(self.folder, step.output))
        except OSError as error:
            raise AssemblyFailure(f"{_shown(step.source)}: not analysed: {error.strerror}") from error
        is_preprocessed = step.commands and not step.generated
        return as_in_source(text, os.path.join(self.folder, step.source)) if is_preprocessed else text


def _has(command: tuple[str, ...], words: tuple[str, ...]) -> bool:
    return any(command[i : i + len(words)] == words for i in range(len(command)))


def _without(command: tuple[str, ...], words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command without the first occurrence of these words."""
    at = next(i for i in range(len(command)) if command[i : i + len(words)] == words)
    return command[:at] + command[at + len(words) :]


def with_flags(arguments: Sequence[str], flags: Sequence[str]) -> list[str]:
    """Return arguments followed by further ones, which come before a `--` with files."""
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    return [*arguments[:end], *flags, *arguments[end:]]


def _first_error(log: str) -> str:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    line = _error_line(log) or (lines[0] if lines else "")
    return f": {line}" if line else ""


def _error_line(log: str, inside: str = "error", start: str = "error") -> str:
    """Return the first line of a compiler's output with an error, "" if there is none.

    The line has the text `inside` before any quote, or begins with `start`. gfortran gives the place before, on a line
    of its own.
    """
    place = ""
    for line in log.splitlines():
        if line.startswith(("Error: ", "Fatal Error: ")):
            return f"{place} {line}".strip()
        if line.endswith(":") and line.rstrip(":").rpartition(":")[2].isdecimal():
            place = line
        if inside in line.partition('"')[0] or line.startswith(start):
            return line.strip()
    return ""


def _shown(source: str) -> str:
    return "<stdin>" if source in ("-", "/dev/stdin") else source


# --- files -----------------------------------------------------------------------------------------------------------


_LEAST_SPACE = 16 << 20
"""Free bytes of a file system that are left to the compiler's own temporary files."""


def _make_folder(parent: str) -> str:
    """Create a private folder for temporary files. Raises OSError, also if little space is left."""
    space = os.statvfs(parent)
    # Some file systems do not count.
    if space.f_blocks and space.f_bavail * space.f_frsize < _LEAST_SPACE:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), parent)
    return tempfile.mkdtemp(prefix=f"incc-{os.getpid()}-", dir=os.path.abspath(parent))


def _read(path: str) -> str:
    # Comments and strings may hold any bytes.
    with open(path, "rb") as file:
        return file.read().decode("utf-8", "surrogateescape")
