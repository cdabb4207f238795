"""A kernel as machine code that runs on its own: its exits are replaced, and its addresses lead to known memory.

*Exits.* The direction of branches depends on data, so branches are replaced. The branch that closes the loop becomes a
jump that is taken a given number of times; branches that leave the loop become branches that are never taken. How the
closing branch counts has a name:

- "own": the loop is unchanged, because the first value of a register determines the number of iterations: a register
  that it counts down, the limit that it compares a moving register to (in a register or in memory, by the closing
  branch or by one inside), an index that moves to a constant, or the pointer of a search, at the end of which memory
  holds the searched value. A counter in place of a comparison would add a chain of one cycle, which changes the speed
  of short loops.
- "replaced": the flags come from a comparison of registers right before the branch, and nothing else needs them. `dec`
  of a free register and `jnz` replace both, with the same length and, if the pair is fused, the same number of µops. If
  comparison and branch are not fused, `dec` and `jnz` replace only the branch.
- "added": the instruction that sets the flags is needed otherwise and was fused with the branch, so `dec` and `jnz` are
  one more µop. Its cost depends on the loop. The loop is therefore also measured with one more such µop, and the
  difference is subtracted, down to a cycle for each taken jump.
- "repeated": code that is no loop is repeated, and the time of a row is subtracted from that of a row twice as long.

If a branch that leaves the loop is fused with a comparison with memory, both become `test` and `js`, which are fused as
well, and memory is filled with numbers that are not negative.

*Several paths.* If data decide which path a loop takes, the analysed path runs: branches on it are always taken or
never.

*Memory.* arrangement.py describes the contents of registers and memory. Addresses without a pointer (relative to the
instruction, absolute, relative to a segment) are rewritten, if possible without changing the instruction's length.

A loop that compilers have rotated, so that its path begins in the middle of the code, is entered there by a jump.

The first byte has the kernel's alignment within 64 bytes; no-operations come before it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec
from iced_x86 import CpuidFeature, Decoder, FlowControl
from msgspec.structs import replace

from incc.frontends.isa import APART, ExitKind, NotRunnable, Placement, Runnable, word_set
from incc.frontends.kernel import Instruction, KernelCode, MemoryAccess
from incc.frontends.x86.addresses import GPR, NUMBER, AddressFollower, AddressRoles, Linear
from incc.frontends.x86.arrangement import (
    ARRAYS,
    SPAN,
    STATIC_ARRAYS,
    STATICS,
    STATICS_APART,
    Arrangement,
    arrange,
    index_count,
    streams,
)
from incc.frontends.x86.decode import PREFIXES
from incc.frontends.x86.iced import REGISTER_NAMES, bits_of, constants
from incc.support.text import line_spans

_Item = TypeVar("_Item")
# --- instructions that are not run ------------------------------------------------------------------------------------

_BRANCHES = {"call": "a call", "return": "a return", "indirect": "an indirect jump"}

# Instructions that need privileges, or change state on which the measuring process relies.
_SYSTEM = word_set(
    "syscall sysenter sysexit sysret int int1 int3 into hlt ud0 ud1 ud2 in out insb insw insd outsb outsw outsd cli"
    " sti popf popfd popfq std cpuid rdpmc monitor mwait monitorx mwaitx umonitor umwait tpause wrpkru enclu enclv"
    " encls clui stui testui senduipi uiret rsm swapgs sgdt sidt sldt smsw str lfs lgs lss lds les wrfsbase"
    " wrgsbase xbegin xend xabort vmcall vmfunc vmmcall ldmxcsr vldmxcsr fldcw fldenv frstor fxrstor fxrstor64"
    " loadiwkey incsspd incsspq saveprevssp rstorssp wrssd wrssq setssbsy clrssbsy xsetbv iretd iretq"
)
_STOPS = frozenset((FlowControl.INTERRUPT, FlowControl.EXCEPTION, FlowControl.XBEGIN_XABORT_XEND))
_FEATURES = {number: name for name, number in constants(CpuidFeature).items()}


def _refusal(instruction: Instruction, native: Any) -> NotRunnable | None:
    """Return why an instruction is not run, None if it can be."""
    text = instruction.text if instruction.text != "?" else instruction.mnemonic
    where = f"`{text}`" + (f" in line {instruction.line}" if instruction.line else "")
    if instruction.branch in _BRANCHES and instruction.mnemonic not in _SYSTEM:
        return NotRunnable(instruction.branch, f"it has {_BRANCHES[instruction.branch]} in it ({where})")
    if (
        instruction.mnemonic in _SYSTEM
        or native.is_privileged
        or native.is_save_restore_instruction
        or native.flow_control in _STOPS
        or _loads_segment(native)
    ):
        return NotRunnable("system", f"{where} is an instruction of the system, or changes the state of the process")
    if any(access.register.kind == "tile" for access in instruction.registers) or "tile" in instruction.mnemonic:
        return NotRunnable("tiles", f"{where} needs tiles, which a program has to ask the system for")
    return None


def _loads_segment(native: Any) -> bool:
    return bool(native.op_count) and REGISTER_NAMES[native.op0_register] in ("ES", "CS", "SS", "DS", "FS", "GS")


# --- machine code -----------------------------------------------------------------------------------------------------


class _Statics:
    """The places that instructions name themselves.

    By a symbol, an absolute address, or relative to the instruction.
    """

    def __init__(self, kernel: KernelCode) -> None:
        accesses = [access for instruction in kernel.instructions for access in instruction.memory]
        self._arrays = {access.symbol for access in accesses if access.symbol and (access.base or access.index)}
        self._stored = {access.symbol for access in accesses if access.symbol and access.store}
        spans: dict[str, tuple[int, int]] = {}
        for access in accesses:
            low, high = spans.get(access.symbol, (access.displacement, access.displacement))
            spans[access.symbol] = min(low, access.displacement), max(high, access.displacement)
        self._first = {symbol: low for symbol, (low, _) in spans.items()}
        # Fixed places lie close together, and those of one symbol keep their distance.
        self._fixed: dict[str, int] = {}
        at = STATICS
        for symbol, (low, high) in spans.items():
            within = low % 64 if symbol else 0
            self._fixed[symbol] = at + within
            at += (within + min(high - low, SPAN - 1)) // 64 * 64 + 64
        self._regions: dict[str, int] = {}

    def array(self, symbol: str, displacement: int = 0) -> int:
        """Return the address of an array that indices or pointers lead into."""
        if symbol not in self._regions:
            number = len(self._regions)
            within = 0x40 + 0x80 * (number % 7) if symbol in self._stored else 0x440 + 0xC0 * (number % 12)
            self._regions[symbol] = STATIC_ARRAYS + number % 256 * STATICS_APART + within
        away = displacement - self._first.get(symbol, displacement)
        return self._regions[symbol] + away % STATICS_APART

    def place(self, symbol: str, displacement: int) -> int:
        """Return the address of a fixed place."""
        if symbol in self._arrays:
            return self.array(symbol, displacement)
        return self._fixed[symbol] + (displacement - self._first[symbol]) % SPAN


class _Rewriter:
    """The rewriting of instructions to run anywhere.

    `base` is a free register among the first eight that holds STATICS, "" for none; `used` is True if it was needed.
    """

    def __init__(self, kernel: KernelCode, base: str) -> None:
        self.statics = _Statics(kernel)
        self.base = base
        self.used = False
        self.longer = False
        self.segments = False

    def code(self, number: int, instruction: Instruction) -> bytes | None:
        """Return the instruction's machine code; None if its address cannot be given a place."""
        code = bytearray(instruction.encoding)
        decoder = Decoder(64, instruction.encoding)
        native = decoder.decode()
        offsets = decoder.get_constant_offsets(native)
        if instruction.immediate is None and instruction.immediate_bytes >= 4 and offsets.has_immediate:
            # The linker fills in an address.
            place = self.statics.array(f"#{number}")
            start, size = offsets.immediate_offset, offsets.immediate_size
            code[start : start + size] = place.to_bytes(8, "little")[:size]
        for n, byte in enumerate(instruction.encoding):
            if byte not in PREFIXES:
                break
            if byte in (0x64, 0x65):  # of fs and gs; that of cs means nothing
                code[n] = 0x2E
                self.segments = True
        if not offsets.has_displacement:
            return bytes(code)
        access = next((access for access in instruction.memory if access.operand is not None), None)
        self._displace(code, native, offsets, access, f"#{number}")
        check = Decoder(64, bytes(code)).decode()
        if check.is_invalid or check.code != native.code or check.len != len(code) or check.is_ip_rel_memory_operand:
            return None
        return bytes(code)

    def _displace(self, code: bytearray, native: Any, offsets: Any, access: MemoryAccess | None, name: str) -> None:
        """Write the address of a place into an instruction's displacement. `name` is for a place without an access."""
        at = offsets.displacement_offset
        symbol, displacement = (access.symbol, access.displacement) if access else (name, 0)
        base, index = native.memory_base, native.memory_index
        vector = access is not None and access.index is not None and access.index.kind == "vector"
        if offsets.displacement_size == 8:
            code[at : at + 8] = self.statics.place(symbol, displacement).to_bytes(8, "little")
        elif native.is_ip_rel_memory_operand:
            place = self.statics.place(symbol, displacement) if access else self.statics.array(symbol)
            field = code[at - 1] & 0x38
            if self.base:
                self.used = True
                code[at - 1] = 0x80 | field | NUMBER[self.base]
                code[at : at + 4] = (place - STATICS).to_bytes(4, "little", signed=True)
            else:
                self.longer = True
                code[at - 1 : at + 4] = bytes((0x04 | field, 0x25)) + place.to_bytes(4, "little")
        elif offsets.displacement_size == 4 and (symbol or not base) and access is not None and not (vector and base):
            fixed = not base and not index
            place = self.statics.place(symbol, displacement) if fixed else self.statics.array(symbol, displacement)
            code[at : at + 4] = place.to_bytes(4, "little")


_FUSED = word_set("cmp test add sub and inc dec")
"""Instructions that some core fuses with a conditional jump (Intel, Optimization Manual, 3.4.2.2; AMD since Zen 3)."""
_COUNTED = word_set("add sub inc dec")
_MOST_PREFIXES = 4
_INSTRUCTIONS = 40
"""The number of instructions from which on repeated code is so long that its own branch does not matter."""


class _Exit(msgspec.Struct, frozen=True, kw_only=True):
    """The replacement of a branch."""

    dropped: int
    """The index of the comparison that is dropped with it, -1 for none."""
    length: int
    """The length in bytes of that comparison."""
    more: int
    """Additional µops, 0 or 1."""
    tested: bool = False
    """True if a fused comparison with memory is before it, which may become a `test` of the same operands."""


class _Own(msgspec.Struct, frozen=True):
    """A register whose first value says after how many trips the kernel's own code ends: `first + step * trips`."""

    register: str
    step: int
    first: int


class _Exits(msgspec.Struct, frozen=True, kw_only=True):
    """The replacements of a kernel's branches."""

    replaced: dict[int, _Exit]
    """The replacements of conditional branches, by the branch's index."""
    dropped: set[int]
    """The indices of instructions that are left out, since only a replaced branch needs them."""
    own: _Own | None
    """The register by whose first value the kernel itself ends; None without one."""
    closing: int
    """The index of the branch that closes the loop, -1 without one."""
    out: int
    """The index of the branch inside by which the kernel's own code ends, -1 if the closing one ends it."""


class _Body(msgspec.Struct, frozen=True):
    """The code of a trip, without the end of the loop."""

    code: bytes
    enter: int
    """The offset at which the loop is entered."""
    more: int
    """Additional µops of replaced branches."""
    jumps: int
    """Jumps that are taken."""
    out: int
    """The offset after the branch that ends the loop from within, 0 without one."""


def runnable(kernel: KernelCode, placement: Placement = APART) -> Runnable | NotRunnable:
    """Return the kernel as code that runs a given number of times, or the reason why it cannot run."""
    refusal = _kernel_refusal(kernel)
    if refusal is not None:
        return refusal
    natives = tuple([Decoder(64, instruction.encoding).decode() for instruction in kernel.instructions])
    refusal = _instructions_refusal(kernel, natives)
    if refusal is not None:
        return refusal
    follower = AddressFollower(kernel)
    roles = AddressRoles(follower)
    unturned = kernel
    entered, turned = 0, _turned(kernel)
    if turned is None:
        return NotRunnable("exit", "no branch leads back to its start")
    if turned:
        entered = len(natives) - turned
        first = kernel.instructions[0].offset
        instructions, natives = _rotated(kernel.instructions, turned), _rotated(natives, turned)
        kernel = replace(kernel, instructions=instructions, alignment=kernel.alignment + instructions[0].offset - first)
    arrangement = arrange(unturned, follower, roles, placement)
    if isinstance(arrangement, NotRunnable):
        return arrangement
    own = _own(kernel, roles)
    if own is None and kernel.is_loop and not turned:
        last = len(kernel.instructions) - 1
        own = _bounded(kernel, last, kernel.instructions[last].mnemonic, follower, roles, arrangement.symbols)
        kept = (
            None if own else _spilled(kernel, follower, arrangement) or _searched(kernel, follower, roles, arrangement)
        )
        if kept is not None:
            own, arrangement = kept
    out = -1
    if own is None and kernel.is_loop:
        own, out = _way_out(kernel, unturned, turned, follower, roles, arrangement)
    exits = _exits(kernel, own, out)
    registers_left = _counter_and_base(kernel, natives, exits)
    if registers_left is None:
        return NotRunnable("registers", "it uses all registers, and none is left to count with")
    counter, base = registers_left
    number = NUMBER[counter]
    rewriter = _Rewriter(kernel, base)
    body = _body(kernel, exits, rewriter, number, arrangement.memory, entered)
    if isinstance(body, NotRunnable):
        return body
    registers = arrangement.registers
    if rewriter.used:
        registers[rewriter.base] = STATICS
    codes, weights, how = _timed_loops(kernel, exits, body, number, arrangement.fills, entered)
    features = {_FEATURES[f] for native in natives for f in native.cpuid_features()}
    return Runnable(
        codes=codes,
        weights=weights,
        exit=how,
        jumps=body.jumps + kernel.is_loop,
        counter=number,
        step=exits.own.step if exits.own is not None else 1,
        first=exits.own.first if exits.own is not None else 0,
        trips=arrangement.trips,
        registers=tuple(registers[root] % (1 << 64) for root in GPR),
        content=arrangement.content,
        memory=arrangement.memory,
        features=frozenset(features),
        notes=tuple(_notes(kernel, roles, rewriter)),
    )


def _kernel_refusal(kernel: KernelCode) -> NotRunnable | None:
    """Return why a kernel cannot be decoded as 64-bit code, None if it can."""
    if kernel.refused:
        return NotRunnable("refused", "some of its statements could not be read")
    if not kernel.instructions:
        return NotRunnable("empty", "it has no instruction")
    if any(bits_of(instruction.encoding) == 32 for instruction in kernel.instructions):
        return NotRunnable("mode", "it is code of 32-bit mode")
    return None


def _instructions_refusal(kernel: KernelCode, natives: Sequence[Any]) -> NotRunnable | None:
    """Return why a kernel's instructions cannot run on their own, None if they can."""
    for instruction, native in zip(kernel.instructions, natives, strict=True):
        refusal = _refusal(instruction, native)
        if refusal is not None:
            return refusal
    if _skips_code(kernel):
        return NotRunnable("ways", "it jumps over code of its own, and no way through it was analysed")
    if _waits_for_x87(kernel):
        return NotRunnable("x87", "it uses x87 registers, which are empty when it begins")
    return None


def _exits(kernel: KernelCode, own: _Own | None, out: int) -> _Exits:
    """Return the replacements of a kernel's branches."""
    instructions = kernel.instructions
    replaced = {n: _exit(kernel, n) for n, i in enumerate(instructions) if i.branch == "conditional"}
    closing = len(instructions) - 1 if kernel.is_loop else -1
    if own is not None:
        del replaced[closing if out < 0 else out]
    dropped = {branch.dropped for branch in replaced.values()} - {-1}
    adds_uop = out < 0 and closing in replaced and replaced[closing].dropped < 0 and replaced[closing].more
    if adds_uop and _counts_alone(kernel, replaced, dropped):
        replaced[closing] = _Exit(dropped=closing - 1, length=instructions[closing - 1].length, more=0)
        dropped.add(closing - 1)
    return _Exits(replaced=replaced, dropped=dropped, own=own, closing=closing, out=out)


def _counter_and_base(kernel: KernelCode, natives: Sequence[Any], exits: _Exits) -> tuple[str, str] | None:
    """Return the register that counts trips, and one for addresses, "" without; None if no counter is free."""
    used = set()
    for n, instruction in enumerate(kernel.instructions):
        if n not in exits.dropped:
            used |= {use.register.root for use in instruction.registers}
    free = [root for root in GPR if root not in used]
    if len(free) > 1 and "rsp" in free:
        free.remove("rsp")
    if exits.own is not None:
        counter = exits.own.register
    elif not free:
        return None
    else:
        # The first eight have shorter encodings, which are more useful for addresses than for a counter.
        short = exits.closing in exits.replaced and exits.replaced[exits.closing].length == 2
        needed = any(native.is_ip_rel_memory_operand for native in natives)
        low = [root for root in free if NUMBER[root] < 8]
        counter = low[-1] if short and len(low) > needed else free[-1]
        free.remove(counter)
    return counter, next((root for root in free if NUMBER[root] < 8), "")


def _body(
    kernel: KernelCode, exits: _Exits, rewriter: _Rewriter, counter: int, memory: Sequence[int], entered: int
) -> _Body | NotRunnable:
    """Return the code of a trip, entered at instruction `entered`, or why an instruction cannot be rewritten."""
    positive = not any(word & 0x8080_8080_8080_8080 for word in memory)
    body: list[bytes] = []
    more = enter = jumps = out = 0
    for n, instruction in enumerate(kernel.instructions):
        if n == entered:
            enter = sum(map(len, body))
        branch = exits.replaced.get(n)
        if n == exits.closing and branch is not None and branch.tested and exits.out >= 0:
            body[-1] = _tested(body[-1], kernel.instructions[n - 1])
        if n in exits.dropped or n == exits.closing:
            continue
        gap = _skipped(kernel, n)
        if n == exits.out:
            body.append(_leaving(instruction, kernel.instructions[n + 1 :]))
            out = sum(map(len, body))
        elif branch is not None and branch.tested and positive:
            body[-1] = _tested(body[-1], kernel.instructions[n - 1])
            body.append(_jump(0x79 if gap is not None else 0x78, instruction.length, gap))
        elif branch is not None:
            test = _padded(_test(counter), branch.length)
            body.append(test + _jump(0x75 if gap is not None else 0x74, instruction.length, gap))
            more += branch.more
        elif instruction.branch:
            body.append(_jump(0xEB, instruction.length, gap))
        else:
            written = rewriter.code(n, instruction)
            if written is None:
                return NotRunnable("address", f"the address in `{instruction.text}` cannot be given a place")
            body.append(written)
        jumps += bool(instruction.branch) and n != exits.out and (gap is not None or branch is None)
    if exits.closing in exits.replaced and exits.out < 0:
        more += exits.replaced[exits.closing].more
    return _Body(b"".join(body), enter, more, jumps, out)


def _leaving(branch: Instruction, behind: Sequence[Instruction]) -> bytes:
    """Return a branch whose distance is not known yet, long enough to reach past these instructions."""
    condition = branch.encoding[branch.opcode_offset] & 15
    far = sum(64 * bool(i.branch) + i.length for i in behind) > 100
    return bytes((0x0F, 0x80 | condition)) + bytes(4) if far else bytes((0x70 | condition, 0))


def _tested(code: bytes, comparison: Instruction) -> bytes:
    """Return a comparison with memory as a `test` of the same operands."""
    at = comparison.opcode_offset
    return code[:at] + bytes((0x84 | code[at] & 1,)) + code[at + 1 :]


def _skipped(kernel: KernelCode, n: int) -> int | None:
    """Return the bytes within 64 that a taken branch skips on the way that runs, None for one that is not taken."""
    instruction = kernel.instructions[n]
    following = kernel.instructions[(n + 1) % len(kernel.instructions)]
    away = following.offset - instruction.offset - instruction.length
    return away % 64 if instruction.branch and away and (n + 1 < len(kernel.instructions)) else None


def _jump(short: int, length: int, gap: int | None) -> bytes:
    """Return a jump over `gap` bytes, by the operation of its short form, of the length of another one."""
    over = gap or 0
    if length < 5:
        return bytes((short, over)) + b"\x90" * over
    long = b"\xe9" if short == 0xEB else bytes((0x0F, short + 0x10))
    return long + over.to_bytes(4, "little") + b"\x90" * over


def _timed_loops(
    kernel: KernelCode, exits: _Exits, body: _Body, counter: int, fills: bytes, entered: int
) -> tuple[tuple[bytes, ...], tuple[float, ...], ExitKind]:
    """Return the loops to time, the weights of their cycles in an iteration's, and the way the exit was replaced."""
    last = kernel.instructions[-1]
    back = exits.replaced.get(exits.closing)
    if exits.out >= 0:
        # The way out is inside; the way back is always taken.
        plain = back is not None and not back.tested
        count = _padded(_test(counter), back.length) if plain and back is not None else b""
        jump = b"\x75" if plain else b"\xeb" if back is None else b"\x79"
    elif exits.own is not None:
        count, jump = b"", _closing(last)
    else:
        count = _count(counter, exits.replaced[exits.closing].length if exits.closing in exits.replaced else 3)
        jump = b"\x75"
    before = b"\xe9" + body.enter.to_bytes(4, "little") if entered else b""
    padding = b"\x90" * ((kernel.alignment % 64 - len(fills + before)) % 64)

    def loop(inside: bytes) -> bytes:
        code = bytearray(fills + padding + before)
        out = len(code) + body.out
        code += _closed(inside + count, jump, last.length)
        if body.out:
            size = 1 if code[out - 2] else 4  # 70 00, or 0f 80 00 00 00 00
            code[out - size : out] = (len(code) - out).to_bytes(size, "little")
        return bytes(code)

    if not kernel.is_loop:
        copies = -(-_INSTRUCTIONS // len(kernel.instructions))
        return (loop(body.code * copies), loop(body.code * 2 * copies)), (-1 / copies, 1 / copies), "repeated"
    if body.more:
        return (loop(body.code), loop(body.code + body.more * _test(counter))), (2.0, -1.0), "added"
    return (loop(body.code),), (1.0,), "own" if exits.own is not None else "replaced"


def _notes(kernel: KernelCode, roles: AddressRoles, rewriter: _Rewriter) -> Iterable[str]:
    """Yield the ways in which data and code may differ from the original program."""
    inside = [i for i in kernel.instructions[:-1] if i.branch == "conditional"]
    if kernel.region.forks if kernel.region is not None else inside:
        yield f"only one of several paths through the loop is run: {_way(kernel)}"
    if roles.chases:
        yield "all loaded pointers lead around a ring of places in the first-level cache"
    elif count := index_count(roles):
        yield f"loaded indices are numbers below {count}, in no order"
    elif roles.met:
        yield "stores to data-dependent addresses hit few places repeatedly, since all memory holds one word"
    floating = any(i.arithmetic is not None and i.arithmetic.floating for i in kernel.instructions)
    if floating and (roles.chases or roles.indices):
        yield "loaded floating-point numbers are zero, since memory holds indices"
    if any(
        i.mnemonic in ("div", "idiv") or i.mnemonic.startswith(("vdiv", "div", "sqrt", "vsqrt"))
        for i in kernel.instructions
    ):
        yield "how long divisions and roots take may depend on the numbers, which are simple ones"
    if any(i.traits & {"rep", "repne"} for i in kernel.instructions):
        yield "how long string instructions take depends on counts, which are not those of the program"
    if rewriter.segments:
        yield "segments are left out of addresses"
    if rewriter.longer:
        yield "addresses relative to the instruction became absolute ones, a byte longer each"


def _way(kernel: KernelCode) -> str:
    """Return the path through a loop in words: "the path through lines 5–9, 12", or by addresses if it has no lines."""
    if kernel.region is None:
        return "the one on which no branch is taken"
    if not any(i.line for i in kernel.instructions):
        spans: list[list[int]] = []
        end = -1
        for i in sorted(kernel.instructions, key=lambda i: i.offset):
            if i.offset != end:
                spans.append([i.offset, i.offset])
            spans[-1][1], end = i.offset, i.offset + i.length
        return "the path through " + ", ".join(f"{a:#x}–{b:#x}" for a, b in spans)
    lines = line_spans(i.line for i in kernel.instructions)
    return "the path through lines " + ", ".join(f"{a}–{b}" if b > a else str(a) for a, b in lines)


def _turned(kernel: KernelCode) -> int | None:
    """Return how many instructions of a loop come before the one after the branch that leads back.

    None of most; some where a compiler has turned the loop, so that it is entered at the start of the path and goes
    back from within. Returns None without a branch.
    """
    instructions = kernel.instructions
    last = instructions[-1]
    goes_on = last.branch == "conditional" and last.offset + last.length == instructions[0].offset
    if not kernel.is_loop or (last.branch and not goes_on):
        return 0
    branches = [n for n, i in enumerate(instructions[:-1]) if i.branch in ("conditional", "unconditional")]
    back = [n for n in branches if instructions[n + 1].offset < instructions[n].offset]
    return (back or branches)[-1] + 1 if branches else None


def _rotated(items: Sequence[_Item], by: int) -> tuple[_Item, ...]:
    return (*items[by:], *items[:by])


def _skips_code(kernel: KernelCode) -> bool:
    """Return True if machine code without text has a jump over some of it, which then runs although it would not."""
    if kernel.region is not None:
        return False
    instructions = kernel.instructions
    first, end = instructions[0].offset, instructions[-1].offset + instructions[-1].length
    return any(
        i.branch == "unconditional" and i.target.startswith("0x") and i.offset + i.length < int(i.target, 16) < end
        for i in instructions
        if first <= i.offset
    )


def _waits_for_x87(kernel: KernelCode) -> bool:
    """Return True if an x87 register is read that the kernel has not written before."""
    written: set[str] = set()
    for instruction in kernel.instructions:
        for use in instruction.registers:
            if use.register.kind == "x87" and use.read and use.register.root not in written:
                return True
        written.update(use.register.root for use in instruction.registers if use.write)
    return False


# --- exits ------------------------------------------------------------------------------------------------------------


def _exit(kernel: KernelCode, branch: int) -> _Exit:
    """Return the replacement of a conditional branch."""
    instructions = kernel.instructions
    jump = instructions[branch]
    setter = next((n for n in range(branch - 1, -1, -1) if instructions[n].flags_written), -1)
    if setter != branch - 1 or setter < 0 or not jump.flags_read:
        return _Exit(dropped=-1, length=0, more=0)
    first = instructions[setter]
    loads_immediate = bool(first.memory) and "i" in first.operands
    stores = any(access.store for access in first.memory)
    fused = first.mnemonic in _FUSED and not loads_immediate and not stores
    if first.mnemonic in ("cmp", "test") and not first.memory and fused and not _flags_needed(kernel, setter, branch):
        return _Exit(dropped=setter, length=first.length, more=0)
    tested = first.mnemonic in ("cmp", "test") and fused and not _flags_needed(kernel, setter, branch)
    return _Exit(dropped=-1, length=0, more=int(fused), tested=tested)


def _flags_needed(kernel: KernelCode, setter: int, branch: int) -> bool:
    """Return True if anything but the branch reads an instruction's flags, in this iteration or the next one."""
    open_flags = set(kernel.instructions[setter].flags_written)
    count = len(kernel.instructions)
    following = range(setter + 1, setter + count) if kernel.is_loop else range(setter + 1, count)
    for n in following:
        instruction = kernel.instructions[n % count]
        if n != branch and open_flags & set(instruction.flags_read):
            return True
        open_flags -= set(instruction.flags_written)
        if not open_flags:
            return False
    return False


_DOWN, _UP = word_set("jne jg jge jns"), word_set("jne")
_BELOW, _ABOVE = word_set("jb jbe jl jle"), word_set("ja jae jg jge")
_UNSIGNED = word_set("ja jae jb jbe")


def _own(kernel: KernelCode, roles: AddressRoles) -> _Own | None:
    """Return the register that the loop itself counts to zero; None without one."""
    instructions = kernel.instructions
    last = instructions[-1]
    if not kernel.is_loop:
        return None
    if last.mnemonic == "loop":
        root, step = "rcx", 1
    else:
        if last.branch != "conditional" or len(instructions) < 2:
            return None
        counting = instructions[-2]
        affine = counting.affine
        if counting.mnemonic not in _COUNTED or affine is None:
            return None
        root, step = affine.target, -affine.constant
        borrows = counting.mnemonic == "sub" and step > 0 and last.mnemonic in ("ja", "jae")
        if affine.terms != ((root, 1),) or not step or not (last.mnemonic in (_DOWN if step > 0 else _UP) or borrows):
            return None
    writers = [i for i in instructions if _writes(i, root)]
    return _Own(root, step, 0) if len(writers) == 1 and root in NUMBER and root not in roles.pointers else None


def _writes(instruction: Instruction, root: str) -> bool:
    return any(use.write and use.register.root == root for use in instruction.registers)


_INVERSE = {"je": "jne", "jae": "jb", "jb": "jae", "ja": "jbe", "jbe": "ja"}
_INVERSE |= {"jge": "jl", "jl": "jge", "jg": "jle", "jle": "jg"}


def _way_out(
    kernel: KernelCode,
    unturned: KernelCode,
    turned: int,
    follower: AddressFollower,
    roles: AddressRoles,
    arrangement: Arrangement,
) -> tuple[_Own | None, int]:
    """Return the limit by which a branch inside ends the loop, and that branch; None and -1 without one.

    The branch that leads back is then always taken, if that costs no more than the original.
    """
    count = len(kernel.instructions)
    last = kernel.instructions[-1]
    back = _exit(kernel, count - 1) if last.branch == "conditional" else None
    positive = not any(word & 0x8080_8080_8080_8080 for word in arrangement.memory)
    if not last.branch or (back is not None and back.more and not (back.tested and positive)):
        return None, -1
    for n, branch in enumerate(unturned.instructions):
        at = (n - turned) % count
        if at == count - 1 or branch.mnemonic not in _INVERSE or _skipped(kernel, at) is not None:
            continue
        own = _bounded(unturned, n, _INVERSE[branch.mnemonic], follower, roles, arrangement.symbols)
        if own is not None and follower.invariant(own.register):
            return own, at
    return None, -1


def _bounded(
    kernel: KernelCode,
    branch: int,
    jump: str,
    follower: AddressFollower,
    roles: AddressRoles,
    symbols: dict[str, int],
) -> _Own | None:
    """Return the register by which the comparison before a branch ends the loop; None without one.

    The loop goes on as if the branch were a `jump` that leads back.

    That is a register that does not change, to which one is compared that moves evenly, or the latter itself if it is
    compared to a constant. The code then stays as it is, while a counter in its place would be one chain more.
    """
    instructions = kernel.instructions
    setter = _compared(kernel, branch)
    if instructions[branch].branch != "conditional" or setter not in follower.compared or instructions[setter].memory:
        return None
    comparison, values = instructions[setter], follower.compared[setter]
    if min(use.register.width for use in comparison.registers) < 32:
        return None
    if comparison.mnemonic == "cmp" and comparison.operands == "rr":
        sides = [
            _limit(jump, operand, [(each[operand], each[1 - operand]) for each in values], follower, roles, symbols)
            for operand in (0, 1)
        ]
        return sides[0] or sides[1]
    if comparison.operands != ("ri" if comparison.mnemonic == "cmp" else "rr") or values[0][0] != values[0][-1]:
        return None
    constant = comparison.immediate if comparison.mnemonic == "cmp" else 0
    index = next(iter(values[0][0][0]), "")
    if constant is None or index in roles.pointers:
        return None
    own = _index(jump, constant, [each[0] for each in values], follower, symbols)
    narrow = any(use.register.width == 32 for use in comparison.registers)
    # The upper half of a narrow index would be zero in front of the limit.
    return None if own is None or (narrow and own.step < 0 and index in roles.touched) else own


def _compared(kernel: KernelCode, branch: int) -> int:
    """Return the index of the instruction on whose flags a branch depends, -1 without one."""
    return next((n for n in range(branch - 1, -1, -1) if kernel.instructions[n].flags_written), -1)


def _searched(
    kernel: KernelCode, follower: AddressFollower, roles: AddressRoles, arrangement: Arrangement
) -> tuple[_Own, Arrangement] | None:
    """Return the pointer whose first value ends a search, and memory in which the search succeeds; None without one.

    A search is a loop that runs until a loaded value equals a constant, or a register that does not change.
    """
    place = _place_and_value(kernel, follower, roles, arrangement.symbols)
    if kernel.instructions[-1].mnemonic != "jne" or place is None:
        return None
    instruction, wanted = place
    steady = [each for each in streams(follower, arrangement.symbols) if each.address.instruction == instruction]
    if len(steady) != 1:
        return None
    stream, access = steady[0], steady[0].address.access
    pointer = next((n for n, f in stream.address.terms.items() if f == 1 and n in roles.pointers and n in NUMBER), "")
    taken = pointer in roles.stored or pointer in follower.entry or access.symbol or access.size not in _STORES
    if not pointer or taken or abs(stream.step) < access.size or wanted.bit_length() >= 8 * access.size:
        return None
    memory = arrangement.memory
    for byte in (None, 3, 5):
        if byte is not None:
            memory = (byte * 0x0101_0101_0101_0101,) if len(memory) == 1 else memory
        there = struct.pack(f"<{len(memory)}Q", *memory)
        value = (wanted & (1 << 8 * access.size) - 1).to_bytes(access.size, "little")
        if value not in [there[n : n + access.size] for n in range(0, len(there), access.size)]:
            break
    else:
        return None
    # The first address, of the first iteration, moves down by all trips, so that the last one is just before it.
    at = stream.first - 2 * stream.step
    code = _STORES[access.size] + at.to_bytes(4, "little") + value[:4]
    own = _Own(pointer, -stream.step, arrangement.symbols[pointer])
    return own, replace(arrangement, memory=memory, fills=arrangement.fills + code)


_STORES = {1: b"\xc6\x04\x25", 2: b"\x66\xc7\x04\x25", 4: b"\xc7\x04\x25", 8: b"\x48\xc7\x04\x25"}
"""`mov` of a constant to an absolute address, by the bytes that it stores."""


def _place_and_value(
    kernel: KernelCode, follower: AddressFollower, roles: AddressRoles, symbols: dict[str, int]
) -> tuple[int, int] | None:
    """Return the instruction that loads the operand of the last branch, and the value for which it is not taken."""
    setter = _compared(kernel, len(kernel.instructions) - 1)
    comparison = kernel.instructions[setter]
    if setter < 0 or comparison.mnemonic not in ("cmp", "test") or any(access.store for access in comparison.memory):
        return None
    roots = [use.register.root for use in comparison.registers if use.operand is not None]
    wanted = comparison.immediate if comparison.mnemonic == "cmp" else 0
    if comparison.mnemonic == "cmp" and comparison.memory and not comparison.immediate_bytes:
        fixed = len(roots) == 1 and follower.invariant(roots[0]) and roots[0] not in roles.touched
        wanted = symbols[roots[0]] if fixed else None
    if wanted is None or (comparison.mnemonic == "test" and comparison.operands != "rr"):
        return None
    if comparison.memory:
        return setter, wanted
    writers = [n for n, i in enumerate(kernel.instructions[:setter]) if _writes(i, roots[0])]
    if len(set(roots)) != 1 or not writers:
        return None
    load = kernel.instructions[writers[-1]]
    return (writers[-1], wanted) if load.mnemonic in _LOADS and load.memory else None


_LOADS = word_set("mov movzx movsx movsxd")


def _limit(
    jump: str,
    operand: int,
    values: Sequence[tuple[Linear, Linear]],
    follower: AddressFollower,
    roles: AddressRoles,
    symbols: dict[str, int],
) -> _Own | None:
    """Return the register that the moving operand of a comparison is compared to, if it does not change.

    `values` are those of the moving and of the other operand in each iteration.
    """
    moving = _moving([value for value, _ in values], follower, symbols)
    terms, constant = values[0][1]
    limit = next(iter(terms), "")
    fixed = terms == {limit: 1} and not constant and follower.invariant(limit) and limit not in follower.entry
    if moving is None or not fixed or limit in roles.touched:
        return None
    start, step = moving
    return _Own(limit, step, start - step) if _goes_on(jump, operand, start, step) else None


def _goes_on(jump: str, operand: int, start: int, step: int) -> bool:
    """Return True if a jump is taken until the moving operand of a comparison has reached the other one."""
    near = _BELOW if (step > 0) == (operand == 0) else _ABOVE
    # A limit below zero would be a large number.
    signed = jump not in _UNSIGNED or (start >= 0 if step > 0 else start >= ARRAYS)
    return jump == "jne" or (jump in near and signed)


def _spilled(
    kernel: KernelCode, follower: AddressFollower, arrangement: Arrangement
) -> tuple[_Own, Arrangement] | None:
    """Return the moving register that is compared to a place in memory, with code that puts the limit there.

    The limit is in the register when the loop is entered; that code then gives it its own first value.
    """
    setter = _compared(kernel, len(kernel.instructions) - 1)
    comparison, jump = kernel.instructions[setter], kernel.instructions[-1].mnemonic
    everywhere = streams(follower, arrangement.symbols)
    steady = [stream for stream in everywhere if stream.address.instruction == setter]
    if comparison.mnemonic != "cmp" or comparison.operands not in ("rm", "mr") or len(steady) != 1:
        return None
    (place,), (root,) = steady, [use.register.root for use in comparison.registers if use.operand is not None]
    stored = any(
        each.address.access.store and not each.step and abs(each.first - place.first) < 8 for each in everywhere
    )
    moving = _moving([values[0] for values in follower.compared[setter]], follower, arrangement.symbols)
    at, first, size = place.first, arrangement.registers[root], place.address.access.size
    if place.step or place.address.fixed or stored or moving is None or size not in (4, 8) or not 0 <= at < 1 << 31:
        return None
    if not _goes_on(jump, comparison.operands.index("r"), *moving) or not -(1 << 31) <= first < 1 << 31:
        return None
    number, (start, step) = NUMBER[root], moving
    prefix = (0x48 if size == 8 else 0x40) | number >> 3 << 2
    code = bytes((prefix, 0x89, 0x04 | (number & 7) << 3, 0x25)) + at.to_bytes(4, "little")
    code += bytes((0x48 | number >> 3, 0xC7, 0xC0 | number & 7)) + first.to_bytes(4, "little", signed=True)
    return _Own(root, step, start - step), replace(arrangement, fills=arrangement.fills + code)


def _index(
    jump: str, limit: int, values: Sequence[Linear], follower: AddressFollower, symbols: dict[str, int]
) -> _Own | None:
    """Return the register that moves up or down to a constant."""
    moving = _moving(values, follower, symbols)
    terms, constant = values[0]
    index = next(iter(terms), "")
    if moving is None or terms != {index: 1} or index not in NUMBER or index in follower.entry:
        return None
    step = moving[1]
    signed = (_BELOW if step > 0 else _ABOVE | {"jns"}) - _UNSIGNED
    return _Own(index, -step, limit - constant + step) if jump == "jne" or jump in signed else None


def _moving(values: Sequence[Linear], follower: AddressFollower, symbols: dict[str, int]) -> tuple[int, int] | None:
    """Return the first of a register's values, and the distance of all; None if they do not move evenly."""
    if not all(follower.steady(terms) for terms, _ in values):
        return None
    one, two, three = (sum(f * symbols.get(n, 0) for n, f in terms.items()) + more for terms, more in values)
    return (one, two - one) if two != one and three - two == two - one else None


def _counts_alone(kernel: KernelCode, exits: dict[int, _Exit], dropped: set[int]) -> bool:
    """Return True if the instruction before the closing branch changes a register that nothing else uses."""
    instructions = kernel.instructions
    counting, branch = len(instructions) - 2, len(instructions) - 1
    first = instructions[counting]
    affine = first.affine
    if first.mnemonic not in _COUNTED or first.memory or affine is None or affine.target not in NUMBER:
        return False
    root = affine.target
    if affine.terms != ((root, 1),) or _flags_needed(kernel, counting, branch):
        return False
    return not any(
        use.register.root == root
        for n, i in enumerate(instructions)
        if n != counting and n not in dropped
        for use in i.registers
    )


def _padded(code: bytes, length: int) -> bytes:
    """Return code after prefixes without effect, if so few are needed."""
    missing = length - len(code)
    return b"\x3e" * missing + code if 0 < missing <= _MOST_PREFIXES else code


def _count(number: int, length: int) -> bytes:
    """Return `dec` of a register, of this many bytes if possible."""
    wide = bytes((0x48 | number >> 3, 0xFF, 0xC8 | number & 7))
    return wide[1:] if number < 8 and length == 2 else _padded(wide, length)


def _test(number: int) -> bytes:
    """Return `test` of a register by itself."""
    return bytes((0x48 | (number >> 3) * 5, 0x85, 0xC0 | (number & 7) * 9))


def _closing(last: Instruction) -> bytes:
    """Return the operation of the short jump that closes a loop."""
    return b"\xe2" if last.mnemonic == "loop" else bytes((0x70 | last.encoding[last.opcode_offset] & 15,))


def _closed(code: bytes, jump: bytes, length: int) -> bytes:
    """Return code with a jump to its start, as long as the original one if possible."""
    short = len(code) + 2 <= 128
    if short and (length == 2 or jump == b"\xe2" or length not in (2, 6)):
        return code + jump + (-(len(code) + 2)).to_bytes(1, "little", signed=True)
    if jump == b"\xe2":  # `loop` reaches no further: dec rcx, jnz
        code, jump = code + b"\x48\xff\xc9", b"\x75"
    if jump == b"\xeb":
        return code + b"\xe9" + (-(len(code) + 5)).to_bytes(4, "little", signed=True)
    return code + bytes((0x0F, jump[0] + 0x10)) + (-(len(code) + 6)).to_bytes(4, "little", signed=True)
