"""Inlay hints: the latency that each line adds to the longest loop-carried chain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types as lsp

from incc.live.lsp.documents import ShownLoop
from incc.report import types as t


def chain_hints(loops: Iterable[ShownLoop], lines: Sequence[str], first: int, last: int) -> Iterator[lsp.InlayHint]:
    """Yield a hint at the end of each line of a chain, from line `first` to `last`.

    Chains of a cycle, such as a loop counter's, have none, nor have those of other ways to compile, which their lenses
    name. At a line of several loops the longest chain counts.
    """
    longest: dict[int, tuple[float, str, str]] = {}
    for loop in loops:
        kernel = loop.kernel
        chain = kernel.chains[0] if kernel.chains else None
        if chain is None or chain.latency <= chain.iterations or kernel.role.of or loop.analysis.also:
            continue
        by_line: dict[int, list[t.InstructionReport]] = {}
        for instruction in kernel.instructions:
            line = loop.instruction_line(instruction) if instruction.chain_cycles else None
            if line is not None:
                by_line.setdefault(line, []).append(instruction)
        for line, instructions in by_line.items():
            cycles = sum(instruction.chain_cycles or 0 for instruction in instructions)
            if cycles > longest.get(line, (0, "", ""))[0]:
                longest[line] = cycles, *_texts(loop, chain, cycles, instructions)
    for line, (_, label, tooltip) in longest.items():
        if first <= line <= last and line < len(lines):
            end = lsp.Position(line, len(lines[line].rstrip("\r\n").encode("utf-16-le")) // 2)
            yield lsp.InlayHint(end, label, tooltip=tooltip, padding_left=True)


def _texts(
    loop: ShownLoop, chain: t.ChainReport, cycles: int, instructions: Sequence[t.InstructionReport]
) -> tuple[str, str]:
    over = f" over {chain.iterations} iterations" if chain.iterations > 1 else ""
    label = f"⟲ {cycles} of {chain.latency} cycles{over}"
    if loop.old:
        label += " (old)"
    rows = [f"{instruction.chain_cycles} cycles: {instruction.text}" for instruction in instructions]
    return label, "\n".join([f"Loop-carried chain on {loop.unit.model.name}:", *rows])
