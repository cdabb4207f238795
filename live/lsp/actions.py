"""Code actions: flags to try, and changes of the source, that hints suggest."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from lsprotocol import types as lsp

from incc.live.lsp.diagnostics import tried
from incc.live.lsp.documents import ShownLoop
from incc.report import types as t

TRY, ALSO, EXPLAIN = "incc.try", "incc.alsoShow", "incc.explain"


def actions(loops: Iterable[ShownLoop], first: int, last: int) -> list[lsp.CodeAction]:
    """Return the actions for the loops from line `first` to `last`."""
    found: dict[str, lsp.CodeAction] = {}
    for loop in loops:
        if first <= loop.line <= last and not loop.analysis.also and not loop.kernel.role.of:
            for hint in loop.kernel.hints:
                for title, command, arguments in _of_hint(loop, hint):
                    action = lsp.CodeAction(title, lsp.CodeActionKind.QuickFix)
                    action.command = lsp.Command(title, command, arguments=arguments)
                    found.setdefault(title, action)
    return list(found.values())


def _of_hint(loop: ShownLoop, hint: t.Hint) -> Iterator[tuple[str, str, list[object]]]:
    if hint.flags:
        flags = shlex.join(hint.flags)
        if outcome := tried(loop, hint):
            yield f"also show {flags}{outcome.replace(f'tried {flags}: ', '')}", ALSO, [flags]
        else:
            yield f"try {flags}", TRY, [loop.uri, *hint.flags]
    if hint.source_change:
        yield f"in the source: {hint.source_change}", EXPLAIN, [hint.text]
