"""Which plugins fit a compiler."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

# As LLVM and distributions release it: "clang version 19.1.7", "Debian clang version 19.1.7 (3)". What vendors make of
# it under their own names ("Apple clang version 15", "AMD clang version 17") is another compiler with other numbers.
_CLANG = r"(?:(?:Debian|Ubuntu|Fedora|openSUSE|Alpine|Gentoo|Homebrew) )?clang version (\d+)\."


def clang_major(line: str) -> int:
    """Return the major version of LLVM from a clang's line of version, 0 for other compilers."""
    match = re.match(_CLANG, line)
    return int(match[1]) if match else 0


def plugin_for(major: int, environment: Mapping[str, str]) -> str:
    """Return the path of the pass plugin for a clang of a major version, "" if there is none.

    INCC_PLUGIN names another one, or (`0`) none. Plugins are in this file's folder.
    """
    return _plugin("incc_markers", major, environment.get("INCC_PLUGIN", ""))


def source_plugin_for(major: int, environment: Mapping[str, str]) -> str:
    """Return the path of the plugin that reads marks in sources, "" if there is none.

    INCC_SOURCE_PLUGIN names another one, or (`0`) none; with INCC_PLUGIN=0 there is none either.
    """
    chosen = environment.get("INCC_SOURCE_PLUGIN", "") or ("0" if environment.get("INCC_PLUGIN") == "0" else "")
    return _plugin("incc_source", major, chosen)


def _plugin(name: str, major: int, chosen: str) -> str:
    if not major or chosen == "0":
        return ""
    if chosen:
        return os.path.abspath(chosen)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}-{major}.so")
    return path if os.path.isfile(path) else ""
