"""Whose a source file is: the user's, or the system's and the compiler's."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from incc.frontends.unit import IncludeFolders

# Folders that compilers search without being told to, wherever they are installed: libstdc++'s, libc++'s, and gcc's and
# clang's own.
_SYSTEM = ("/usr/include", "/usr/local/include", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32")
_COMPILERS = r".*(?:/include/c\+\+/|/lib(?:32|64|exec)?/(?:gcc|gcc-cross|clang)/[^/]+/|/include/g\+\+)"
# What compilers call the places of what they define themselves. (`<stdin>` is the user's.)
_NOT_FILES = frozenset(("<built-in>", "<builtin>", "<command-line>", "<command line>", "<artificial>", "<internal>"))


class Headers:
    """Tells files of the system from the user's, by the folders that a command names."""

    def __init__(self, folders: IncludeFolders) -> None:
        self._system = tuple([os.path.normpath(folder) for folder in folders.system] + list(_SYSTEM))
        self._user = tuple([os.path.normpath(folder) for folder in folders.user])
        self._known: dict[str, bool] = {}

    def is_system(self, file: str) -> bool:
        """Whether a file is not the user's. Of folders within each other the inner one decides."""
        if file not in self._known:
            path = os.path.normpath(file) if file else ""
            system, user = _deepest(path, self._system), _deepest(path, self._user)
            compiler = re.match(_COMPILERS, path)
            if compiler:
                system = max(system, compiler.end())
            self._known[file] = not path or path in _NOT_FILES or (system > 0 and system >= user)
        return self._known[file]


def _deepest(path: str, folders: tuple[str, ...]) -> int:
    """The length of the longest of the folders that a file is in, 0 if it is in none."""
    return max((len(folder) for folder in folders if path.startswith(folder.rstrip("/") + "/")), default=0)
