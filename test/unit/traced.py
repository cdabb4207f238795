"""Counts exactly how a program's control goes between blocks of its assembly: what probes are compared with.

Code at the beginning of each basic block calls a function that keeps all registers and flags, and notes from which
block of the same function control came.
"""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Sequence

import msgspec

from incc.frontends.asm.control_flow import control_flow
from incc.frontends.asm.loops import analysed_loops, lines_of
from incc.frontends.asm.parse import parse
from incc.frontends.asm.regions import innermost_loops
from incc.report.identity import region_ids

_RUNTIME = r"""
#include <stdio.h>
#include <stdlib.h>
extern unsigned long traced_counts[]; extern unsigned traced_from[]; extern unsigned traced_blocks;
void traced_note(unsigned long Function, unsigned long Block) {
  unsigned long Number = (unsigned long)traced_from[Function] * traced_blocks + Block;
  ++traced_counts[Number];
  traced_from[Function] = (unsigned)Block;
}
__asm__(".globl traced\ntraced:\n"
        "pushfq; push %rax; push %rcx; push %rdx; push %rsi; push %rdi; push %r8; push %r9\n"
        "push %r10; push %r11; push %rbx\n"
        "mov 104(%rsp), %rdi\nmov 96(%rsp), %rsi\nmov %rsp, %rbx\nand $-16, %rsp\ncall traced_note\nmov %rbx, %rsp\n"
        "pop %rbx; pop %r11; pop %r10; pop %r9; pop %r8; pop %rdi; pop %rsi; pop %rdx\n"
        "pop %rcx; pop %rax; popfq\nret $16\n");
__attribute__((destructor)) static void finish(void) {
  FILE *File = fopen(getenv("TRACED"), "w");
  for (unsigned long I = 0; I != (unsigned long)traced_blocks * traced_blocks; ++I)
    if (traced_counts[I]) fprintf(File, "%lu %lu %lu\n", I / traced_blocks, I % traced_blocks, traced_counts[I]);
  fclose(File);
}
"""


class Passes(msgspec.Struct):
    """The number of times that a loop was entered, and of its iterations.

    The iteration that leaves the loop counts, unless it leaves from the first of several blocks.
    """

    entries: int
    iterations: int
    is_complete: bool
    """False if the trace has not seen each exit: control went to another function, and has not come back."""


def traced(text: str, folder: pathlib.Path, linked: Sequence[str] = ()) -> dict[str, Passes]:
    """Return what the loops of a program did, by their identities.

    Args:
        text: the program's assembly by a compiler, without recursion.
        folder: where to build and run it.
        linked: further options for linking.
    """
    assembly = parse(text)
    lines = text.split("\n")
    blocks: list[tuple[int, int]] = []
    """The number of the function and the first line of each block."""
    first: list[int] = []
    graphs = [graph for graph in control_flow(assembly) if any(block.label for block in graph.blocks)]
    graphs = [graph for graph in graphs if graph.name]
    for number, graph in enumerate(graphs):
        first.append(len(blocks))
        blocks += [(number, assembly.statements[block.instructions[0]].line) for block in graph.blocks]
    for block, (function, line) in enumerate(blocks, start=1):
        call = f"leaq -128(%rsp), %rsp; pushq ${function}; pushq ${block}; call traced; leaq 128(%rsp), %rsp\n"
        lines[line - 1] = f"{call}{lines[line - 1]}"
    size = len(blocks) + 1
    lines.append(
        f".bss\n.balign 8\n.globl traced_counts, traced_from\ntraced_counts: .zero {8 * size * size}\n"
        f"traced_from: .zero {4 * len(graphs) + 4}\n.data\n.globl traced_blocks\ntraced_blocks: .long {size}\n"
    )
    (folder / "traced.s").write_text("\n".join(lines))
    (folder / "runtime.c").write_text(_RUNTIME)
    command = ["gcc", "-O1", "-mgeneral-regs-only", "-c", "runtime.c", "-o", "runtime.o"]
    subprocess.run(command, cwd=folder, check=True)
    subprocess.run(["gcc", "traced.s", "runtime.o", "-o", "traced", *linked], cwd=folder, check=True)
    subprocess.run(["./traced"], cwd=folder, env={"TRACED": str(folder / "counts")}, stdout=subprocess.DEVNULL)
    counts = [tuple(map(int, line.split())) for line in (folder / "counts").read_text().splitlines()]
    regions, _ = innermost_loops(assembly)
    names = dict(zip([(r.body_lines, r.shape) for r in regions], region_ids(regions, regions), strict=True))
    passes = {}
    for number, graph in enumerate(graphs):
        for found in analysed_loops(graph)[0]:
            body = {first[number] + 1 + block for block in found.loop.body}
            numbers = [i for b in sorted(found.loop.body) for i in graph.blocks[b].instructions]
            kernel = names.get((lines_of(assembly.statements, numbers), found.shape), "")
            header = first[number] + 1 + found.loop.header
            entries = sum(count for source, target, count in counts if target in body and source not in body)
            again = sum(count for source, target, count in counts if target == header and source in body)
            left = {
                block: sum(count for source, target, count in counts if source == block and target not in body)
                for block in body
            }
            last = sum(left.values()) - (left[header] if len(body) > 1 else 0)
            passes[kernel] = Passes(entries, again + last, sum(left.values()) == entries)
    return passes
