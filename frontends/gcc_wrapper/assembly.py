"""Turns a driver's sub-commands into the runs that write assembly for the analysis, and nothing else.

Code generation is left as it is; every option by which a compiler proper writes a file (dependencies, dumps, coverage
notes, statistics, modules) is taken out or pointed into a scratch folder.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import msgspec

from incc.frontends.gcc_wrapper.remarks import clang_options, gcc_options
from incc.frontends.unit import IncludeFolders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.frontends.gcc_wrapper.dry_run import Command, DryRun

# The compilers proper of gcc whose output is assembly text, by the program's name.
_GCC_FRONT_ENDS = frozenset(("cc1", "cc1plus", "cc1obj", "cc1objplus", "f951"))
# Others that exist; what they write beside the assembly is not known here.
_OTHER_FRONT_ENDS = frozenset(("gnat1", "d21", "go1", "gm2", "cc1gm2", "crab1", "rust1", "cobol1", "lto1"))

_STANDARD_INPUT = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))
_STANDARD_OUTPUT = frozenset(("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"))

# --- gcc: options of cc1, cc1plus and f951, from gcc/c-family/c.opt, gcc/fortran/lang.opt, gcc/common.opt ---

_GCC_WRITES_WITH_VALUE = frozenset(("-MD", "-MMD", "-MF", "-MT", "-MQ", "-aux-info"))
_GCC_WRITES = frozenset(("-M", "-MM", "-MG", "-MP", "-Mno-modules"))
_GCC_WRITES_PREFIXES = (
    "-MF",
    "-MT",
    "-MQ",
    "-aux-info=",
    "-fcallgraph-info",
    "-fdeps-",
    "-fdiagnostics-add-output=",
    "-fdiagnostics-format=",
    "-fdiagnostics-set-output=",
    "-fdump-",
    "-fopt-info",
    "-fprofile-note=",
    "-fsave-optimization-record",
    "-fstack-usage",
)
_GCC_TAKES_VALUE = frozenset(
    (
        "--param",
        "-A",
        "-D",
        "-I",
        "-U",
        "-auxbase",
        "-auxbase-strip",
        "-dumpbase",
        "-dumpbase-ext",
        "-dumpdir",
        "-fintrinsic-modules-path",
        "-idirafter",
        "-imacros",
        "-imultiarch",
        "-imultilib",
        "-include",
        "-iprefix",
        "-iquote",
        "-isysroot",
        "-isystem",
        "-iwithprefix",
        "-iwithprefixbefore",
    )
)

# --- clang -cc1: clang/include/clang/Driver/Options.td ---

_CLANG_WRITES_WITH_VALUE = frozenset(
    (
        "-MT",
        "-dependency-dot",
        "-dependency-file",
        "-diagnostic-log-file",
        "-gen-cdb-fragment-path",
        "-header-include-file",
        "-index-store-path",
        "-opt-record-file",
        "-opt-record-format",
        "-opt-record-passes",
        "-serialize-diagnostic-file",
        "-split-dwarf-file",
        "-split-dwarf-output",
        "-stack-usage-file",
        "-stats-file",
    )
)
_CLANG_WRITES = frozenset(("-H", "-MG", "-MP", "-module-file-deps", "-print-stats", "-sys-header-deps"))
_CLANG_WRITES_PREFIXES = (
    "-MT=",
    "-crash-diagnostics-dir",
    "-fmodule-output",
    "-fthin-link-bitcode=",
    "-ftime-trace",
    "-module-dependency-dir",
    "-opt-record-file=",
    "-save-stats",
    "-save-temps",
    "-stats-file=",
)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """How to get one source's assembly.

    `commands` are to be run one after another, in this order; then the text is in `output`. `source` is the user's
    file as named in the command. `cpu`: the core that the code is for, or the level of the instruction set, "" if
    the command does not say. `after_compiler`: only once the real compiler is done, whose results are read.
    `generated`: the text is a compiler's; otherwise it is the user's own assembly. `folders`: where the source's
    headers come from. `plugin`: the word of the last command by which clang loads a pass plugin, "" for none; `table`:
    the file in which that says what it knows of loops. Without the word the command makes the same code.
    `source_plugin`, `marks`: the words and the file of the plugin that reads marks, likewise. `records`: what the names
    of files begin with that have the compiler's remarks (`remarks.py`).
    """

    source: str
    commands: tuple[tuple[str, ...], ...]
    output: str
    cpu: str
    after_compiler: bool
    generated: bool
    folders: IncludeFolders = IncludeFolders()
    plugin: str = ""
    table: str = ""
    records: str = ""
    source_plugin: tuple[str, ...] = ()
    marks: str = ""


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """A source without assembly to analyse. `expected`: the user's command means that, it is no failure. `until_link`:
    code is generated when it is linked."""

    source: str
    reason: str
    expected: bool
    until_link: bool = False


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What to run for the analysis of a command.

    `reads_stdin`: the compiler reads a source from standard input. `writes_stdout`: the command itself writes to
    standard output.
    """

    runs: tuple[Run, ...]
    skipped: tuple[Skipped, ...]
    reads_stdin: bool
    writes_stdout: bool


class _Made(msgspec.Struct, frozen=True, kw_only=True):
    """A file that an earlier sub-command would have made, and how the scratch folder gets its twin."""

    output: str
    commands: tuple[tuple[str, ...], ...]
    source: str
    cpu: str
    assembler: bool  # preprocessed assembly (from .S)
    problem: str
    unused_reason: str  # why there is nothing to analyse if no later sub-command reads it


def make_plan(
    dry_run: DryRun,
    arguments: tuple[str, ...] | list[str],
    scratch: str,
    folder: str = "",
    remarks: bool = False,
    plugin: str = "",
    source_plugin: str = "",
) -> Plan:
    """The runs for the sub-commands of a dry run of `arguments`, with all output in the folder `scratch`.

    `folder`: the command's working directory, "" for this process's. `remarks`: what the compilers say of loops is
    wanted, too. `plugin`: the path of a pass plugin for clang, "" for none; `source_plugin`: of one that reads
    marks.
    """
    runs: list[Run] = []
    skipped: list[Skipped] = []
    made: dict[str, _Made] = {}
    consumed: set[str] = set()
    writes_stdout = False
    before: Command | None = None
    for number, command in enumerate(dry_run.commands):
        words = _without_wrapper(command.words)
        piped_from = made.get("|") if before is not None and before.piped else None
        before = command
        kind = _kind(words)
        if kind == "":
            continue
        if kind == "assembler":
            writes_stdout |= _lists_to_stdout(words)
            name = _assembler_input(words)
            previous = piped_from if name == "" else made.get(name)
            if previous is None and name not in _STANDARD_INPUT and not os.path.exists(os.path.join(folder, name)):
                continue  # reads a compiler's output through a pipe, or (gcc --version) nothing
            cpu = target_cpu(words, arguments)
            if previous is None:
                _add(
                    runs,
                    skipped,
                    Run(source=name, commands=(), output=name, cpu=cpu, after_compiler=False, generated=False),
                    _target(words, dry_run),
                    _pipe(name, folder),
                )
            elif previous.assembler:
                run = Run(
                    source=previous.source,
                    commands=previous.commands,
                    output=previous.output,
                    cpu=previous.cpu or cpu,
                    after_compiler=False,
                    generated=False,
                )
                _add(runs, skipped, run, _target(words, dry_run), previous.problem)
            continue
        writes_stdout |= _writes_stdout(words, kind, command.piped)
        own = os.path.join(scratch, str(number))
        step = _gcc_step(words, own) if kind == "gcc" else _clang_step(words, own, plugin, source_plugin)
        sources = [made[w] for w in step.words[1:] if w in made and w != "|"]
        if piped_from is not None and piped_from not in sources:
            sources.append(piped_from)
        consumed.update(s.output for s in sources)
        commands = [c for s in sources for c in s.commands]
        new = [made[w].output if w in made and w != "|" else w for w in step.words]
        if piped_from is not None:
            new = [piped_from.output if w == "-" and new[i - 1] != "-o" else w for i, w in enumerate(new)]
        if remarks and step.result == "assembly":
            # In front of the others: of options that contradict each other the command's own counts.
            new[1:1] = gcc_options(own) if kind == "gcc" else []
            new[2:2] = clang_options(own) if kind == "clang" else []
        commands.append(tuple(new))
        source = sources[0].source if sources else _source(words, arguments, kind)
        cpu = target_cpu(words, ())
        problem = next((s.problem for s in sources if s.problem), "") or _unreadable(words, folder)
        if step.result == "assembly":
            run = Run(
                source=source,
                commands=tuple(commands),
                output=step.output,
                cpu=cpu,
                after_compiler=_needs_modules(words, os.path.join(folder, source)),
                generated=True,
                folders=include_folders(words),
                plugin=step.plugin,
                table=f"{own}.loops.json" if step.plugin else "",
                records=own if remarks else "",
                source_plugin=step.source_plugin,
                marks=f"{own}.marks.json" if step.source_plugin else "",
            )
            _add(runs, skipped, run, _target(words, dry_run), problem)
        elif step.result == "nothing" and step.reason:
            skipped.append(
                Skipped(source=source, reason=step.reason, expected=True, until_link=step.reason in _UNTIL_LINK)
            )
        key = "|" if command.piped else _value(words, "-o")
        if key:
            is_assembler = step.result == "text" and ("-lang-asm" in words or "assembler-with-cpp" in words)
            unused = step.reason if step.result == "text" else ""
            made[key] = _Made(
                output=step.output,
                commands=tuple(commands),
                source=source,
                cpu=cpu,
                assembler=is_assembler,
                problem=problem,
                unused_reason=unused,
            )
    for file in made.values():
        if file.unused_reason and file.output not in consumed:
            skipped.append(
                Skipped(
                    source=file.source,
                    reason=file.unused_reason,
                    expected=True,
                    until_link=file.unused_reason in _UNTIL_LINK,
                )
            )
    # A front end for a language that is not read here is not passed over in silence.
    for command in dry_run.commands:
        program = os.path.basename(command.words[0])
        if program in _OTHER_FRONT_ENDS and "--help" not in " ".join(command.words):
            skipped.append(
                Skipped(
                    source=_source(command.words, arguments, "gcc"),
                    reason=f"no analysis of what {program} writes",
                    expected=False,
                )
            )
    from_stdin = any(reads_stdin(c) for r in runs for c in r.commands) or any(
        not r.commands and r.source in _STANDARD_INPUT for r in runs
    )
    return Plan(runs=tuple(runs), skipped=tuple(skipped), reads_stdin=from_stdin, writes_stdout=writes_stdout)


def _add(runs: list[Run], skipped: list[Skipped], run: Run, target: str, problem: str) -> None:
    if problem:
        skipped.append(Skipped(source=run.source, reason=problem, expected=False))
    elif target and not target.startswith(("x86_64", "amd64")):
        skipped.append(Skipped(source=run.source, reason=f"the code is for {target}, not for x86-64", expected=False))
    else:
        runs.append(run)


def sources_for_link(dry_run: DryRun, arguments: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The sources of which a command makes objects for link-time optimisation, each with the words of the compiler
    proper."""
    found: dict[str, tuple[str, ...]] = {}
    for command in dry_run.commands:
        words = _without_wrapper(command.words)
        kind = _kind(words)
        if kind in ("gcc", "clang") and _last(words, ("-flto", "-flto=", "-fno-lto")).startswith("-flto"):
            source = _source(words, tuple(arguments), kind)
            # With -save-temps each step reads what the one before has written.
            if source in arguments:
                found.setdefault(source, words)
    return list(found.items())


def _without_wrapper(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words from the compiler proper on: `gcc -wrapper gdb,--args` puts others in front, not to be run twice."""
    # -quiet tells them from linkers, for which cc1 may be the program to make.
    if "-quiet" in words and os.path.basename(words[0]) not in _GCC_FRONT_ENDS:
        for i, word in enumerate(words):
            if os.path.basename(word) in _GCC_FRONT_ENDS:
                return words[i:]
    return words


def _kind(words: tuple[str, ...]) -> str:
    """ "gcc", "clang", "assembler" or "" (linkers and the like, and runs that compile nothing)."""
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
    """A compiler proper's command, rewritten. `result`: "assembly", "text" (of whatever kind) or "nothing". `plugin`:
    the word by which it loads one, "" for none; `source_plugin`: the words for one that reads marks."""

    words: tuple[str, ...]
    output: str
    result: str
    reason: str
    plugin: str = ""
    source_plugin: tuple[str, ...] = ()


def _gcc_step(words: tuple[str, ...], own: str) -> _Step:
    preprocess = "-E" in words
    profile = any(w.startswith(("-fprofile-use", "-fauto-profile", "-fbranch-probabilities")) for w in words)
    result: list[str] = [words[0]]
    modules = ""
    rest = iter(words[1:])
    for word in rest:
        if word == "-o" or word in _GCC_WRITES_WITH_VALUE:
            next(rest, "")
        elif word in _GCC_WRITES or word.startswith(_GCC_WRITES_PREFIXES):
            pass
        elif word in ("-dumpbase", "-auxbase", "-auxbase-strip", "-dumpdir"):
            value = next(rest, "")
            if profile:
                # The name of the profile to read is made from these.
                result += [word, value]
            elif word != "-dumpdir":
                result += [word, os.path.basename(value) if word == "-dumpbase" else f"{own}.aux"]
        elif word == "-dumpbase-ext":
            result += [word, next(rest, "")]
        elif word.startswith("-d") or word == "-gsplit-dwarf":
            pass
        elif word == "-J":
            modules = next(rest, "")
        elif word.startswith("-J"):
            modules = word[2:]
        elif word.startswith("-cpp="):
            result.append(f"-cpp={own}.cpp")
        elif word in _GCC_TAKES_VALUE:
            result += [word, next(rest, "")]
        else:
            result.append(word)
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
    if not preprocess and _gcc_debug_level(words) == 0:
        result.append("-g1")
    result += ["-o", output]
    if preprocess:
        return _Step(words=tuple(result), output=output, result="text", reason="")
    if "-fsyntax-only" in words or any(w.startswith("--output-pch=") for w in words):
        return _Step(words=tuple(result), output=output, result="nothing", reason="")
    if _last(words, ("-flto", "-flto=", "-fno-lto")).startswith("-flto") and (
        _last(words, ("-ffat-lto-objects", "-fno-fat-lto-objects")) != "-ffat-lto-objects"
    ):
        return _Step(words=tuple(result), output=output, result="nothing", reason=_UNTIL_LINK[0])
    if "-fmodules-ts" in words or "-fmodules" in words:
        # cc1plus writes the compiled interface whatever its other options say.
        return _Step(
            words=tuple(result),
            output=output,
            result="nothing",
            reason="a second run would write the C++ modules again",
        )
    return _Step(words=tuple(result), output=output, result="assembly", reason="")


def _clang_step(words: tuple[str, ...], own: str, plugin: str, source_plugin: str = "") -> _Step:
    ir = "-emit-llvm" in words or "-emit-llvm-bc" in words
    code = not ir and ("-emit-obj" in words or "-S" in words)
    preprocess = "-E" in words
    output = own + (".s" if code else ".bc" if ir else ".i")
    result: list[str] = [*words[:2], "-w", "-o", output]
    has_lines = any(w.startswith("-debug-info-kind=") for w in words)
    if not has_lines and not preprocess:
        # DWARF 5 names the compilation directory once, DWARF 4 in front of every file.
        result += ["-debug-info-kind=line-tables-only", "-dwarf-version=5"]
    rest = iter(words[2:])
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
        elif word == "-fno-verbose-asm" and plugin:
            pass  # verbose assembly has the names of blocks
        else:
            result.append(word)
    if code:
        load = f"-fpass-plugin={plugin}" if plugin else ""
        reads = ("-load", source_plugin) if source_plugin else ()
        result[2:2] = [*([load] if load else ()), *reads]
        return _Step(words=tuple(result), output=output, result="assembly", reason="", plugin=load, source_plugin=reads)
    if preprocess:
        return _Step(words=tuple(result), output=output, result="text", reason="")
    if not ir:
        return _Step(words=tuple(result), output=output, result="nothing", reason="")
    # With -save-temps, bitcode is a step on the way to code.
    lto = any(w.startswith("-flto") for w in words)
    return _Step(
        words=tuple(result),
        output=output,
        result="text",
        reason=_UNTIL_LINK[1] if lto else "-emit-llvm writes LLVM IR, not code",
    )


_SYSTEM_FOLDERS = (
    "-isystem",
    "-idirafter",
    "-cxx-isystem",
    "-c-isystem",
    "-internal-isystem",
    "-internal-externc-isystem",
    "-resource-dir",
)
_USER_FOLDERS = ("-I", "-iquote")


def include_folders(words: Sequence[str]) -> IncludeFolders:
    """The folders of headers that a compiler proper's command names, and those that are installed beside it."""
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
        prefix, found, _ = words[0].partition(sign)
        if found:
            system += [f"{prefix}/include", f"{prefix}{sign}"]
            break
    return IncludeFolders(tuple(system), tuple(user))


def _gcc_debug_level(words: tuple[str, ...]) -> int:
    """The level that the -g options of a compiler proper come to, 0 for no debug information."""
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
    """The last word that is one of `choices` (those that end in = as prefixes), "" if none is."""
    for word in reversed(words):
        if any(word == c or (c.endswith("=") and word.startswith(c)) for c in choices):
            return word
    return ""


def _value(words: Sequence[str], option: str) -> str:
    """The word after the last `option`, "" if there is none."""
    for i in range(len(words) - 2, -1, -1):
        if words[i] == option:
            return words[i + 1]
    return ""


def _writes_stdout(words: tuple[str, ...], kind: str, piped: bool) -> bool:
    output = _value(words, "-o")
    if output in _STANDARD_OUTPUT and not piped:
        return True
    if not output and "-E" in words:
        return True
    names = ("-MD", "-MMD", "-MF", "-aux-info") if kind == "gcc" else ("-dependency-file", "-header-include-file")
    return any(_value(words, name) in _STANDARD_OUTPUT for name in names)


def _lists_to_stdout(words: tuple[str, ...]) -> bool:
    """Whether an assembler prints a listing (`-Wa,-al`); with `=FILE` it goes to that file."""
    listing = frozenset("-acdghlmns")
    return any(w.startswith("-a") and "=" not in w and not w.startswith("-alt") and set(w) <= listing for w in words)


def _assembler_input(words: tuple[str, ...]) -> str:
    """The file that an assembler reads, "" for none: drivers write it last."""
    name = words[-1]
    if name == "-":
        return "" if len(words) > 1 and words[-2] == "-o" else "-"
    return "" if name.startswith("-") or words[-2] == "-o" else name


def _source(words: tuple[str, ...], arguments: tuple[str, ...] | list[str], kind: str) -> str:
    """The user's file that a compiler proper reads."""
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
    """Why the command cannot run a second time, "" if it can."""
    return next((reason for word in words[1:] if not word.startswith("-") and (reason := _pipe(word, folder))), "")


def _pipe(name: str, folder: str) -> str:
    """A pipe among the inputs gives what it holds only once, and the real compiler needs it."""
    if name in _STANDARD_INPUT:
        return ""
    try:
        mode = os.stat(os.path.join(folder, name)).st_mode
    except (OSError, ValueError):
        return ""
    return f"{name} is a pipe, which can be read only once" if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) else ""


def reads_stdin(command: tuple[str, ...]) -> bool:
    """Whether a compiler proper reads its source from standard input."""
    named = ("-o", "-dumpbase", "-main-file-name", "-auxbase", "-auxbase-strip")
    return any(w in _STANDARD_INPUT and command[i] not in named for i, w in enumerate(command[1:]))


def _needs_modules(words: tuple[str, ...], source: str) -> bool:
    """Whether a Fortran source may read module files that the real compiler is about to write.

    The language has no cheap exact answer; a source without any of these words cannot.
    """
    if os.path.basename(words[0]) != "f951":
        return False
    try:
        with open(source, "rb") as file:
            text = file.read().lower()
    except OSError:
        return True
    return any(word in text for word in (b"use", b"module", b"include"))


def _target(words: tuple[str, ...], dry_run: DryRun) -> str:
    """The triple that the code is for, "" if unknown."""
    return other_mode(words) or _value(words, "-triple") or dry_run.target


def other_mode(words: Sequence[str]) -> str:
    """What code is for that is not for 64-bit x86 by one of its options, "" if no option says so."""
    if "-m32" in words or "-m16" in words or "--32" in words:
        return "32-bit x86"
    if "-mx32" in words or "--x32" in words:
        return "x32"
    return ""


def target_cpu(words: Sequence[str], arguments: Sequence[str]) -> str:
    """The core that the code is generated for; else the level of the instruction set, where it is more than the
    default; else "".

    Tuning for one core decides about the code more than the instruction set that it may use, so it goes first.
    """
    tune = _value(words, "-tune-cpu")
    cpu = _value(words, "-target-cpu")
    arch = ""
    for word in (*words, *arguments):
        for name in ("-march=", "-mtune=", "-mcpu="):
            if word.startswith(name):
                value = word[len(name) :]
                if name == "-mtune=":
                    tune = value
                elif name == "-mcpu=":
                    cpu = value
                else:
                    arch = value
    core = next((name for name in (tune, cpu, arch) if is_core(name)), "")
    return core or next((name for name in (arch, cpu, tune) if name not in _DEFAULTS), "")


_DEFAULTS = frozenset(("", "generic", "native", "x86-64", "armv8-a"))


def is_core(name: str) -> bool:
    """Whether a CPU name means one core rather than an architecture level or "whatever is common"."""
    name = name.partition("+")[0]
    return name not in ("", "generic", "native", "intel", "i386", "i486", "i586", "i686") and not name.startswith(
        ("x86-64", "armv8", "armv9", "blended")
    )
