"""Response files: `@file` among a command's arguments stands for the arguments in that file."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_DEEPEST = 16
"""A file may name others, and itself; gcc gives up after 2000 of them."""


def expanded(arguments: Sequence[str], folder: str = "") -> list[str]:
    """The arguments with those of response files in their places, as gcc and clang read them: an argument whose file
    cannot be read stays as it is. Of what is no regular file nothing is read, since a pipe can be read only once.

    `folder`: where relative names begin.
    """
    return list(_expanded(arguments, folder, 0)) if any(a.startswith("@") for a in arguments) else list(arguments)


def _expanded(arguments: Sequence[str], folder: str, depth: int) -> Iterator[str]:
    for argument in arguments:
        text = _text(os.path.join(folder, argument[1:])) if argument.startswith("@") and depth < _DEEPEST else None
        if text is None:
            yield argument
        else:
            yield from _expanded(_words(text), folder, depth + 1)


def _text(path: str) -> str | None:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "surrogateescape")
    except (OSError, ValueError):
        return None


def _words(text: str) -> list[str]:
    """Words with blanks between them; quotes and backslashes keep what they hold (libiberty's buildargv)."""
    words: list[str] = []
    word: list[str] | None = None
    quote = ""
    characters = iter(text)
    for c in characters:
        if c == "\\":
            word = word if word is not None else []
            word.append(next(characters, ""))
        elif quote:
            if c == quote:
                quote = ""
            elif word is not None:
                word.append(c)
        elif c in " \t\n\r\v\f":
            if word is not None:
                words.append("".join(word))
            word = None
        else:
            word = word if word is not None else []
            if c in "'\"":
                quote = c
            else:
                word.append(c)
    if word is not None:
        words.append("".join(word))
    return words
