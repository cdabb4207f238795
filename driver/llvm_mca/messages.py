"""Messages about an assembly text in LLVM's form: file, line and column, the line itself, a caret below."""

from __future__ import annotations

from incc.driver.report.problems import LONGEST_LINE, with_caret
from incc.frontends.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from incc.driver.report import types as t
    from incc.frontends.asm.llvm_regions import Message


class Told(NamedTuple):
    """A message as it is printed, and line and column that it is sorted by; whether it is an error."""

    place: tuple[int, int]
    text: str
    error: bool = True


_MANY = 100
"""Messages behind which long lines are not shown."""


def in_markers(text: str, name: str, problems: Sequence[Message]) -> list[Told]:
    """What is wrong with the markers of regions. A note stays behind its error."""
    from incc.frontends.asm.llvm_regions import places

    told: list[Told] = []
    found = places(text, [problem.at for problem in problems])
    for problem, (line, column, source) in zip(problems, found, strict=True):
        # LLVM shows each line as often as there is a message, also if it is the only one of a large file.
        shown = "" if len(source) > LONGEST_LINE and len(told) >= _MANY else with_caret(source, column)
        shown = f"{name}:{line}:{column}: {problem.kind}: {problem.text}\n{shown}"
        if problem.kind == "note":
            told[-1] = told[-1]._replace(text=told[-1].text + shown)
        else:
            told.append(Told((line, column), shown))
    return told


def refusals(text: str, name: str, refused: Iterable[t.RefusedStatement], every: bool, triple: str = "") -> list[Told]:
    """What is wrong with statements, in LLVM's words. In the assembler's where LLVM has nothing to say at all, or, for
    `every` one that was refused, nothing of that one. What LLVM only warns of is there, too. Raises LimitError where
    none was refused and LLVM had to be stopped."""
    from incc.frontends.x86.assembler import LimitError
    from incc.frontends.x86.llvm_messages import SELF, TRIPLE, messages, with_plain_numbers

    told: list[Told] = []
    refused = list(refused)
    source, read = text.split("\n"), with_plain_numbers(text)
    try:
        of_llvm = messages(read, triple or TRIPLE)
    except LimitError:
        if not refused:
            raise
        of_llvm = []
    for said in of_llvm:
        lines_shown = said.shown
        if (
            (read != text or "gather" in text or "scatter" in text)
            and lines_shown
            and not said.name
            and said.line <= len(source)
        ):
            lines_shown = (source[said.line - 1].expandtabs(8), *lines_shown[1:])
        shown = "".join(f"{line}\n" for line in lines_shown)
        where = f"{said.name or name}:{said.named_line or said.line}:{said.column}"
        worded = f"{said.before}{where}: {said.kind}: {said.text}\n{shown}{said.after}"
        told.append(
            Told((said.line, 0 if said.name else said.column), worded.replace(SELF, name), said.kind == "error")
        )
    if any(each.error for each in told) and not every:
        return told
    lines = {each.place[0] for each in told if each.error}
    for statement in refused:
        line = statement["line"]
        if line in lines:
            continue
        whole = source[line - 1].rstrip("\r") if line <= len(source) else ""
        words = statement["text"].split(None, 1)
        column = max(whole.find(words[0]) if words else 0, 0) + 1
        shown = "" if len(whole) > LONGEST_LINE and len(told) >= _MANY else with_caret(whole, column)
        told.append(Told((line, column), f"{name}:{line}:{column}: error: {statement['message']}\n{shown}"))
    return told


def without_lines(text: str, numbers: Iterable[int]) -> str:
    """The text with the statements of these lines left out; their comments, which may be markers, stay."""
    lines = text.split("\n")
    for number in numbers:
        if 0 < number <= len(lines):
            code, sign, comment = lines[number - 1].partition("#")
            label = code.partition(":")[0] + ":" if ":" in code else ""
            lines[number - 1] = f"{label} {sign}{comment}".strip()
    return "\n".join(lines)
