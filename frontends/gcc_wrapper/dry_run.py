"""Reads what `gcc -###` and `clang -###` print: the sub-commands that the driver would run."""

from __future__ import annotations

import msgspec


class Command(msgspec.Struct, frozen=True):
    """One sub-command. `piped`: its standard output is the next one's standard input (gcc -pipe)."""

    words: tuple[str, ...]
    piped: bool


class DryRun(msgspec.Struct, frozen=True, kw_only=True):
    """What the driver said: its sub-commands in order, its version ("" if none) and its target triple, and the whole
    line that has the version."""

    commands: tuple[Command, ...]
    version: str
    target: str
    version_line: str = ""


def parse(text: str) -> DryRun:
    """Read the standard error output of a driver's dry run.

    A sub-command is a line that starts with a blank. Words are bare or in double quotes, with a backslash before
    quotes, dollars and backslashes; line breaks inside quotes belong to the word. Everything else (versions, settings,
    warnings) is passed over.
    """
    commands: list[Command] = []
    version = version_line = target = ""
    position = 0
    while position < len(text):
        if text[position] == " ":
            words, position = _words(text, position)
            if words:
                piped = words[-1] == "|"
                commands.append(Command(tuple(words[:-1] if piped else words), piped))
        elif text.startswith("COLLECT_GCC_OPTIONS=", position):
            # The user's options as a shell would quote them, where a quoted line break may be followed by a blank.
            position = _after_shell_line(text, position)
        else:
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            line = text[position:end]
            if line.startswith("Target: "):
                target = line[len("Target: ") :].strip()
            elif not version and " version " in line and not line.startswith("Configured"):
                version = line.split(" version ", 1)[1].strip()
                version_line = line
            position = end + 1
    return DryRun(commands=tuple(commands), version=version, target=target, version_line=version_line)


def _words(text: str, position: int) -> tuple[list[str], int]:
    """The words from `position` to the end of the line, and the position of the next line."""
    words: list[str] = []
    word: list[str] | None = None
    quoted = False
    while position < len(text):
        c = text[position]
        position += 1
        if quoted and c == '"':
            quoted = False
        elif quoted and c == "\\" and position < len(text):
            assert word is not None
            word.append(text[position])
            position += 1
        elif quoted:
            assert word is not None
            word.append(c)
        elif c in " \n":
            if word is not None:
                words.append("".join(word))
            word = None
            if c == "\n":
                return words, position
        else:
            word = [] if word is None else word
            if c == '"':
                quoted = True
            else:
                word.append(c)
    if word is not None:
        words.append("".join(word))
    return words, position


def _after_shell_line(text: str, position: int) -> int:
    quoted = False
    while position < len(text):
        c = text[position]
        position += 1
        if c == "'":
            quoted = not quoted
        elif c == "\\" and not quoted:
            position += 1
        elif c == "\n" and not quoted:
            break
    return position
