"""Turns a driver's sub-commands into runs that write assembly for the analysis, and no other file.

Code generation does not change. Every option by which a compiler proper writes a file (dependencies, dumps, coverage
notes, statistics, modules) is removed or pointed into a scratch folder.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from incc.frontends.gcc_wrapper.dry_run import DryRun
from incc.frontends.gcc_wrapper.remarks import clang_options, gcc_options
from incc.frontends.isa import of_target, titles, word_set, words
from incc.frontends.unit import IncludeFolders

# The compilers proper of gcc whose output is assembly text, by the program's name.
_GCC_FRONT_ENDS = word_set("cc1 cc1plus cc1obj cc1objplus f951")
# Other compilers proper. The files that they write besides the assembly are unknown here.
_OTHER_FRONT_ENDS = word_set("gnat1 d21 go1 gm2 cc1gm2 crab1 rust1 cobol1 lto1")

_STANDARD_INPUT = word_set("- /dev/stdin /dev/fd/0 /proc/self/fd/0")
_STANDARD_OUTPUT = word_set("- /dev/stdout /dev/fd/1 /proc/self/fd/1")

# --- gcc: options of cc1, cc1plus and f951, from gcc/c-family/c.opt, gcc/fortran/lang.opt, gcc/common.opt ---

_GCC_WRITES_WITH_VALUE = word_set("-MD -MMD -MF -MT -MQ -aux-info")
_GCC_WRITES = word_set("-M -MM -MG -MP -Mno-modules")
_GCC_WRITES_PREFIXES = tuple(
    words(
        "-MF -MT -MQ -aux-info= -fcallgraph-info -fdeps- -fdiagnostics-add-output= -fdiagnostics-format= "
        "-fdiagnostics-set-output= -fdump- -fopt-info -fprofile-note= -fsave-optimization-record -fstack-usage"
    )
)
_GCC_TAKES_VALUE = word_set(
    "--param -A -D -I -U -auxbase -auxbase-strip -dumpbase -dumpbase-ext -dumpdir -fintrinsic-modules-path "
    "-idirafter -imacros -imultiarch -imultilib -include -iprefix -iquote -isysroot -isystem -iwithprefix "
    "-iwithprefixbefore"
)

# --- clang -cc1: clang/include/clang/Driver/Options.td ---

_CLANG_WRITES_WITH_VALUE = word_set(
    "-MT -dependency-dot -dependency-file -diagnostic-log-file -gen-cdb-fragment-path -header-include-file "
    "-index-store-path -opt-record-file -opt-record-format -opt-record-passes -serialize-diagnostic-file "
    "-split-dwarf-file -split-dwarf-output -stack-usage-file -stats-file"
)
_CLANG_WRITES = word_set("-H -MG -MP -module-file-deps -print-stats -sys-header-deps")
_CLANG_WRITES_PREFIXES = tuple(
    words(
        "-MT= -crash-diagnostics-dir -fmodule-output -fthin-link-bitcode= -ftime-trace -module-dependency-dir "
        "-opt-record-file= -save-stats -save-temps -stats-file="
    )
)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """The commands that make the assembly of one source."""

    source: str
    """The user's file as named in the command."""
    commands: tuple[tuple[str, ...], ...]
    """Run in this order, they write the text to `output`."""
    output: str
    cpu: str
    """The core that the code is for, or the level of the instruction set, "" if the command does not say."""
    after_compiler: bool = False
    """The commands read results of the real compiler, and must wait for it."""
    generated: bool = False
    """The text is a compiler's, not the user's own assembly."""
    folders: IncludeFolders = IncludeFolders()
    """The folders of the source's headers."""
    plugin: str = ""
    """The word of the last command by which clang loads a pass plugin, which does not change the code; "" for none."""
    table: str = ""
    """The file that the plugin writes about loops."""
    records: str = ""
    """The beginning of the names of files with the compiler's remarks (see `remarks.py`), "" for none."""
    source_plugin: tuple[str, ...] = ()
    """The words of a command by which clang loads a plugin that reads marks; it does not change the code."""
    marks: str = ""
    """The file that this plugin writes."""
    line_options: tuple[str, ...] = ()
    """The words of the last command that add the lines of the source, () if they are the user's."""


class SkippedSource(msgspec.Struct, frozen=True, kw_only=True):
    """A source without assembly to analyse."""

    source: str
    reason: str
    expected: bool = False
    """The user's command makes no code of it, which is no failure."""
    until_link: bool = False
    """Code is generated when it is linked."""


class AssemblyPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The runs for the analysis of a command."""

    runs: tuple[Run, ...]
    skipped: tuple[SkippedSource, ...]
    reads_stdin: bool
    """The compiler reads a source from standard input."""
    writes_stdout: bool
    """The command itself writes to standard output."""


class _Made(msgspec.Struct, frozen=True, kw_only=True):
    """A file that an earlier sub-command makes, with a twin in the scratch folder."""

    output: str
    """The twin."""
    commands: tuple[tuple[str, ...], ...]
    """The commands that make the twin."""
    source: str
    cpu: str
    assembler: bool
    """It is preprocessed assembly (from .S)."""
    problem: str
    source_plugin: tuple[str, ...]
    marks: str
    unused_reason: str
    """The reason that there is nothing to analyse if no later sub-command reads it."""


def make_plan(
    dry_run: DryRun,
    arguments: tuple[str, ...] | list[str],
    scratch: str,
    folder: str = "",
    remarks: bool = False,
    plugin: str = "",
    source_plugin: str = "",
    variables: bool = False,
) -> AssemblyPlan:
    """Return the runs for the sub-commands of a dry run.

    Args:
        dry_run: the compiler's sub-commands.
        arguments: the arguments of the user's command.
        scratch: the folder for all output.
        folder: the command's working directory, "" for this process's.
        remarks: make the compilers report on loops.
        plugin: the path of a pass plugin for clang, "" for none.
        source_plugin: the path of a clang plugin that reads marks, "" for none.
        variables: make the compilers tell where variables are, unless the command has options for debug information.
    """
    planner = _Planner(
        dry_run=dry_run,
        arguments=tuple(arguments),
        scratch=scratch,
        folder=folder,
        remarks=remarks,
        plugin=plugin,
        source_plugin=source_plugin,
        variables=variables,
    )
    is_piped = False
    for number, command in enumerate(dry_run.commands):
        words = _without_wrapper(command.words)
        piped_from = planner.made.get("|") if is_piped else None
        is_piped = command.piped
        kind = _kind(words)
        if kind == "assembler":
            planner.add_assembler(words, piped_from)
        elif kind:
            planner.add_compiler(number, words, kind, command.piped, piped_from)
    return planner.plan()


def _request_remarks(command: list[str], kind: str, own: str) -> None:
    """Add the options by which a compiler writes its remarks.

    They come before the others: if options contradict each other, the command's own count.
    """
    if kind == "gcc":
        command[1:1] = gcc_options(own)
    else:
        command[2:2] = clang_options(own)


class _Planner(msgspec.Struct, kw_only=True):
    """The state of `make_plan`, whose arguments it has, between sub-commands."""

    dry_run: DryRun
    arguments: tuple[str, ...]
    scratch: str
    folder: str
    remarks: bool
    plugin: str
    source_plugin: str
    variables: bool
    made: dict[str, _Made] = {}
    """The files that sub-commands make, by name; "|" for the one that the next sub-command reads from a pipe."""
    runs: list[Run] = []
    skipped: list[SkippedSource] = []
    consumed: set[str] = set()
    writes_stdout: bool = False

    def add_assembler(self, words: tuple[str, ...], piped_from: _Made | None) -> None:
        """Add the text that an assembler reads, unless it is a compiler's."""
        self.writes_stdout |= _lists_to_stdout(words)
        name = _assembler_input(words)
        previous = piped_from if name == "" else self.made.get(name)
        cpu = target_cpu(words, self.arguments)
        if previous is not None:
            if previous.assembler:
                cpu = previous.cpu or cpu
                run = Run(source=previous.source, commands=previous.commands, output=previous.output, cpu=cpu)
                self._add(run, words, previous.problem)
        elif name in _STANDARD_INPUT or os.path.exists(os.path.join(self.folder, name)):
            self._add(Run(source=name, commands=(), output=name, cpu=cpu), words, _pipe(name, self.folder))
        # Otherwise it reads a compiler's output through a pipe, or (gcc --version) nothing.

    def add_compiler(
        self, number: int, words: tuple[str, ...], kind: str, is_piped: bool, piped_from: _Made | None
    ) -> None:
        """Add the assembly that a compiler proper writes."""
        self.writes_stdout |= _writes_stdout(words, kind, is_piped)
        own = os.path.join(self.scratch, str(number))
        if kind == "gcc":
            step = _gcc_step(words, own, self.variables)
        else:
            step = _clang_step(words, own, self.plugin, self.source_plugin, self.variables)
        inputs = self._inputs(step, piped_from)
        last_command = self._with_inputs(step, piped_from)
        if self.remarks and step.result == "assembly":
            _request_remarks(last_command, kind, own)
        commands = (*(c for made in inputs for c in made.commands), tuple(last_command))
        source = inputs[0].source if inputs else _source(words, self.arguments, kind)
        cpu = target_cpu(words, ())
        problem = next((made.problem for made in inputs if made.problem), "") or _unreadable(step.words, self.folder)
        # With -save-temps, the source is read by the sub-command that makes bitcode.
        read_before = next((made for made in inputs if made.source_plugin), None)
        source_plugin = read_before.source_plugin if read_before else step.source_plugin
        marks = read_before.marks if read_before else f"{own}.marks.json" if step.source_plugin else ""
        if step.result == "assembly":
            run = Run(
                source=source,
                commands=commands,
                output=step.output,
                cpu=cpu,
                after_compiler=_needs_modules(words, os.path.join(self.folder, source)),
                generated=True,
                folders=include_folders(words),
                plugin=step.plugin,
                table=f"{own}.loops.json" if step.plugin else "",
                records=own if self.remarks else "",
                source_plugin=source_plugin,
                marks=marks,
                line_options=step.line_options,
            )
            self._add(run, words, problem)
        elif step.result == "nothing" and step.reason:
            self._skip(source, step.reason)
        if key := "|" if is_piped else _value(words, "-o"):
            is_text = step.result == "text"
            self.made[key] = _Made(
                output=step.output,
                commands=commands,
                source=source,
                cpu=cpu,
                assembler=is_text and ("-lang-asm" in words or "assembler-with-cpp" in words),
                problem=problem,
                source_plugin=source_plugin,
                marks=marks,
                unused_reason=step.reason if is_text else "",
            )

    def _inputs(self, step: _Step, piped_from: _Made | None) -> list[_Made]:
        """Return the files of earlier sub-commands that one reads."""
        inputs = [self.made[word] for word in step.words[1:] if word in self.made and word != "|"]
        if piped_from is not None and piped_from not in inputs:
            inputs.append(piped_from)
        self.consumed.update(made.output for made in inputs)
        return inputs

    def _with_inputs(self, step: _Step, piped_from: _Made | None) -> list[str]:
        """Return a command that reads the twins of the files of earlier sub-commands."""
        words = [self.made[w].output if w in self.made and w != "|" else w for w in step.words]
        if piped_from is not None:
            words = [piped_from.output if w == "-" and words[i - 1] != "-o" else w for i, w in enumerate(words)]
        return words

    def _add(self, run: Run, words: tuple[str, ...], problem: str) -> None:
        target = other_mode(words) or _value(words, "-triple") or self.dry_run.target
        if not problem and target and not of_target(target):
            problem = f"the code is for {target}, not for {titles()}"
        if problem:
            self.skipped.append(SkippedSource(source=run.source, reason=problem))
        else:
            self.runs.append(run)

    def _skip(self, source: str, reason: str) -> None:
        self.skipped.append(
            SkippedSource(source=source, reason=reason, expected=True, until_link=reason in _UNTIL_LINK)
        )

    def plan(self) -> AssemblyPlan:
        """Return the plan for all sub-commands."""
        for made in self.made.values():
            if made.unused_reason and made.output not in self.consumed:
                self._skip(made.source, made.unused_reason)
        for command in self.dry_run.commands:
            program = os.path.basename(command.words[0])
            if program in _OTHER_FRONT_ENDS and "--help" not in " ".join(command.words):
                source = _source(command.words, self.arguments, "gcc")
                self.skipped.append(SkippedSource(source=source, reason=f"the output of {program} cannot be analysed"))
        stdin_is_read = any(reads_stdin(c) for run in self.runs for c in run.commands) or any(
            not run.commands and run.source in _STANDARD_INPUT for run in self.runs
        )
        return AssemblyPlan(
            runs=tuple(self.runs),
            skipped=tuple(self.skipped),
            reads_stdin=stdin_is_read,
            writes_stdout=self.writes_stdout,
        )


def sources_for_link(dry_run: DryRun, arguments: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the sources of a command's objects for link-time optimisation, with the words of the compiler proper."""
    sources: dict[str, tuple[str, ...]] = {}
    made: dict[str, str] = {}
    for command in dry_run.commands:
        words = _without_wrapper(command.words)
        kind = _kind(words)
        if kind in ("gcc", "clang"):
            source = _source(words, tuple(arguments), kind)
            # With -save-temps each step reads the file of the one before.
            source = made[_value(words, "-o")] = made.get(source, source)
            if _last(words, ("-flto", "-flto=", "-fno-lto")).startswith("-flto") and source in arguments:
                sources.setdefault(source, words)
    return list(sources.items())


def _without_wrapper(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words from the compiler proper on, without the program of `gcc -wrapper gdb,--args`."""
    # Linkers have no -quiet; the program that they make may be called cc1.
    if "-quiet" in words and os.path.basename(words[0]) not in _GCC_FRONT_ENDS:
        for i, word in enumerate(words):
            if os.path.basename(word) in _GCC_FRONT_ENDS:
                return words[i:]
    return words


def _kind(words: tuple[str, ...]) -> str:
    """Return "gcc", "clang" or "assembler", "" for linkers and for runs that compile nothing."""
    program = os.path.basename(words[0])
    if program in _GCC_FRONT_ENDS:
        return "" if "help-dummy" in words or "-fcompare-debug-second" in words else "gcc"
    if len(words) > 1 and words[1] == "-cc1":
        return "clang"
    if len(words) > 1 and words[1] == "-cc1as":
        return "assembler"
    if program == "as" or program.endswith("-as"):
        return "assembler"
    return ""


_UNTIL_LINK = (
    "-flto writes GIMPLE; machine code is made when linking",
    "-flto writes LLVM bitcode; machine code is made when linking",
)


class _Step(msgspec.Struct, frozen=True, kw_only=True):
    """A compiler proper's command, rewritten."""

    words: tuple[str, ...]
    output: str
    result: str
    """One of "assembly", "text" (of whatever kind) and "nothing"."""
    reason: str = ""
    """The reason that there is nothing to analyse, "" if there may be."""
    plugin: str = ""
    """See `Run.plugin`."""
    source_plugin: tuple[str, ...] = ()
    """See `Run.source_plugin`."""
    line_options: tuple[str, ...] = ()
    """See `Run.line_options`."""


def _gcc_step(words: tuple[str, ...], own: str, variables: bool = False) -> _Step:
    """Return the command of gcc's compiler proper with all output in files whose names begin with `own`."""
    preprocess = "-E" in words
    profile = any(w.startswith(("-fprofile-use", "-fauto-profile", "-fbranch-probabilities")) for w in words)
    result, modules = _gcc_words(words, own, profile)
    output = f"{own}.i" if preprocess else f"{own}.s"
    result.append("-w")
    if not profile:
        result += ["-dumpdir", f"{own}."]
    elif "-ftest-coverage" in words:
        result.append(f"-fprofile-note={own}.gcno")
    if os.path.basename(words[0]) == "f951":
        if modules:
            result += ["-I", modules]
        result += ["-J", os.path.dirname(own)]
    lines = ("-g" if variables else "-g1",) if not preprocess and _gcc_debug_level(words) == 0 else ()
    result += [*lines, "-o", output]
    kind, reason = _gcc_result(words)
    return _Step(words=tuple(result), output=output, result=kind, reason=reason, line_options=lines)


def _gcc_words(words: tuple[str, ...], own: str, profile: bool) -> tuple[list[str], str]:
    """Return the words without those that write files, and the folder that Fortran's modules are written to."""
    result = [words[0]]
    modules = ""
    rest = iter(words[1:])
    for word in rest:
        if word == "-o" or word in _GCC_WRITES_WITH_VALUE:
            next(rest, "")
        elif word in _GCC_WRITES or word.startswith(_GCC_WRITES_PREFIXES):
            pass
        elif word in ("-dumpbase", "-auxbase", "-auxbase-strip", "-dumpdir"):
            result += _gcc_dump_name(word, next(rest, ""), own, profile)
        elif word == "-dumpbase-ext":
            result += [word, next(rest, "")]
        elif word.startswith("-d") or word == "-gsplit-dwarf":
            pass
        elif word.startswith("-J"):
            modules = word[2:] or next(rest, "")
        elif word.startswith("-cpp="):
            result.append(f"-cpp={own}.cpp")
        elif word in _GCC_TAKES_VALUE:
            result += [word, next(rest, "")]
        else:
            result.append(word)
    return result, modules


def _gcc_dump_name(option: str, value: str, own: str, profile: bool) -> list[str]:
    """Return an option that names the compiler's other output, pointed into the scratch folder."""
    if profile:
        return [option, value]  # gcc derives the name of the profile to read from these
    if option == "-dumpdir":
        return []
    return [option, os.path.basename(value) if option == "-dumpbase" else f"{own}.aux"]


def _gcc_result(words: tuple[str, ...]) -> tuple[str, str]:
    """Return what gcc's compiler proper writes, as `_Step.result` and `_Step.reason`."""
    if "-E" in words:
        return "text", ""
    if "-fsyntax-only" in words or any(w.startswith("--output-pch=") for w in words):
        return "nothing", ""
    if _last(words, ("-flto", "-flto=", "-fno-lto")).startswith("-flto") and (
        _last(words, ("-ffat-lto-objects", "-fno-fat-lto-objects")) != "-ffat-lto-objects"
    ):
        return "nothing", _UNTIL_LINK[0]
    if "-fmodules-ts" in words or "-fmodules" in words:
        # cc1plus writes the compiled interface whatever its other options say.
        return "nothing", "a second run would write the C++ modules again"
    return "assembly", ""


def _clang_step(
    words: tuple[str, ...], own: str, plugin: str, source_plugin: str = "", variables: bool = False
) -> _Step:
    """Return the command of clang's compiler proper with all output in files whose names begin with `own`."""
    ir = "-emit-llvm" in words or "-emit-llvm-bc" in words
    code = not ir and ("-emit-obj" in words or "-S" in words)
    preprocess = "-E" in words
    output = own + (".s" if code else ".bc" if ir else ".i")
    load = f"-fpass-plugin={plugin}" if plugin and code else ""
    # Only what is read as a source has marks.
    reads = ("-load", source_plugin) if source_plugin and (code or ir) and _value(words, "-x") != "ir" else ()
    has_lines = preprocess or any(w.startswith("-debug-info-kind=") for w in words)
    # DWARF 5 names the compilation directory once, DWARF 4 in front of every file.
    kind = "limited" if variables else "line-tables-only"
    lines = () if has_lines else (f"-debug-info-kind={kind}", "-dwarf-version=5")
    result = [*words[:2], *([load] if load else ()), *reads, "-w", "-o", output, *lines]
    result += _clang_words(words[2:], own, verbose=bool(plugin))
    if code:
        return _Step(
            words=tuple(result), output=output, result="assembly", plugin=load, source_plugin=reads, line_options=lines
        )
    if preprocess or not ir:
        return _Step(words=tuple(result), output=output, result="text" if preprocess else "nothing")
    # With -save-temps, bitcode is a step on the way to code.
    lto = any(w.startswith("-flto") for w in words)
    reason = _UNTIL_LINK[1] if lto else "-emit-llvm writes LLVM IR, not code"
    return _Step(words=tuple(result), output=output, result="text", reason=reason, source_plugin=reads)


def _clang_words(words: Sequence[str], own: str, verbose: bool) -> list[str]:
    """Return the words without those that write files. Verbose assembly has the names of blocks, which plugins need."""
    result: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "-o" or word in _CLANG_WRITES_WITH_VALUE:
            next(rest, "")
        elif word in _CLANG_WRITES or word.startswith(_CLANG_WRITES_PREFIXES):
            pass
        elif word == "-coverage-notes-file":
            next(rest, "")
            result += [word, f"{own}.gcno"]
        elif word.startswith("-coverage-notes-file="):
            result.append(f"-coverage-notes-file={own}.gcno")
        elif word == "-emit-obj":
            result.append("-S")
        elif word != "-fno-verbose-asm" or not verbose:
            result.append(word)
    return result


_SYSTEM_FOLDERS = tuple(
    words("-isystem -idirafter -cxx-isystem -c-isystem -internal-isystem -internal-externc-isystem -resource-dir")
)
_USER_FOLDERS = ("-I", "-iquote")


def include_folders(words: Sequence[str]) -> IncludeFolders:
    """Return the folders of headers that a compiler proper's command names, and those that are installed with it."""
    system: list[str] = []
    user: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        for names, folders in ((_SYSTEM_FOLDERS, system), (_USER_FOLDERS, user)):
            name = next((n for n in names if word.startswith(n)), "")
            if name:
                value = word[len(name) :].removeprefix("=") or next(rest, "")
                if value:
                    folders.append(value)
                break
    # …/lib/gcc/x86_64-linux-gnu/12/cc1plus, or libexec; clang names its folders itself.
    for sign in ("/libexec/gcc/", "/lib/gcc/"):
        if sign in words[0]:
            prefix = words[0].partition(sign)[0]
            system += [f"{prefix}/include", f"{prefix}{sign}"]
            break
    return IncludeFolders(tuple(system), tuple(user))


def _gcc_debug_level(words: tuple[str, ...]) -> int:
    """Return the level of debug information that the -g options of a compiler proper add up to, 0 for none."""
    level = 0
    for word in words:
        if word in ("-g", "-ggdb", "-gstabs", "-gstabs+") or word.startswith("-gdwarf"):
            level = max(level, 2)
        elif word == "-gtoggle":
            level = 0 if level else 2
        else:
            for prefix in ("-ggdb", "-gstabs", "-g"):
                if word.startswith(prefix) and word[len(prefix) :].isdecimal():
                    level = int(word[len(prefix) :])
                    break
    return level


def _last(words: tuple[str, ...], choices: tuple[str, ...]) -> str:
    """Return the last word that is one of `choices`, or begins with one that ends in =; "" if there is none."""
    for word in reversed(words):
        if any(word == c or (c.endswith("=") and word.startswith(c)) for c in choices):
            return word
    return ""


def _value(words: Sequence[str], option: str) -> str:
    """Return the word after the last `option`, "" if there is none."""
    for i in range(len(words) - 2, -1, -1):
        if words[i] == option:
            return words[i + 1]
    return ""


def _writes_stdout(words: tuple[str, ...], kind: str, piped: bool) -> bool:
    output = _value(words, "-o")
    if (output in _STANDARD_OUTPUT and not piped) or (not output and "-E" in words):
        return True
    names = ("-MD", "-MMD", "-MF", "-aux-info") if kind == "gcc" else ("-dependency-file", "-header-include-file")
    return any(_value(words, name) in _STANDARD_OUTPUT for name in names)


def _lists_to_stdout(words: tuple[str, ...]) -> bool:
    """Return True if an assembler prints a listing (`-Wa,-al`) to standard output, not to a file (`=FILE`)."""
    listing = frozenset("-acdghlmns")
    return any(w.startswith("-a") and "=" not in w and not w.startswith("-alt") and set(w) <= listing for w in words)


def _assembler_input(words: tuple[str, ...]) -> str:
    """Return the file that an assembler reads, which drivers write last; "" for none."""
    name = words[-1]
    if name == "-":
        return "" if len(words) > 1 and words[-2] == "-o" else "-"
    return "" if name.startswith("-") or words[-2] == "-o" else name


def _source(words: tuple[str, ...], arguments: tuple[str, ...] | list[str], kind: str) -> str:
    """Return the user's file that a compiler proper reads."""
    if kind == "clang":
        return words[-1]
    candidates: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if word in _GCC_TAKES_VALUE or word in _GCC_WRITES_WITH_VALUE or word in ("-o", "-J"):
            next(rest, "")
        elif word == "-" or not word.startswith("-"):
            candidates.append(word)
    return next((c for c in candidates if c in arguments), candidates[0] if candidates else "")


def _unreadable(words: tuple[str, ...], folder: str) -> str:
    """Return the reason that a command cannot run a second time, "" if it can."""
    return next((reason for word in words[1:] if not word.startswith("-") and (reason := _pipe(word, folder))), "")


def _pipe(name: str, folder: str) -> str:
    """Return the reason that a file cannot be read a second time, "" if it can: a pipe is the real compiler's."""
    if name in _STANDARD_INPUT:
        return ""
    try:
        mode = os.stat(os.path.join(folder, name)).st_mode
    except (OSError, ValueError):
        return ""
    return f"{name} is a pipe, which can be read only once" if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) else ""


def reads_stdin(command: tuple[str, ...]) -> bool:
    """Return True if a compiler proper reads its source from standard input."""
    named = ("-o", "-dumpbase", "-main-file-name", "-auxbase", "-auxbase-strip")
    return any(w in _STANDARD_INPUT and command[i] not in named for i, w in enumerate(command[1:]))


def _needs_modules(words: tuple[str, ...], source: str) -> bool:
    """Return True if a Fortran source may read module files that the real compiler is about to write.

    This only looks for the words without which a source cannot do so.
    """
    if os.path.basename(words[0]) != "f951":
        return False
    try:
        with open(source, "rb") as file:
            text = file.read().lower()
    except OSError:
        return True
    return any(word in text for word in (b"use", b"module", b"include"))


def other_mode(words: Sequence[str]) -> str:
    """Return the mode of code that options make for something else than 64-bit x86, "" if none does."""
    if "-m32" in words or "-m16" in words or "--32" in words:
        return "32-bit x86"
    if "-mx32" in words or "--x32" in words:
        return "x32"
    return ""


def target_cpu(words: Sequence[str], arguments: Sequence[str]) -> str:
    """Return the core that code is generated for, else the level of the instruction set if it is above the default.

    The core that the code is tuned for comes first: it matters more than the instruction set that the code may use.
    """
    names = {"-mtune": _value(words, "-tune-cpu"), "-mcpu": _value(words, "-target-cpu"), "-march": ""}
    for word in (*words, *arguments):
        name, sign, value = word.partition("=")
        if sign and name in names:
            names[name] = value
    tune, cpu, arch = names.values()
    arch = arch or _level(words)
    core = next((name for name in (tune, cpu, arch) if is_core(name)), "")
    return core or next((name for name in (arch, cpu, tune) if name not in _DEFAULTS), "")


def _level(words: Sequence[str]) -> str:
    """Return the level of AArch64 that features stand for in the words of clang's compiler proper, "" for none."""
    features = {word[1:] for before, word in pairwise(words) if before == "-target-feature" and word.startswith("+")}
    number = max((f.removeprefix("v").removesuffix("a") for f in features if _is_level(f)), default="")
    vectors = "".join(f"+{feature}" for feature in ("sve", "sve2") if feature in features)
    return f"armv{number}-a{vectors}" if number else ""


def _is_level(feature: str) -> bool:
    return feature.startswith("v") and feature.endswith("a") and feature[1:2].isdecimal()


_DEFAULTS = frozenset(("", "generic", "native", "x86-64", "armv8-a"))


def is_core(name: str) -> bool:
    """Return True if a CPU name is a core's, not an architecture level or a generic name."""
    name = name.partition("+")[0]
    return name not in ("", "generic", "native", "intel", "i386", "i486", "i586", "i686") and not name.startswith(
        ("x86-64", "armv8", "armv9", "blended")
    )
