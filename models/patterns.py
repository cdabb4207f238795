"""Patterns of forms, as parameters of models have them: shell patterns with blanks between them.

A command that looks at one loop asks some hundred of them about a few forms. Compiling each to a regular expression
would take longer than the rest of that analysis: what stands before a pattern's first special character, and behind
its last, tells most forms apart from it, and all there is to `VPADD*`.
"""

from __future__ import annotations

_SPECIAL = "*?["


def matches(form: str, patterns: str) -> bool:
    """Whether a form matches one of the patterns, as fnmatch.fnmatchcase has it."""
    return any(_matches(form, pattern) for pattern in patterns.split())


def _matches(form: str, pattern: str) -> bool:
    head, tail = _ends(pattern)
    if len(head) == len(pattern):
        return form == pattern
    if not form.startswith(head) or not form.endswith(tail):
        return False
    if len(head) + 1 + len(tail) == len(pattern) and pattern[len(head)] == "*":
        return len(form) >= len(head) + len(tail)
    from fnmatch import fnmatchcase

    return fnmatchcase(form, pattern)


def _ends(pattern: str) -> tuple[str, str]:
    found = _ENDS.get(pattern)
    if found is None:
        places = [at for at in map(pattern.find, _SPECIAL) if at >= 0]
        if not places:
            found = pattern, ""
        else:
            # The bracket that ends a set belongs to what is special.
            last = max(pattern.rfind(character) for character in _SPECIAL + "]")
            found = pattern[: min(places)], pattern[last + 1 :]
        _ENDS[pattern] = found
    return found


_ENDS: dict[str, tuple[str, str]] = {}
