"""The probes in x86-64 code, in AT&T syntax, and the descriptions of loops for the runtime.

A probe computes the address of the thread's copy of its loop: that of the loop itself, and the distance to the copies
that the thread-local variable `incc_probe2_distance` holds. An entry counts up the copy's first word, and calls the
runtime when it is no longer negative. An exit calls the runtime if the second word says that the entry was a sample: it
is the stack pointer of that entry, so that exits of inner calls of the same function do not.
The layout of a loop is that of `struct Loop` in runtime/probe.c.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from incc.frontends.isa import words
from incc.running.induction import Place, RegisterOrSlot
from incc.running.liveness import Registers

NUMBERS = {
    name: number for number, name in enumerate(words("rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15"))
}
"""The numbers of the general-purpose registers."""

# System V ABI for x86-64, 3.2.1. Results may be in rax and rdx.
REGISTERS = Registers(
    all=frozenset(NUMBERS) - {"rsp"},
    lost_at_return=frozenset(words("rcx rsi rdi r8 r9 r10 r11")),
    lost_at_call=frozenset(words("rax rdx rcx rsi rdi r8 r9 r10 r11")),
    handing_over=frozenset(
        words(
            "syscall sysenter sysexit sysret sysexitq sysretq int int1 int3 into iret iretd iretq hlt ud0 ud1 ud2"
            " rsm getsec vmcall vmmcall vmlaunch vmresume vmrun vmgexit vmfunc encls enclu enclv tdcall seamcall"
            " seamret seamops"
        )
    ),
)
VALUES = 8
"""The most registers whose values a sample keeps."""
SIDES = 4
"""The most of these that count sides of branches."""

_PUSHED_SCRATCH, _PUSHED_RCX, _PUSHED_FLAGS, _PLACE = 1, 2, 4, 8
RED_ZONE = 128
"""Bytes below the stack pointer that signal handlers leave alone, and functions that call no others may use."""
_LINE = 64
"""Bytes of a line of the caches."""
_NO_REGISTER = 255


class ProbePlace(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about the place of a probe."""

    scratch: str
    """The register that the probe uses."""
    scratch_is_live: bool
    """Its value is needed later."""
    rcx_is_live: bool
    flags_are_live: bool
    describes_stack: bool
    """The directives there describe where the frame begins by the stack pointer."""


def enter(loop: str, place: ProbePlace, end: str, value: int) -> list[str]:
    """Return the probe at an entry of a loop.

    Args:
        loop: the loop's symbol.
        place: the facts about the place.
        end: a new label.
        value: the number of the place that has the value which tells the iterations.
    """
    if place.flags_are_live:
        # Without flags, only zero can be told apart: at the sample after it, the runtime has set a new count.
        step = ["movq (%{r}), %rcx", "leaq 1(%rcx), %rcx", "movq %rcx, (%{r})", "jrcxz {sample}", "jmp {end}"]
    else:
        step = ["incq (%{r})", "js {end}"]
    return _probe("incc_probe2_enter", loop, place, step, end, value * _PLACE)


def leave(loop: str, place: ProbePlace, end: str, value: int) -> list[str]:
    """Return the probe at an exit of a loop, with the arguments of `enter`."""
    if place.flags_are_live:
        step = ["movq 8(%{r}), %rcx", "notq %rcx", "leaq {depth}+1(%rsp,%rcx), %rcx", "jrcxz {sample}", "jmp {end}"]
    else:
        # The sixth word is for probes that have pushed their scratch register.
        step = [f"cmpq %rsp, {40 if place.scratch_is_live else 8}(%{{r}})", "jne {end}"]
    return _probe("incc_probe2_leave", loop, place, step, end, value * _PLACE)


def count(loop: str, place: ProbePlace) -> list[str]:
    """Return the code that counts an iteration in memory."""
    step = ["movq 16(%{r}), %rcx", "leaq 1(%rcx), %rcx", "movq %rcx, 16(%{r})"] if place.flags_are_live else []
    return _probe("", loop, place, step or ["incq 16(%{r})"], "", 0)


def count_in(cell: RegisterOrSlot) -> list[str]:
    """Return the code that counts an iteration in a register, or on the stack."""
    if cell.is_variable:
        return [f"incq {cell.displacement}(%{cell.root})"]
    return [f"leaq 1(%{cell.root}), %{cell.root}"]


def _probe(function: str, loop: str, place: ProbePlace, step: Sequence[str], end: str, bits: int) -> list[str]:
    """Return a probe that calls a function of the runtime unless `step` jumps to the end."""
    uses_rcx = place.flags_are_live
    pushes_rcx = uses_rcx and place.rcx_is_live
    pushed = ["rcx"] * pushes_rcx + [place.scratch] * place.scratch_is_live
    stack = _Stack(place.describes_stack)
    if pushed:
        stack.move(-RED_ZONE)
    for name in pushed:
        stack.push(f"%{name}")
    code = stack.code
    scratch = place.scratch
    code += [f"movq incc_probe2_distance@gottpoff(%rip), %{scratch}", f"movq %fs:(%{scratch}), %{scratch}"]
    if uses_rcx:
        code += [f"movq {loop}@GOTPCREL(%rip), %rcx", f"leaq (%{scratch},%rcx), %{scratch}"]
    else:
        code.append(f"addq {loop}@GOTPCREL(%rip), %{scratch}")
    sample = f"{end}s"
    code += [each.format(r=scratch, end=end, sample=sample, depth=stack.depth) for each in step]
    if function:
        if any("{sample}" in each for each in step):
            code.append(f"{sample}:")
        before = stack.depth
        if not pushed:
            stack.move(-RED_ZONE)
        if uses_rcx:
            stack.push("")
        bits += _PUSHED_RCX * pushes_rcx + _PUSHED_SCRATCH * place.scratch_is_live + _PUSHED_FLAGS * uses_rcx
        stack.push(f"%{scratch}")
        stack.push(f"${bits}")
        code.append(f"call *{function}@GOTPCREL(%rip)")
        if uses_rcx:
            stack.move(16)
            stack.pop("")
        stack.move(stack.depth - before)
        code.append(f"{end}:")
    for name in reversed(pushed):
        stack.pop(name)
    if pushed:
        stack.move(RED_ZONE)
    return code


class _Stack:
    """Code that moves the stack pointer, with directives for it."""

    def __init__(self, is_described: bool) -> None:
        self.code: list[str] = []
        self.depth = 0
        """Bytes below the place where the code began."""
        self._is_described = is_described

    def move(self, by: int) -> None:
        """Move the stack pointer, without a change of flags."""
        if by:
            self.code.append(f"leaq {by}(%rsp), %rsp")
            self._moved(by)

    def push(self, operand: str) -> None:
        """Push a register or a constant, or the flags."""
        self.code.append(f"pushq {operand}" if operand else "pushfq")
        self._moved(-8)

    def pop(self, register: str) -> None:
        """Pop a register, or the flags."""
        self.code.append(f"popq %{register}" if register else "popfq")
        self._moved(8)

    def _moved(self, by: int) -> None:
        self.depth -= by
        if self._is_described:
            self.code.append(f".cfi_adjust_cfa_offset {-by}")


class RuntimeDescription(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a loop that the runtime needs."""

    symbol: str
    text: bytes
    """The description for readers of the file."""
    bits: int
    """See `incc.running.induction.Induction`."""
    step: int
    step_sign: int
    places: tuple[Place, ...]
    """The places of values that tell the iterations; the first has the step, if that is no constant."""
    registers: tuple[str, ...]
    """The registers whose values a sample keeps, at most VALUES."""
    side_bits: tuple[int, ...] = ()
    """The bits that count of the first of these, which count sides of branches; at most SIDES."""


_PLACE_SIZE = 24
"""Bytes of a place."""


def _place(place: Place) -> list[str]:
    cell = place.cell
    register = NUMBERS[cell.root] if cell is not None else _NO_REGISTER
    return [
        f".quad {place.offset}",
        f".long {cell.displacement if cell is not None else 0}, {place.rounds}",
        f".byte {register}, {int(cell is not None and cell.is_variable)}, {place.steps}, 0, 0, 0, 0, 0",
    ]


def data(loops: Sequence[RuntimeDescription]) -> list[str]:
    """Return the sections with the descriptions of a file's loops, and the thread-local variable.

    Sections with data have whole lines and little alignment: the program's data behind them keep their addresses modulo
    a line. Otherwise accesses would cross lines that do not without probes.
    """
    if not loops:
        return []
    lines = ['.section incc_probes2, "aw", @progbits', ".balign 8"]
    for loop in loops:
        shift = (loop.step & -loop.step).bit_length() - 1 if loop.step else 0
        inverse = pow(loop.step >> shift, -1, 1 << 64) if loop.step else 0
        numbers = [NUMBERS[name] for name in loop.registers]
        numbers += [_NO_REGISTER] * (VALUES - len(numbers))
        lines += [
            f"{loop.symbol}:",
            # The count of a loop that is not recorded: half of the smallest number.
            f".quad {-(1 << 62)}, 0, 0, 0, 0, 0, {loop.symbol}_text",
            f".long {len(loop.text)}",
            f".byte {loop.bits}, {loop.step_sign}, {shift}, 0",
            f".quad {inverse}",
            f".byte {', '.join(map(str, numbers))}",
            f".quad {loop.symbol}_places, 0, 0, 0, 0",
            f".byte {', '.join(map(str, (*loop.side_bits, *[0] * (8 - len(loop.side_bits)))))}",
        ]
    lines.append('.section .rodata.incc_probes2, "a", @progbits')
    size = 0
    for loop in loops:
        lines += [f"{loop.symbol}_text:", f".byte {', '.join(map(str, loop.text))}", f"{loop.symbol}_places:"]
        lines += [line for place in loop.places for line in _place(place)]
        size += len(loop.text) + len(loop.places) * _PLACE_SIZE
    return [
        *lines,
        f".zero {-size % _LINE}",
        '.section .tbss.incc_probe2_distance, "awTG", @nobits, incc_probe2_distance, comdat',
        ".weak incc_probe2_distance",
        ".hidden incc_probe2_distance",
        ".type incc_probe2_distance, @object",
        ".size incc_probe2_distance, 8",
        ".balign 8",
        "incc_probe2_distance: .zero 8",
        ".weak incc_probe2_enter, incc_probe2_leave",
        ".hidden incc_probe2_enter, incc_probe2_leave",
        ".text",
    ]
