"""Links at which code is generated (link-time optimisation), and the functions that come of it.

Nothing is linked a second time: the linked file has the code, and its symbols tell whose a function is. The linker
copies what was machine code before, with name and size; so all functions are those of link-time optimisation that are
not of the same name and size in any object or library member that went into the link as machine code.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from incc.frontends.gcc_wrapper.assembly import is_core, sources_for_link, target_cpu
from incc.frontends.gcc_wrapper.response_files import expanded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.frontends.gcc_wrapper.dry_run import Command, DryRun
    from incc.frontends.objects.symbols import Elf, LinkerInput
    from incc.frontends.unit import Unit

_COLLECT = "collect2"
_GCC_PLUGIN = "liblto_plugin"


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A link at which code is generated.

    `output`: the file that it makes, as the linker's command names it. `inputs`: of those that are optimised the names,
    in order, members of libraries by their library. `machine_code`: paths of objects and libraries that go into it,
    some of which may have code for link-time optimisation alone. `cpu`: the core that the code is for, "" if nothing
    says so. `options`: those that decided about code generation, as far as they are known.
    """

    output: str
    inputs: tuple[str, ...]
    machine_code: tuple[str, ...]
    cpu: str
    options: tuple[str, ...]
    plugin: _Plugin


class _Plugin(msgspec.Struct, frozen=True):
    """What a linker's command generates code of: what gcc writes, and in libraries, too; bitcode beside machine code.
    Bitcode alone can be linked in no other way."""

    gcc: bool
    gcc_members: bool
    fat_bitcode: bool

    def takes(self, one: LinkerInput) -> bool:
        if one.lto == "gcc":
            return self.gcc and (self.gcc_members or not one.is_member)
        return one.lto == "llvm" or (one.lto == "llvm-fat" and self.fat_bitcode)


def links(dry_run: DryRun) -> bool:
    """Whether a linker is among the sub-commands."""
    return any(_is_linker(command) for command in dry_run.commands)


def hides_inputs(dry_run: DryRun) -> bool:
    """Whether a linker's inputs are in a response file, which of a dry run nobody has kept."""
    return any(
        _is_linker(c) and any(w.startswith("@") and not os.path.exists(w[1:]) for w in c.words)
        for c in dry_run.commands
    )


def find_link(dry_run: DryRun, arguments: Sequence[str], folder: str = "") -> Link | None:
    """The link of a command of which this is the dry run, if something is optimised at it, else None.

    `arguments`: the command's, without response files. Raises OSError.
    """
    command = next((command for command in reversed(dry_run.commands) if _is_linker(command)), None)
    if command is None:
        return None
    words = expanded(command.words, folder)
    plugin = _plugin(words, arguments)
    output, files = _files(words, folder)
    compiled = sources_for_link(dry_run, arguments)
    inputs = dict.fromkeys(source for source, _ in compiled)
    options: tuple[str, ...] = ()
    of_bitcode: tuple[str, ...] = ()
    for file in files:
        # What the compiler adds by itself is its own and the system's libraries.
        if file.shown in arguments or (file.library and _names(arguments, file.library)):
            for one in _inputs(file.path):
                if plugin.takes(one):
                    inputs[file.shown] = None
                    of_bitcode = of_bitcode or one.target
                    if one.elf and not options:
                        options = _recorded(one.elf)
    if not inputs:
        return None
    cpus = [target_cpu(words, ()) for _, words in compiled]
    # What is not said of single functions, the link says.
    cpus += [target_cpu(of_bitcode, ()), target_cpu((), (*arguments, *options))]
    cpu = next(filter(is_core, cpus), "") or next(filter(None, cpus), "")
    if of_bitcode and not options and not compiled:
        options = _implied(arguments, of_bitcode)
    return Link(
        output=output,
        inputs=tuple(inputs),
        machine_code=tuple([file.path for file in files]),
        cpu=cpu,
        options=options,
        plugin=plugin,
    )


def optimised_functions(link: Link, program: Elf) -> frozenset[int]:
    """Where the functions begin, in the linked file, that come of link-time optimisation. Raises OSError."""
    copied = {
        (function.name, function.size)
        for file in link.machine_code
        for one in _inputs(file)
        if one.elf and not link.plugin.takes(one)
        for function in one.elf.functions
    }
    return frozenset([f.address for f in program.functions if (f.name, f.size) not in copied])


def linked_unit(
    link: Link, compiler: str, version: str, command: Sequence[str], arguments: Sequence[str], folder: str
) -> Unit:
    """What is known of a linked file, without its code. `arguments`: of the command, without response files."""
    from incc.frontends.unit import Unit

    return Unit(
        assembly="",
        assembly_file=link.output,
        source=link.output,
        compiler=compiler,
        compiler_version=version,
        command=tuple(command),
        cpu=link.cpu,
        arguments=(*arguments, *link.options),
        folder=folder,
        output=link.output,
        way="object",
        notes=(f"after link-time optimisation of {_some(link.inputs)}",),
    )


def changed_inputs(dry_run: DryRun, arguments: Sequence[str], folder: str, since: int) -> list[str]:
    """Of the objects and static libraries that a command names for the linker those that are not there any more or were
    changed since that time (in nanoseconds, as `os.stat` has it), with what became of them. Whose a function of the
    linked file is can be told by its inputs as they were, and by nothing else."""
    found = []
    command = next((command for command in reversed(dry_run.commands) if _is_linker(command)), None)
    named = set(arguments)
    for word in expanded(command.words, folder)[1:] if command else ():
        # What the driver names by itself it has made for the moment, or is the system's.
        if word not in named or not word.endswith(_INPUTS):
            continue
        try:
            if os.stat(os.path.join(folder, word)).st_mtime_ns > since:
                found.append(f"{word} was changed")
        except OSError:
            found.append(f"{word} was removed")
    return found


_INPUTS = (".o", ".lo", ".obj", ".bc", ".a", ".lib")

MOST_NAMES = 3
"""Inputs of a link that a note names."""


def _some(names: Sequence[str]) -> str:
    """Names in a sentence, the first few of many."""
    more = len(names) - MOST_NAMES
    shown = names if more <= 1 else names[:MOST_NAMES]
    return ", ".join(shown) + (f" and {more} more" if more > 1 else "")


def _inputs(file: str) -> Iterator[LinkerInput]:
    from incc.frontends.objects.symbols import linker_inputs

    return linker_inputs(file)


_ARCH_OF = {"-target-cpu": "-march", "-tune-cpu": "-mtune"}


def _implied(arguments: Sequence[str], of_bitcode: Sequence[str]) -> tuple[str, ...]:
    """Options that decided about the code of bitcode, by which it was compiled being unknown: the core is that of its
    functions whatever the link says, and linkers optimise with -O2 unless they are told otherwise (lld's --lto-O, the
    gold plugin's O)."""
    words = list(of_bitcode)
    level = () if any(word.startswith("-O") for word in arguments) else ("-O2",)
    return (*level, *(f"{_ARCH_OF[name]}={core}" for name, core in zip(words[::2], words[1::2], strict=True)))


def _recorded(elf: Elf) -> tuple[str, ...]:
    """The options that gcc has put into an object."""
    import shlex

    try:
        return tuple(shlex.split(elf.options))
    except ValueError:
        return ()


# --- the linker's command --------------------------------------------------------------------------------------------


def _is_linker(command: Command) -> bool:
    # ld, ld.lld-19, x86_64-linux-gnu-ld.gold, mold
    name = os.path.basename(command.words[0])
    return name == _COLLECT or name.startswith(("ld", "mold")) or "-ld" in name


def _plugin(words: Sequence[str], arguments: Sequence[str]) -> _Plugin:
    plugin = any(_GCC_PLUGIN in word for word in words)
    gcc = plugin
    if os.path.basename(words[0]) == _COLLECT:
        # It starts lto-wrapper itself, where the linker has no plugin, for what is not in libraries.
        of_lto = [word for word in words if word in ("-flto", "-fno-lto") or word.startswith("-flto=")]
        gcc = plugin or (bool(of_lto) and of_lto[-1] != "-fno-lto")
        if any(word.startswith("-fuse-ld=lld") for word in arguments):
            gcc = plugin = False  # LLVM's linker loads no plugins
    return _Plugin(gcc, plugin, "--fat-lto-objects" in words)


class _File(msgspec.Struct, frozen=True):
    """What may be an input of a linker: its path, what the linker's command calls it, and of a library that it looks
    for the name."""

    path: str
    shown: str
    library: str


def _files(words: Sequence[str], folder: str) -> tuple[str, list[_File]]:
    """The output of a linker's command, and what may be its inputs, each once. What the command itself compiles is
    gone with its temporary files."""
    output = "a.out"
    found: dict[str, _File] = {}
    places = []
    static = os.path.basename(words[0]) == _COLLECT and "-static" in words
    saved = []
    rest = iter(words[1:])
    for word in rest:
        if word == "-o":
            output = next(rest, "")
        elif word.startswith("-L"):
            places.append(os.path.join(folder, word[2:] or next(rest, "")))
        elif word in ("-Bstatic", "-static", "-dn", "-non_shared"):
            static = True
        elif word in ("-Bdynamic", "-dy", "-call_shared"):
            static = False
        elif word == "--push-state":
            saved.append(static)
        elif word == "--pop-state" and saved:
            static = saved.pop()
        elif word.startswith("-l"):
            name = word[2:] or next(rest, "")
            # Drivers give the folders first.
            for path in _library(name, places, static):
                found.setdefault(path, _File(path, path, name))
        elif not word.startswith("-"):
            path = os.path.join(folder, word)
            for part in _of_script(path, places, static) or [path]:
                if os.path.isfile(part):
                    found.setdefault(part, _File(part, word, ""))
    return output, list(found.values())


def _library(name: str, folders: Sequence[str], static: bool) -> list[str]:
    """What `-lNAME` stands for: the static library, unless there is a shared one to be taken; what a script in its
    place names."""
    path = _library_file(name, folders, static)
    return (_of_script(path, folders, static) or [path]) if path else []


def _library_file(name: str, folders: Sequence[str], static: bool) -> str:
    names = [name[1:]] if name.startswith(":") else [f"lib{name}.a"] if static else [f"lib{name}.so", f"lib{name}.a"]
    for folder in folders:
        for file in names:
            path = os.path.join(folder, file)
            if os.path.isfile(path):
                return path
    return ""


_SCRIPT = 4096
"""Bytes up to which a text may be a linker's script that stands for libraries; those of glibc have some hundred."""


def _of_script(path: str, folders: Sequence[str], static: bool) -> list[str]:
    """The files that a linker's script names as inputs (`GROUP ( /lib/libm-2.36.a AS_NEEDED ( … ) )`), none if it is no
    script."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _SCRIPT:
            return []
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return []
    if b"\0" in data or not (b"GROUP" in data or b"INPUT" in data):
        return []
    words = data.decode("utf-8", "replace").replace("(", " ( ").replace(")", " ) ").replace(",", " ").split()
    found = []
    for word in words:
        if word.startswith("-l"):
            # A script may name itself so; those that name other scripts are not known.
            found.append(_library_file(word[2:], folders, static))
        elif os.path.isfile(place := os.path.join(os.path.dirname(path), word)):
            found.append(place)
    return [file for file in found if file not in ("", path)]


def _names(arguments: Sequence[str], library: str) -> bool:
    """Whether the user's command names that library."""
    return any(
        w == f"-l{library}" or (w == library and n and arguments[n - 1] == "-l") for n, w in enumerate(arguments)
    )
