"""A reader of the output of `gcc -###` and `clang -###`: the sub-commands that the driver would run."""

from __future__ import annotations

import msgspec


class SubCommand(msgspec.Struct, frozen=True):
    """A sub-command."""

    words: tuple[str, ...]
    piped: bool
    """Its standard output is the next one's standard input (gcc -pipe)."""


class DryRun(msgspec.Struct, frozen=True, kw_only=True):
    """The output of a driver's dry run."""

    commands: tuple[SubCommand, ...]
    """In the order in which they would run."""
    version: str
    """Empty if it prints none."""
    target: str
    """The target triple."""
    version_line: str = ""
    """The whole line with the version."""


def parse(text: str) -> DryRun:
    """Read the standard error output of a driver's dry run.

    A sub-command is a line that starts with a blank. Words are bare or in double quotes, with a backslash before
    quotes, dollars and backslashes; line breaks inside quotes belong to the word. Everything else (settings, warnings)
    is ignored.
    """
    commands: list[SubCommand] = []
    version = version_line = target = ""
    position = 0
    while position < len(text):
        if text[position] == " ":
            words, position = _words(text, position)
            if words:
                piped = words[-1] == "|"
                commands.append(SubCommand(tuple(words[:-1] if piped else words), piped))
        elif text.startswith("COLLECT_GCC_OPTIONS=", position):
            # The user's options, quoted for a shell. They may have line breaks with a blank behind.
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
    """Return the words from `position` to the end of the line, and the position of the next line."""
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
