"""Explanations for functions that were requested by name and have no analysed loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from incc.frontends.asm.parse import Assembly
from incc.frontends.objects.text_debug import TextDebug
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.report.source.demangle import choose_functions, demangle, replace, short_name
from incc.report.source.selection import Selection
from incc.support.errors import nearest

MOST_NAMED = 4
"""The most functions that a sentence names."""


def not_found(unit: Unit, parsed: Assembly, selection: Selection, globs: Sequence[str]) -> Iterator[t.NotFound]:
    """Yield each name that matches no analysed loop, with the reason.

    The reason is that the function does not exist, has no loop, or has no code of its own since it was inlined.
    """
    analysed = {region.function for region in selection.regions} | {span.function for span in selection.left_out}
    analysed |= {user for part, user in selection.outlined.items() if part in analysed}
    functions = [function.name for function in parsed.functions if function.name]
    for glob in globs:
        if choose_functions(analysed, [glob]):
            continue
        matches = sorted(choose_functions(functions, [glob]))
        into = [] if matches else _inlined_into(unit, parsed, glob)
        nearest: list[str] = []
        if matches:
            # A symbol must not begin the sentence, since views capitalise the first letter.
            one = len(matches) == 1
            text = f"the function{'' if one else 's'} {_listed(_short(matches))} {'has' if one else 'have'} no loop"
        elif into:
            text = f"the function {glob!r} has no code of its own, since it was inlined into {_listed(into)}"
        else:
            nearest = _nearest(glob, functions)
            text = f"no function has the name {glob!r}{'' if functions else ', since the input has no functions'}"
            text += f"; similar names: {', '.join(nearest)}" if nearest else ""
        yield t.NotFound(asked=glob, text=text, functions=matches, inlined_into=into, nearest=nearest)


def _short(symbols: Sequence[str]) -> list[str]:
    readable = demangle(symbols)
    return list(dict.fromkeys(short_name(replace(symbol, readable)) for symbol in symbols))


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _inlined_into(unit: Unit, parsed: Assembly, glob: str) -> list[str]:
    """Return the functions that the matching functions were inlined into."""
    if not parsed.debug:
        return []
    pairs = [pair for pair in TextDebug(parsed, unit.assembly).everything_inlined() if pair[0]]
    readable = demangle(name for pair in pairs for name in pair)

    def fits(symbol: str) -> bool:
        name = replace(symbol, readable)
        short = short_name(name)
        names = (symbol, name, name.split("(")[0], short, short.rpartition("::")[2])
        return any(fnmatchcase(n, glob) for n in names)

    outer_functions = {outer: None for name, outer in pairs if fits(name) and not fits(outer)}
    return list(dict.fromkeys(short_name(replace(outer, readable)) for outer in outer_functions))


def _nearest(glob: str, functions: Sequence[str]) -> list[str]:
    readable = demangle(functions)
    names: dict[str, str] = {}
    for symbol in functions:
        short = short_name(replace(symbol, readable))
        for name in (symbol, short, short.rpartition("::")[2]):
            names.setdefault(name.lower(), short)
    close = nearest("".join(c for c in glob.lower() if c not in "*?[]"), names, MOST_NAMED)
    return list(dict.fromkeys(names[name] for name in close))
