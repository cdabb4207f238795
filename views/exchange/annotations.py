"""A comparison as commands to GitHub's workflows, which show them next to the source.

Kernels that fail the condition of --fail-if are errors. Without a condition, those that became slower are warnings.
"""

from __future__ import annotations

from incc.comparison import types as c
from incc.views.comparison import cells, changes
from incc.views.layout import harmless, short_files


def render(comparison: c.ComparisonReport) -> str:
    """Return a line for each command."""
    lines = []
    gate = comparison.gate
    if gate is not None:
        for offender in gate.offenders:
            row = comparison.rows[offender.row]
            change = row.changes[offender.side]
            lines.append(_command("error", comparison, row, offender.side, offender.text, change))
    else:
        for numbered in cells.matched(comparison, cells.ComparisonParts()):
            for side, _, change in cells.pairs(numbered.row):
                if change.outcome == "slower":
                    text = f"{numbered.row.name}: {change.text}"
                    lines.append(_command("warning", comparison, numbered.row, side, text, change))
    return "".join(f"{harmless(line, False)}\n" for line in lines)


def _command(
    kind: str, comparison: c.ComparisonReport, row: c.ComparisonRow, side: int, text: str, change: c.KernelChange | None
) -> str:
    member = row.members[side] or cells.base(row)
    source = member.source or row.source
    properties = []
    if source:
        # Files are known by their names from the repository's root, where workflows run.
        (name,) = short_files([source.file]).values()
        properties.append(f"file={_property(source.file if name.startswith('…') else name)}")
        if source.line:
            properties.append(f"line={source.line}")
    title = f"incc: {cells.name(row)} {changes.outcome(change) if change else ''}".rstrip()
    if len(comparison.sides) > 2:
        title += f" ({comparison.sides[side].label})"
    properties.append(f"title={_property(title)}")
    causes = [cause.text for cause in change.causes if cause.text not in text] if change else []
    return f"::{kind} {','.join(properties)}::{_data(chr(10).join([text, *causes]))}"


def _data(text: str) -> str:
    """Return a message, escaped for GitHub's runner."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Return the value of a property, escaped for GitHub's runner."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
