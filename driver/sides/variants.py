"""Compilation of sources with several compilers and flags, and analysis for several cores, as sides of a comparison."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from incc.comparison import types as c
from incc.comparison.side import ComparedBuild, side_info
from incc.driver.settings import Settings
from incc.driver.sides.analyse import CODE, CodePiece, analyse, in_processes
from incc.driver.sides.labels import distinct
from incc.driver.sides.read import Collected
from incc.frontends.gcc_wrapper.compiler import Compiler, CompilerError, child_environment, find_program
from incc.frontends.gcc_wrapper.processes import Processes
from incc.frontends.gcc_wrapper.session import AssemblyFailure, Compilation, with_flags
from incc.frontends.unit import Unit
from incc.report.documents import InputError


class CompilerVariant(msgspec.Struct, frozen=True, kw_only=True):
    """A combination of compiler, flags and core."""

    label: str
    """The parts that differ from other variants."""
    compiler: tuple[str, ...]
    """The words of the compiler, such as `ccache gcc`."""
    flags: tuple[str, ...]
    """The flags after the arguments."""
    mcpu: str
    """The core; "" for the command's target."""
    arguments: tuple[str, ...]
    """The arguments that all variants share."""
    differs: frozenset[str] = frozenset()
    """The names of the fields (compiler, flags, mcpu) that are not the same in all variants."""


def variants(
    compilers: Sequence[str], flags: Sequence[str], mcpus: Sequence[str], arguments: Sequence[str]
) -> list[CompilerVariant]:
    """Return all combinations of compilers, flags and cores, without duplicates.

    Args:
        compilers: Compilers, with words quoted as in a shell.
        flags: Flags, with words quoted as in a shell; none for the command as it is.
        mcpus: Cores; none for the command's target.
        arguments: The arguments that all variants share.

    Raises:
        InputError: There is no compiler or no argument, or a text is not quoted correctly.
    """
    of_compilers = list(dict.fromkeys(_words(text, "compiler") for text in compilers))
    of_flags = list(dict.fromkeys(_words(text, "flags") for text in flags)) or [()]
    of_cores = list(dict.fromkeys(mcpus)) or [""]
    if not of_compilers or not all(of_compilers):
        raise InputError("no compiler; name one after --run")
    if not arguments:
        raise InputError("no command to compile; name one after --")
    several: dict[str, Sequence[object]] = {"compiler": of_compilers, "flags": of_flags, "mcpu": of_cores}
    differs = frozenset(name for name, values in several.items() if len(values) > 1)
    named = dict(zip(of_compilers, _names(of_compilers), strict=True))
    combinations = [
        CompilerVariant(
            label=_label(named[compiler], flag, core, differs),
            compiler=compiler,
            flags=flag,
            mcpu=core,
            arguments=tuple(arguments),
            differs=differs,
        )
        for compiler in of_compilers
        for flag in of_flags
        for core in of_cores
    ]
    labels = distinct([variant.label for variant in combinations])
    return [replace(variant, label=label) for variant, label in zip(combinations, labels, strict=True)]


def _words(text: str, what: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise InputError(f"{what} {text!r}: {str(error).lower()}") from error


def _names(compilers: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the names of compilers, without their folders if that is unambiguous."""
    short = [" ".join((*words[:-1], os.path.basename(words[-1]))) for words in compilers]
    return short if len(set(short)) == len(short) else [" ".join(words) for words in compilers]


def _label(compiler: str, flags: tuple[str, ...], mcpu: str, differs: frozenset[str]) -> str:
    parts = [compiler] * ("compiler" in differs) + [shlex.join(flags) or "no flags"] * ("flags" in differs)
    text = " ".join(parts)
    if "mcpu" in differs:
        text += f" · {mcpu or 'its target'}" if text else mcpu or "its target"
    return text or compiler


# --- compiling and analysing ------------------------------------------------------------------------------------------


class _Built(msgspec.Struct, frozen=True):
    """The assembly that a compiler wrote."""

    units: tuple[Unit, ...]
    problem: str
    """The reason why there is no assembly."""
    notes: tuple[str, ...]


def run_variants(wanted: Sequence[CompilerVariant], settings: Settings = CODE, jobs: int = 1) -> list[ComparedBuild]:
    """Compile and analyse each variant, and return their sides. No output files are written.

    A variant that cannot be compiled has a `problem` instead of kernels. Raises InputError if none can be compiled.
    """
    commands = list(dict.fromkeys((v.compiler, v.flags, v.arguments) for v in wanted))
    built = dict(zip(commands, in_processes(_build, commands, jobs, "compiling", _not_built), strict=True))
    if all(one.problem for one in built.values()):
        labels = {(v.compiler, v.flags, v.arguments): v.label for v in reversed(wanted)}
        problems = {one.problem: labels[command] for command, one in reversed(built.items())}
        if len(problems) == 1:
            raise InputError(next(iter(problems)))
        texts = [p if p.startswith(f"{label}: ") else f"{label}: {p}" for p, label in reversed(problems.items())]
        raise InputError("; ".join(texts))
    pieces: list[CodePiece] = []
    spans = []
    for variant in wanted:
        start = len(pieces)
        pieces += [
            CodePiece(unit=unit, settings=settings.on(variant.mcpu))
            for unit in built[variant.compiler, variant.flags, variant.arguments].units
        ]
        spans.append((start, len(pieces)))
    results = analyse(pieces, jobs)
    sides = []
    for variant, (start, end) in zip(wanted, spans, strict=True):
        one = built[variant.compiler, variant.flags, variant.arguments]
        collected = Collected(shlex.join((*variant.compiler, *with_flags(variant.arguments, variant.flags))))
        problem = one.problem or next((r.problem for r in results[start:end] if r.problem), "")
        collected.notes.update(dict.fromkeys(f"{note}." for note in one.notes))
        if not problem:
            for result in results[start:end]:
                collected.take(result.entries, result.left_out, result.note)
        sides.append(_side(variant, collected, problem))
    if all(side.info.problem for side in sides):
        raise InputError(sides[0].info.problem)
    return sides


def _side(variant: CompilerVariant, collected: Collected, problem: str) -> ComparedBuild:
    notes = [*collected.notes]
    if collected.left_out and not problem:
        notes.append(f"{collected.left_out} {'loop was' if collected.left_out == 1 else 'loops were'} not analysed.")
    if not problem and not collected.entries:
        notes.append("It has no kernels.")
    described = c.SideVariant(
        compiler=" ".join(variant.compiler) if "compiler" in variant.differs else "",
        flags=list(variant.flags) if "flags" in variant.differs else [],
        mcpu=variant.mcpu if "mcpu" in variant.differs else "",
    )
    info = side_info(collected.entries, variant.label, collected.name, notes)
    return ComparedBuild(replace(info, variant=described, problem=problem), collected.entries)


def _not_built(_: object, why: str) -> _Built:
    return _Built((), why, ())


def _build(command: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]) -> _Built:
    """Run only the compiler proper, with its output in a temporary folder."""
    words, flags, arguments = command
    environment = child_environment(os.environ)
    try:
        compiler = Compiler(find_program(words[0], environment), list(words))
    except CompilerError as error:
        return _Built((), str(error), ())
    processes = Processes("", b"", None)
    compilation = Compilation(compiler, with_flags(arguments, flags), environment, processes)
    try:
        units = compilation.assembly_alone()
    except AssemblyFailure as error:
        return _Built((), error.compiler_message or str(error), ())
    except OSError as error:
        return _Built((), f"{error.filename or words[0]}: {error.strerror}", ())
    finally:
        processes.end()
        compilation.close()
    notes = tuple(compilation.notes)
    if not units:
        why = notes[0] if notes else f"`{shlex.join(words)}` generates no assembly from these arguments"
        return _Built((), why, ())
    return _Built(tuple(units), "", notes)
