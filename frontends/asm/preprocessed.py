"""The lines of assembly that the compiler has preprocessed."""

from __future__ import annotations

import re

from incc.frontends.asm.parse import split_line
from incc.frontends.isa import Syntax, detect, isa
from incc.support.sources import source_bytes

_MARKER = re.compile(r'#(?:line)? (\d+) "((?:[^"\\]|\\.)*)"((?: \d)*)\s*$')
"""A line marker (https://gcc.gnu.org/onlinedocs/cpp/Preprocessor-Output.html): line, file, flags."""
_BEGINS, _RETURNS = "1", "2"
"""The flags of the marker at the start of an included file, and of the one at its end."""
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(?:line[ \t]+)?(\d+)\b")
_PREDEFINED = ("<built-in>", "<command-line>", "<command line>")


def as_in_source(text: str, path: str) -> str:
    """Return preprocessed assembly with each statement on its line of the source.

    The statements of an included file are on the line that includes it, without their comments.

    Args:
        text: The output of the preprocessor.
        path: The source, whose `#line` directives change the numbers in the output, but not the lines of the result.
    """
    source = source_bytes(path).decode("utf-8", "surrogateescape")
    lines = _Lines(isa(detect(text)).syntax)
    directives = [(n, int(m[1])) for n, line in enumerate(source.split("\n"), 1) if (m := _DIRECTIVE.match(line))]
    depth, name = 0, ""
    is_source = True
    at = number = 1  # of the next line: in the source, and as markers count
    included: list[str] = []
    for line in text.split("\n"):
        marker = _MARKER.match(line) if line[:1] == "#" else None
        if marker is None and is_source:
            lines.add(at, line)
            at, number = at + 1, number + 1
        elif marker is None:
            included.append(line)
        else:
            flags = marker[3].split()
            depth += (_BEGINS in flags) - (_RETURNS in flags)
            is_source = depth == 0 and not marker[2].startswith(_PREDEFINED) and not marker[2].endswith("//")
            if not is_source:
                continue
            to = max(int(marker[1]), 1)
            after = at + to - number if marker[2] == name else at
            directive = next((n for n, of in directives if at <= n and of == to), 0) if not flags else 0
            at = directive + 1 if directive and not at < after <= directive else max(at, after)
            number, name = to, marker[2]
            lines.join(at - 1, included)
            included = []
    lines.join(at, included)
    return "\n".join(lines.lines)


class _Lines:
    """The lines of a text that is written from its start to its end."""

    def __init__(self, syntax: Syntax) -> None:
        self.lines: list[str] = []
        self._syntax = syntax

    def add(self, number: int, line: str) -> None:
        """Add a line with this number, or to the last line if that one has a higher number."""
        self.lines += [""] * (number - len(self.lines))
        before = self._statements(self.lines[-1])
        self.lines[-1] = "; ".join([*before, line]) if before else line

    def join(self, number: int, lines: list[str]) -> None:
        """Add the statements of several lines to the line with this number."""
        statements = [statement.strip() for line in lines for statement in self._statements(line)]
        if statements:
            self.add(max(number, 1), "; ".join(statements))

    def _statements(self, line: str) -> list[str]:
        stripped = line.strip()
        if stripped[:1] in self._syntax.line_comments and not stripped.startswith("/*"):
            return []
        return split_line(stripped, False, self._syntax.comments)[0]
