"""The distinction of the user's source files from those of the system and the compiler."""

from __future__ import annotations

import os
import re

from incc.frontends.unit import IncludeFolders

# Folders that compilers search by default, wherever they are installed: libstdc++'s, libc++'s, and the compilers' own.
_SYSTEM = ("/usr/include", "/usr/local/include", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32")
_COMPILERS = r".*(?:/include/c\+\+/|/lib(?:32|64|exec)?/(?:gcc|gcc-cross|clang)/[^/]+/|/include/g\+\+)"
# The files that compilers name for their own definitions. (`<stdin>` is the user's.)
_NOT_FILES = frozenset(("<built-in>", "<builtin>", "<command-line>", "<command line>", "<artificial>", "<internal>"))


class Headers:
    """The folders of system and user headers that a command names."""

    def __init__(self, folders: IncludeFolders) -> None:
        self._system = tuple([os.path.normpath(folder) for folder in folders.system] + list(_SYSTEM))
        self._user = tuple([os.path.normpath(folder) for folder in folders.user])
        self._is_system: dict[str, bool] = {}

    def is_system(self, file: str) -> bool:
        """Return True if a file is not the user's. If folders are nested, the inner one decides."""
        if file not in self._is_system:
            path = os.path.normpath(file) if file else ""
            system, user = _deepest(path, self._system), _deepest(path, self._user)
            compiler = re.match(_COMPILERS, path)
            if compiler:
                system = max(system, compiler.end())
            self._is_system[file] = not path or path in _NOT_FILES or (system > 0 and system >= user)
        return self._is_system[file]


def _deepest(path: str, folders: tuple[str, ...]) -> int:
    """Return the length of the longest of the folders with a file, 0 if it is in none."""
    return max((len(folder) for folder in folders if path.startswith(folder.rstrip("/") + "/")), default=0)
