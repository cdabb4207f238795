"""The file that a compiler's command makes of a source."""

from __future__ import annotations

import os
from collections.abc import Sequence

from incc.frontends.isa import word_set


def output_of(arguments: Sequence[str], source: str) -> str:
    """Return the file that a command makes of a source, as the command names it.

    It is an object, assembly, or the program that the source is linked into; "" if the command writes no code.
    The `arguments` are those of the command, with response files expanded.
    """
    named = ""
    kind = "link"
    rest = iter(arguments)
    for word in rest:
        if word in ("-o", "--output"):
            named = next(rest, "")
        elif word.startswith("--output="):
            named = word[len("--output=") :]
        elif word.startswith("-o") and len(word) > 2 and not word.startswith("-object"):
            named = word[2:]
        elif word in ("-c", "--compile"):
            kind = "c" if kind == "link" else kind
        elif word in ("-S", "--assemble"):
            kind = "S" if kind in ("link", "c") else kind
        elif word in ("-E", "-M", "-MM", "-fsyntax-only"):
            kind = "none"
        elif word in _TAKES_NEXT:
            next(rest, "")
    if kind == "none":
        return ""
    if named:
        return named
    stem = os.path.splitext(os.path.basename(source.strip("<>")))[0]
    if source in ("-", "<stdin>", "/dev/stdin"):
        stem = "-"
    return {"c": f"{stem}.o", "S": f"{stem}.s", "link": "a.out"}[kind]


# Options whose next word is no option, whatever it looks like (gcc/gcc.cc, clang/Driver/Options.td).
_TAKES_NEXT = word_set(
    "-I -D -U -L -A -F -x -T -u -z -MF -MT -MQ -Xlinker -Xassembler -Xpreprocessor -Xclang -include -imacros "
    "-isystem -iquote -idirafter -isysroot -iprefix -iwithprefix -imultilib --param -arch -target -wrapper -specs "
    "-aux-info -dumpbase -dumpdir -dumpbase-ext -mllvm -J"
)
