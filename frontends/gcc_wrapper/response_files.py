"""Response files: the argument `@file` of a command is replaced by the arguments in that file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence

_DEEPEST, _MOST = 16, 2000
"""Levels and number of files. A file may name itself, even several times; gcc gives up after 2000 files."""


def expanded(arguments: Sequence[str], folder: str = "") -> list[str]:
    """Return the arguments with response files expanded as gcc and clang do it.

    An argument whose file cannot be read stays as it is. Only regular files are read, since a pipe can be read only
    once. Relative names begin in `folder`.
    """
    return list(_expanded(arguments, folder, 0, iter(range(_MOST))))


def _expanded(arguments: Sequence[str], folder: str, depth: int, files: Iterator[int]) -> Iterator[str]:
    """Expand arguments; `files` has an element for each file that may still be read."""
    for argument in arguments:
        text = None
        if argument.startswith("@") and depth < _DEEPEST and next(files, None) is not None:
            text = _text(os.path.join(folder, argument[1:]))
        if text is None:
            yield argument
        else:
            yield from _expanded(_words(text), folder, depth + 1, files)


def expanded_by_llvm(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with response files expanded as LLVM's tools do it.

    Words of nothing but quotes are dropped, and a backslash at the very end is kept. Raises ValueError with LLVM's
    message for a file that names itself, and for a folder.
    """
    return list(_by_llvm(arguments, ()))


def _by_llvm(arguments: Sequence[str], inside: tuple[str, ...]) -> Iterator[str]:
    for argument in arguments:
        path = os.path.abspath(argument[1:])
        if len(argument) < 2 or argument[0] != "@" or not os.path.exists(path):
            yield argument
            continue
        if any(os.path.samefile(path, other) for other in inside):
            raise ValueError(f"recursive expansion of: '{path}'")
        if os.path.isdir(path):
            raise ValueError(f"cannot not open file '{path}': Is a directory")
        text = _text(path)
        if text is None:
            raise ValueError(f"cannot not open file '{path}': Permission denied")
        trailing = (len(text) - len(text.rstrip("\\"))) % 2
        words = [word for word in _words(text + "\\" * trailing) if word]
        yield from _by_llvm(words, (*inside, path))


def _text(path: str) -> str | None:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "surrogateescape")
    except (OSError, ValueError):
        return None


def _words(text: str) -> list[str]:
    """Split a text at blanks that are neither quoted nor escaped by a backslash (libiberty's buildargv).

    A NUL ends a word, whatever follows: programs read words as C strings.
    """
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
    return [word.partition("\0")[0] for word in words] if "\0" in text else words
