"""Links at which code is generated (link-time optimisation), and the functions generated there.

Nothing is linked a second time: the linked file has the code, and its symbols name the functions. The linker copies
functions that were machine code before with name and size. All other functions come from link-time optimisation: those
for which no object or library member with machine code has a function of the same name and size.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence

import msgspec

from incc.frontends.gcc_wrapper.assembly import is_core, sources_for_link, target_cpu
from incc.frontends.gcc_wrapper.dry_run import DryRun, SubCommand
from incc.frontends.gcc_wrapper.response_files import expanded
from incc.frontends.objects.symbols import Elf, LinkerInput, linker_inputs
from incc.frontends.unit import Unit

_COLLECT = "collect2"
_GCC_PLUGIN = "liblto_plugin"


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A link at which code is generated."""

    output: str
    """The file that it makes, as the linker's command names it."""
    inputs: tuple[str, ...]
    """The names of inputs that are optimised, in order; members of libraries by their library."""
    machine_code: tuple[str, ...]
    """The paths of objects and libraries that go into it. Some may have code for link-time optimisation alone."""
    cpu: str
    """The core that the code is for, "" if it is unknown."""
    options: tuple[str, ...]
    """The options that decided about code generation, as far as they are known."""
    plugin: _Plugin


class _Plugin(msgspec.Struct, frozen=True):
    """The kinds of inputs for which a linker generates code. Bitcode alone can be linked in no other way."""

    gcc: bool
    """gcc's objects."""
    gcc_members: bool
    """gcc's objects in libraries."""
    fat_bitcode: bool
    """Bitcode that comes with machine code."""

    def takes(self, one: LinkerInput) -> bool:
        """Return True if code is generated for an input."""
        if one.lto == "gcc":
            return self.gcc and (self.gcc_members or not one.is_member)
        return one.lto == "llvm" or (one.lto == "llvm-fat" and self.fat_bitcode)


def links(dry_run: DryRun) -> bool:
    """Return True if a linker is among the sub-commands."""
    return any(_is_linker(command) for command in dry_run.commands)


def hides_inputs(dry_run: DryRun) -> bool:
    """Return True if a linker's inputs are in a response file, which a dry run does not leave."""
    return any(
        _is_linker(c) and any(w.startswith("@") and not os.path.exists(w[1:]) for w in c.words)
        for c in dry_run.commands
    )


def find_link(dry_run: DryRun, arguments: Sequence[str], folder: str = "") -> Link | None:
    """Return the link of a command if something is optimised at it, else None. Raises OSError.

    The `arguments` are those of the command, with response files expanded.
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
        # Inputs that the compiler adds are its own libraries and the system's.
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
    # The link's arguments count for functions without a core of their own.
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
    """Return the addresses of the linked file's functions that come from link-time optimisation. Raises OSError."""
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
    """Return the unit of a linked file, without its code.

    The `arguments` are those of the command, with response files expanded.
    """
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
    """Return a line for each object and static library of a link that was changed or removed since a time.

    Only the unchanged inputs tell which functions are in the linked file. `since` is in nanoseconds, like `st_mtime_ns`
    of `os.stat`.
    """
    changes = []
    command = next((command for command in reversed(dry_run.commands) if _is_linker(command)), None)
    named = set(arguments)
    for word in expanded(command.words, folder)[1:] if command else ():
        # Files that the driver adds are temporary, or the system's.
        if word not in named or not word.endswith(_INPUTS):
            continue
        try:
            if os.stat(os.path.join(folder, word)).st_mtime_ns > since:
                changes.append(f"{word} was changed")
        except OSError:
            changes.append(f"{word} was removed")
    return changes


_INPUTS = (".o", ".lo", ".obj", ".bc", ".a", ".lib")

MOST_NAMES = 3
"""Inputs of a link that a note names."""


def _some(names: Sequence[str]) -> str:
    """Return names for a sentence, the first few of many."""
    more = len(names) - MOST_NAMES
    shown = names if more <= 1 else names[:MOST_NAMES]
    return ", ".join(shown) + (f" and {more} more" if more > 1 else "")


def _inputs(file: str) -> Iterator[LinkerInput]:
    return linker_inputs(file)


_ARCH_OF = {"-target-cpu": "-march", "-tune-cpu": "-mtune"}


def _implied(arguments: Sequence[str], of_bitcode: Sequence[str]) -> tuple[str, ...]:
    """Return the options that decided about the code of bitcode, which does not record its compiler's options.

    The core is that of its functions, whatever the link's options are, and linkers optimise with -O2 by default (lld's
    --lto-O, the gold plugin's O).
    """
    words = list(of_bitcode)
    level = () if any(word.startswith("-O") for word in arguments) else ("-O2",)
    return (*level, *(f"{_ARCH_OF[name]}={core}" for name, core in zip(words[::2], words[1::2], strict=True)))


def _recorded(elf: Elf) -> tuple[str, ...]:
    """Return the options that gcc has recorded in an object."""
    try:
        return tuple(shlex.split(elf.options))
    except ValueError:
        return ()


# --- the linker's command --------------------------------------------------------------------------------------------


def _is_linker(command: SubCommand) -> bool:
    # ld, ld.lld-19, x86_64-linux-gnu-ld.gold, mold
    name = os.path.basename(command.words[0])
    return name == _COLLECT or name.startswith(("ld", "mold")) or "-ld" in name


def _plugin(words: Sequence[str], arguments: Sequence[str]) -> _Plugin:
    plugin = any(_GCC_PLUGIN in word for word in words)
    gcc = plugin
    if os.path.basename(words[0]) == _COLLECT:
        # If the linker has no plugin, collect2 starts lto-wrapper for inputs that are not in libraries.
        of_lto = [word for word in words if word in ("-flto", "-fno-lto") or word.startswith("-flto=")]
        gcc = plugin or (bool(of_lto) and of_lto[-1] != "-fno-lto")
        if any(word.startswith("-fuse-ld=lld") for word in arguments):
            gcc = plugin = False  # LLVM's linker loads no plugins
    return _Plugin(gcc, plugin, "--fat-lto-objects" in words)


class _File(msgspec.Struct, frozen=True):
    """A file that may be an input of a linker."""

    path: str
    shown: str
    """Its name in the linker's command."""
    library: str
    """The name of a library that the linker searches for, "" for other files."""


def _files(words: Sequence[str], folder: str) -> tuple[str, list[_File]]:
    """Return the output of a linker's command, and the files that may be its inputs, each once.

    Objects that the command itself compiles are gone with its temporary files.
    """
    output = "a.out"
    inputs: dict[str, _File] = {}
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
            library = _library_file(name, places, static)
            for path in (_of_script(library, places, static) or [library]) if library else ():
                inputs.setdefault(path, _File(path, path, name))
        elif not word.startswith("-"):
            path = os.path.join(folder, word)
            for part in _of_script(path, places, static) or [path]:
                if os.path.isfile(part):
                    inputs.setdefault(part, _File(part, word, ""))
    return output, list(inputs.values())


def _library_file(name: str, folders: Sequence[str], static: bool) -> str:
    """Return the file that `-lNAME` means, a static library or a shared one if that is preferred; "" for none."""
    names = [name[1:]] if name.startswith(":") else [f"lib{name}.a"] if static else [f"lib{name}.so", f"lib{name}.a"]
    for folder in folders:
        for file in names:
            path = os.path.join(folder, file)
            if os.path.isfile(path):
                return path
    return ""


_SCRIPT = 4096
"""The largest linker script in place of a library, in bytes; those of glibc have some hundred."""


def _of_script(path: str, folders: Sequence[str], static: bool) -> list[str]:
    """Return the files that a linker's script names as inputs (`GROUP ( /lib/libm-2.36.a AS_NEEDED ( … ) )`).

    There are none if it is no script.
    """
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
    files = []
    for word in words:
        if word.startswith("-l"):
            # This may be the script itself. No script is known to name another one.
            files.append(_library_file(word[2:], folders, static))
        elif os.path.isfile(place := os.path.join(os.path.dirname(path), word)):
            files.append(place)
    return [file for file in files if file not in ("", path)]


def _names(arguments: Sequence[str], library: str) -> bool:
    """Return True if the user's command names that library."""
    return any(
        w == f"-l{library}" or (w == library and n and arguments[n - 1] == "-l") for n, w in enumerate(arguments)
    )
