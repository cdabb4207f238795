"""Regular expressions as `re` has them, compiled when they are first used, and kept compiled for later runs.

Compiling the two dozen that a run on one kernel uses takes 5 ms, and importing `re` 3 ms. What comes of it is kept
(`keep`), with which later runs go to the engine itself. Modules that such a run imports say `from incc.frontends import
regex as re`.
"""

from __future__ import annotations

import os
import sys

from incc.frontends import sealed

TYPE_CHECKING = False
if TYPE_CHECKING:
    # What this module has is what type checkers know of `re`.
    from re import *  # noqa: F403
    from re import Match as Match
    from re import Pattern as Pattern

    def keep() -> None:
        """Keep what was compiled in this run for later ones. Nothing comes of it where it cannot be kept."""
else:
    try:
        import _sre

        _VERSION = (1, sys.version, _sre.MAGIC)
    except (ImportError, AttributeError):  # not CPython
        _sre = None

    MOST = 400
    """Expressions that are kept; those made of what users say might be without end."""

    I = IGNORECASE = 2  # noqa: E741
    M = MULTILINE = 8
    S = DOTALL = 16
    X = VERBOSE = 64
    A = ASCII = 256

    _compiled = {}
    _kept = None  # arguments of _sre.compile behind text and flags, by those, once they were read
    _new = False

    class _Lazy:
        """A compiled expression, when the first of its attributes is asked for."""

        def __init__(self, text, flags):
            self._asked = text, flags

        def __getattr__(self, name):
            if name[0] == "_":
                raise AttributeError(name)
            found = _get(*self._asked)
            for each in ("match", "search", "fullmatch", "sub", "findall", "finditer", "split"):
                setattr(self, each, getattr(found, each))
            return getattr(found, name)

    def compile(text, flags=0):
        return _Lazy(text, int(flags))

    def _get(text, flags):
        flags = int(flags)
        try:
            return _compiled[text, flags]
        except KeyError:
            pass
        if type(text) is _Lazy:
            return _get(*text._asked)
        found = _compiled[text, flags] = _made(text, flags)
        return found

    def _made(text, flags):
        global _kept, _new
        if _sre is None or type(text) is not str:
            import re

            return re.compile(text, flags)
        if _kept is None:
            found = sealed.read(_files(), _VERSION)
            _kept = {} if found is None else found[0][1]
        known = _kept.get((text, flags))
        if known is not None:
            try:
                return _sre.compile(text, *known)  # looks whether it is good
            except (RuntimeError, TypeError, ValueError, OverflowError):
                del _kept[text, flags]
        import re

        found = re.compile(text, flags)
        if len(_kept) < MOST:
            _kept[text, flags] = None
            _new = True
        return found

    def keep():
        """Keep what was compiled in this run. Nothing comes of it where it cannot be kept."""
        global _new
        if _new:
            _new = False
            for (text, flags), known in list(_kept.items()):
                if known is None:
                    _kept[text, flags] = _arguments(text, flags)
            sealed.write(_files(), (_VERSION, {asked: known for asked, known in _kept.items() if known}))

    def _arguments(text, flags):
        """What `_sre.compile` is given for an expression, None where `re` is not as in CPython 3.11 to 3.13."""
        import re
        from types import SimpleNamespace

        given = []
        try:
            compiler = re._compiler
            namespace = {**vars(compiler), "_sre": SimpleNamespace(compile=lambda *given_one: given.append(given_one))}
            code = compiler.compile.__code__
            type(compile)(code, namespace, "compile", compiler.compile.__defaults__)(text, flags)
            ((_, all_flags, program, groups, names, numbers),) = given
            return int(all_flags), [int(word) for word in program], groups, dict(names), tuple(numbers)
        except (AttributeError, TypeError, ValueError):
            return None

    def _files():
        return sealed.places(os.path.dirname(os.path.abspath(__file__)), "regex")

    def match(text, string, flags=0):
        return _get(text, flags).match(string)

    def search(text, string, flags=0):
        return _get(text, flags).search(string)

    def fullmatch(text, string, flags=0):
        return _get(text, flags).fullmatch(string)

    def sub(text, by, string, count=0, flags=0):
        return _get(text, flags).sub(by, string, count)

    def split(text, string, maxsplit=0, flags=0):
        return _get(text, flags).split(string, maxsplit)

    def findall(text, string, flags=0):
        return _get(text, flags).findall(string)

    def finditer(text, string, flags=0):
        return _get(text, flags).finditer(string)

    def __getattr__(name):
        """The rest, which few runs use."""
        import re

        return getattr(re, name)
