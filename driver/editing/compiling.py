"""Compilation of a file's text as an editor has it, in place of the file on disk. Nothing is written elsewhere."""

from __future__ import annotations

import os
import tempfile
from codecs import BOM_UTF8

from msgspec.structs import replace

from incc.driver.sources import units_of
from incc.frontends.gcc_wrapper.compile_commands import CompilerCommand
from incc.frontends.gcc_wrapper.response_files import expanded
from incc.frontends.unit import Unit
from incc.live.requests import PREPROCESSED
from incc.support.sources import saved_bytes, use_unsaved


def edited_units(
    command: CompilerCommand, path: str, text: str, problems: list[str], variables: bool = False
) -> list[Unit]:
    """Return the units of a command with a text in place of the source at `path`. Failures go to `problems`.

    The text is compiled from a temporary folder. A line marker gives it the name of the file, for line information,
    messages and `__FILE__`, and headers are searched for in the folder of the file. Assembly has no marker, since its
    units have the lines of the copy. This process then reads the text where it would read the file.
    """
    saved = saved_bytes(path)
    data = encoded(text, saved)
    command = replace(command, words=(*command.words[:1], *expanded(command.words[1:], command.folder)))
    if data == saved:
        return [
            unit
            for unit in units_of(command, problems, True, variables)
            if _is(unit.source or unit.assembly_file, command, path)
        ]
    name = next((word for word in command.words[1:] if _names(word, command, path)), "")
    if not name:
        problems.append(f"{path}: its command does not name it")
        return []
    use_unsaved(path, data)
    with tempfile.TemporaryDirectory(prefix=f"incc-{os.getpid()}-edited-") as folder:
        copy = os.path.join(folder, os.path.basename(path))
        with open(copy, "wb") as file:
            if not path.endswith(PREPROCESSED):
                file.write(os.fsencode(f'# 1 "{_quoted(name)}"\n'))
            file.write(data.removeprefix(BOM_UTF8))
        words = tuple(copy if word == name else word for word in command.words)
        search = "-I" if _is_fortran(path) else "-iquote"
        edited = replace(command, file=name, words=(words[0], search, os.path.dirname(path), *words[1:]))
        units = units_of(edited, problems, True, variables)
        problems[:] = [problem.replace(copy, name).replace(f"{name}: {name}:", f"{name}:") for problem in problems]
        return [
            replace(
                unit,
                source=name if unit.source else "",
                assembly_file=unit.assembly_file if unit.source else name,
                command=command.words,
                arguments=tuple(name if word == copy else word for word in unit.arguments),
            )
            for unit in units
            if copy in (unit.source, unit.assembly_file)
        ]


def encoded(text: str, before: bytes) -> bytes:
    """Return a text in the encoding and with the line ends of the file on disk."""
    if b"\r\n" in before and "\r\n" not in text:
        text = text.replace("\n", "\r\n")
    text = text.removeprefix("\ufeff")
    try:
        before.decode()
    except UnicodeDecodeError:
        return text.encode("latin-1", "replace")
    mark = BOM_UTF8 if before.startswith(BOM_UTF8) else b""
    return mark + text.encode("utf-8", "surrogatepass")


def _quoted(name: str) -> str:
    """Return a name as line markers have it."""
    return name.replace("\\", "\\\\").replace('"', '\\"')


def _names(word: str, command: CompilerCommand, path: str) -> bool:
    return not word.startswith("-") and _is(word, command, path)


def _is(name: str, command: CompilerCommand, path: str) -> bool:
    return bool(name) and os.path.realpath(os.path.join(command.folder, name)) == os.path.realpath(path)


def _is_fortran(path: str) -> bool:
    return os.path.splitext(path)[1].lower().startswith((".f", ".for"))
