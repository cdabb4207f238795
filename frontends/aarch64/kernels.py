"""From regions of A64 assembly text to kernels of decoded instructions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from incc.frontends.aarch64.convention import CONVENTION
from incc.frontends.aarch64.decode import LENGTH, decode
from incc.frontends.aarch64.rules import is_known
from incc.frontends.asm.entry import Blocks, Follower, entry_of, restarting, with_steps
from incc.frontends.asm.pace import Pace, pace
from incc.frontends.asm.parse import INSTRUCTION, parse
from incc.frontends.kernel import Instruction, KernelCode, PrecedingBlocks, Refused, Region

ISA = "aarch64"


def decode_regions(
    text: str, regions: Sequence[Region], before: Sequence[PrecedingBlocks | None] = (), checked: Sequence[int] = ()
) -> list[KernelCode]:
    """Decode the statements of all regions of one file.

    `before` is the result of `incc.frontends.asm.preceding.code_before` for the regions.

    Statements that are no instructions are in the kernels' `refused`, in the first one's also those on the lines
    `checked`. A region with instructions that the table of rules lacks has a note that says what is assumed of them.
    """
    if not regions:
        return []
    assembly = parse(text, ISA)
    statements: dict[int, list[str]] = {}
    for each in assembly.statements:
        if each.kind == INSTRUCTION:
            statements.setdefault(each.line, []).append(each.text)

    def statement(line: int) -> Sequence[Instruction] | None:
        of_line, refused = _decoded((line,), statements, assembly.macros)
        return None if refused else of_line

    blocks = Blocks(statement, CONVENTION)
    kernels = [
        _kernel(
            region, *_decoded(region.lines, statements, assembly.macros), before[number] if before else None, blocks
        )
        for number, region in enumerate(regions)
    ]
    others = set(checked).difference(regions[0].lines)
    if others:
        _, refused = _decoded(sorted(others), statements, assembly.macros)
        kernels[0] = replace(kernels[0], refused=(*kernels[0].refused, *refused))
    return kernels


def decode_bytes(code: bytes, name: str, is_loop: bool | None) -> KernelCode:
    """Decode a whole block of machine code. Raises ValueError as `Isa.decode_bytes` does."""
    from incc.frontends.aarch64.disassemble import instruction, text_of, words

    if not code:
        raise ValueError("no machine code")
    if len(code) % LENGTH:
        raise ValueError(f"{len(code)} bytes, but each AArch64 instruction has {LENGTH}")
    instructions = []
    for n, word in enumerate(words(code)):
        if not text_of(word):
            start = LENGTH * n
            raise ValueError(f"offset {start:#x}: not an AArch64 instruction: {code[start : start + LENGTH].hex(' ')}")
        instructions.append(instruction(word, LENGTH * n))
    if is_loop is None:
        last = instructions[-1]
        is_loop = last.branch in ("conditional", "unconditional") and last.target == "0x0"
    return KernelCode(name=name, isa=ISA, region=None, instructions=tuple(instructions), is_loop=is_loop, alignment=0)


def _kernel(
    region: Region,
    instructions: Sequence[Instruction],
    refused: Sequence[Refused],
    before: PrecedingBlocks | None,
    blocks: Blocks,
) -> KernelCode:
    unknown = {i.mnemonic: i.line for i in reversed(instructions) if not is_known(i.mnemonic)}
    if unknown:
        which = ", ".join(f"`{mnemonic}` (line {line})" for mnemonic, line in reversed(unknown.items()))
        note = f"assumes that an unknown instruction writes its first operand and reads the others: {which}"
        region = replace(region, notes=(*region.notes, note))
    follower = None if before is None else Follower(before, blocks)
    instructions = with_steps(instructions, follower) if follower else instructions
    paced = pace(instructions, follower) if follower and instructions else Pace(0)
    entry = entry_of(instructions, follower)
    return KernelCode(
        name=region.name,
        isa=ISA,
        region=region,
        instructions=tuple(instructions),
        is_loop=region.is_loop,
        alignment=0,
        refused=tuple(refused),
        entry=entry.values,
        alone=entry.alone,
        products=entry.products,
        origins=entry.origins,
        held=entry.held,
        restarts=restarting(instructions, region.around, follower) if follower else frozenset(),
        pace=paced.number,
        scalable_pace=paced.scalable,
    )


def _decoded(
    lines: Iterable[int], statements: Mapping[int, Sequence[str]], macros: frozenset[str]
) -> tuple[list[Instruction], list[Refused]]:
    """Return the instructions of lines, one after the other in memory, and the statements that are none."""
    instructions: list[Instruction] = []
    refused: list[Refused] = []
    previous = 0
    for line in lines:
        # A line with several statements is decoded as a whole, even where it is listed once for each of them.
        for text in statements.get(line, ()) if line != previous else ():
            if text.split()[0] in macros:
                refused.append(Refused(line, text, "macros are not expanded"))
                continue
            try:
                instruction = decode(text, line, LENGTH * len(instructions))
            except ValueError as error:
                refused.append(Refused(line, text, str(error)))
                continue
            if _uses_matrix(instruction):
                refused.append(Refused(line, text, f"{text!r} belongs to SME, which no model covers"))
            else:
                instructions.append(instruction)
        previous = line
    return instructions, refused


def _uses_matrix(instruction: Instruction) -> bool:
    """Return True for an instruction of the Scalable Matrix Extension."""
    matrices = any(access.register.root in ("za", "zt0") for access in instruction.registers)
    return matrices or instruction.mnemonic in ("smstart", "smstop")
