"""Timing code, from LLVM's intermediate representation with inline assembly.

Four pieces of assembly differ between architectures (`ARCHITECTURES`): reading the time, a chain of dependent
additions, entering a loop, and leaving it. The rest is the same text for all.

A loop runs at a fixed address (CODE) and keeps all it needs in a page at another (STATE), since it may use every
register, the stack pointer too. Both exist only in the child that runs it.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Sequence
from typing import Any

import msgspec

CODE = 0x6000_0000_0000
CODE_BYTES = 1 << 18
# Within reach of AArch64's loads of literals.
STATE = CODE + (1 << 19)
LONGEST = CODE_BYTES - 4096
"""Bytes of machine code that a loop may have."""

# Offsets from STATE.
STACK, OUTER, LEAVE, FLOATING, FAULTS, MOST_FAULTS, PAGE = range(0, 56, 8)
VECTOR = 64
REGISTERS = 128
TOUCHED, MOST_TOUCHED = 1024, 256
"""The last pages that were mapped since a loop touched them, and how many of them are known; a power of two."""
MEMORY, WORDS = 4096, 512
"""The words that pages repeat, and their number."""
STATE_BYTES = 8192

# The exit status of the child after a fault.
BAD_ADDRESS, TOO_MANY_PAGES, NO_MEMORY, OWN_MEMORY, PROTECTION = 101, 102, 103, 104, 105

LINKS = 100
"""Dependent additions in a unit of a chain."""


class Architecture(msgspec.Struct, frozen=True, kw_only=True):
    """The assembly that differs between architectures."""

    now: tuple[str, str]
    """Assembly and constraints for reading the time, after all code before it and before all code behind it."""
    chain: tuple[str, str]
    """`LINKS` dependent additions of registers in a loop.

    Registers, because Golden Cove adds constants while it renames; with its loop in assembly, because a compiler's may
    have a move in it that takes a cycle.
    """
    crowd: tuple[str, str]
    """`LINKS` additions in four chains with as many instructions that do nothing, in a loop.

    They fill all issue slots, and take longer as soon as another thread of the core takes some.
    """
    enter: str
    """A function that sets registers, jumps to CODE, and returns when the loop has run OUTER times."""
    floating: int
    """The first value of the floating-point control register."""


X86_GPR = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", *(f"r{n}" for n in range(8, 16)))
"""The general-purpose registers, in the order of their numbers."""


def _x86_64(features: dict[str, bool]) -> Architecture:
    avx = features.get("avx", False)
    # 128 bits, so that upper halves are clean and instructions of SSE need not keep them.
    vectors = [f"{'v' if avx else ''}movups xmm{n}, [rax + {VECTOR}]" for n in range(16)]
    if features.get("avx512vl"):
        vectors += [f"vmovups xmm{n}, [rax + {VECTOR}]" for n in range(16, 32)]
    if features.get("avx512f"):
        kxnor = "kxnorq" if features.get("avx512bw") else "kxnorw"
        vectors += [f"{kxnor} k{n}, k{n}, k{n}" for n in range(8)]
    saved = ["rbx", "rbp", "r12", "r13", "r14", "r15"]
    lines = [
        *(f"push {r}" for r in saved),
        "pushfq",
        f"movabs rax, {STATE}",
        f"mov [rax + {STACK}], rsp",
        "lea rcx, [rip + incc_leave]",
        f"mov [rax + {LEAVE}], rcx",
        f"ldmxcsr [rax + {FLOATING}]",
        "incc_again:",
        f"movabs rax, {STATE}",
        *vectors,
        *(f"mov {r}, [rax + {REGISTERS + 8 * n}]" for n, r in enumerate(X86_GPR) if n),
        f"mov rax, [rax + {REGISTERS}]",
        # Wait for unfinished work of the run before (stores, the end of a chain). Otherwise the two runs would
        # overlap, by more the better the branch predictor foresees the end.
        "mfence",
        "lfence",
        "clc",
        "jmp qword ptr [rip + incc_code]",
        "incc_code:",
        f".quad {CODE}",
        "incc_leave:",
        f"movabs rax, {STATE}",
        f"dec qword ptr [rax + {OUTER}]",
        "jnz incc_again",
        f"mov rsp, [rax + {STACK}]",
        "popfq",
        "cld",
        *(f"pop {r}" for r in reversed(saved)),
        *(["vzeroupper"] if avx else []),
        "emms",
        "ret",
    ]
    return Architecture(
        now=("lfence\nrdtscp\nlfence\nshl rdx, 32\nor rax, rdx", "={rax},~{rdx},~{rcx},~{flags},~{memory}"),
        chain=(f"incc_links:\n.rept {LINKS}\nadd $0, $0\n.endr\ndec $1\njnz incc_links", "=&r,=&r,1,~{flags}"),
        crowd=(
            f"incc_crowd:\n.rept {LINKS // 4}\nadd $0, $0\nadd $1, $1\nadd $2, $2\nadd $3, $3\n"
            "nop\nnop\nnop\nnop\n.endr\ndec $4\njnz incc_crowd",
            "=&r,=&r,=&r,=&r,=&r,4,~{flags}",
        ),
        enter="\n".join(lines),
        floating=0x9FC0,  # MXCSR: denormals are zero, exceptions masked.
    )


def _aarch64(features: dict[str, bool]) -> Architecture:
    """Return AArch64's assembly. It has not been run on hardware yet."""
    pairs = [(f"x{n}", f"x{n + 1}") for n in range(19, 29, 2)] + [("x29", "x30")]
    pairs += [(f"d{n}", f"d{n + 1}") for n in range(8, 16, 2)]
    address = [f"movz x0, #{STATE & 0xFFFF}"]
    address += [f"movk x0, #{STATE >> s & 0xFFFF}, lsl #{s}" for s in (16, 32)]
    lines = [
        *(f"stp {a}, {b}, [sp, #-16]!" for a, b in pairs),
        *address,
        "mov x1, sp",
        f"str x1, [x0, #{STACK}]",
        "adr x1, incc_leave",
        f"str x1, [x0, #{LEAVE}]",
        f"ldr x1, [x0, #{FLOATING}]",
        "msr fpcr, x1",
        "incc_again:",
        *address,
        *(f"ldr q{n}, [x0, #{VECTOR}]" for n in range(32)),
        f"ldr x1, [x0, #{REGISTERS + 8 * 31}]",
        "mov sp, x1",
        *(f"ldr x{n}, [x0, #{REGISTERS + 8 * n}]" for n in range(1, 31) if n != 16),
        f"ldr x0, [x0, #{REGISTERS}]",
        "dsb sy",
        "isb",
        # The jump uses the linker's scratch register, in which no loop can keep a value.
        f"movz x16, #{CODE & 0xFFFF}",
        *(f"movk x16, #{CODE >> s & 0xFFFF}, lsl #{s}" for s in (16, 32)),
        "br x16",
        "incc_leave:",
        *address,
        f"ldr x1, [x0, #{OUTER}]",
        "subs x1, x1, #1",
        f"str x1, [x0, #{OUTER}]",
        "b.ne incc_again",
        f"ldr x1, [x0, #{STACK}]",
        "mov sp, x1",
        *(f"ldp {a}, {b}, [sp], #16" for a, b in reversed(pairs)),
        "ret",
    ]
    return Architecture(
        now=("isb\nmrs $0, cntvct_el0\nisb", "=r,~{memory}"),
        chain=(
            f"incc_links:\n.rept {LINKS}\nadd $0, $0, $0\n.endr\nsubs $1, $1, #1\nb.ne incc_links",
            "=&r,=&r,1,~{cc}",
        ),
        crowd=(
            f"incc_crowd:\n.rept {LINKS // 4}\nadd $0, $0, $0\nadd $1, $1, $1\nadd $2, $2, $2\nadd $3, $3, $3\n"
            "nop\nnop\nnop\nnop\n.endr\nsubs $4, $4, #1\nb.ne incc_crowd",
            "=&r,=&r,=&r,=&r,=&r,4,~{cc}",
        ),
        enter="\n".join(lines),
        floating=1 << 24,  # FPCR: flush to zero.
    )


def leave(machine: str, at: int) -> bytes:
    """Return the code that follows a loop at an address: a jump to the loop's exit."""
    if machine == "x86_64":
        return b"\xff\x25" + (STATE + LEAVE - (at + 6)).to_bytes(4, "little", signed=True)  # jmp [rip + ...]
    literal = (STATE + LEAVE - at) // 4
    return (0x58000010 | literal << 5).to_bytes(4, "little") + 0xD61F0200.to_bytes(4, "little")  # ldr x16; br x16


def align(machine: str, code: bytes) -> bytes:
    """Pad code to whole instructions: words on AArch64, bytes on x86-64."""
    return code if machine == "x86_64" else code + b"\0" * (-len(code) % 4)


ARCHITECTURES = {"x86_64": _x86_64, "aarch64": _aarch64}

_CROWD, _CHAIN = "@crowd(i64 %links)", "@chain(i64 %links)"
_ONCE, _TWICE = "@run(ptr %slot, i64 %n, i64 %m)", "@run(ptr %slot, i64 %n2, i64 %m)"
_SAMPLE = (_CROWD, _CHAIN, _ONCE, _CHAIN, _CROWD, _TWICE, _CHAIN, _CROWD)
"""A sample: a crowd, a chain, `m` times `n` trips, a chain, a crowd, `m` times `2 n` trips, a chain and a crowd.

They follow each other directly, so that a disturbance of one shows in its neighbours.
"""
ROW = len(_SAMPLE)

_STREAM_SAMPLE = (_CROWD, _CHAIN, "@stream(ptr %job, i64 %i)", _CHAIN, _CROWD)
"""A sample of a function that streams through arrays: a crowd, a chain, the function, a chain and a crowd."""
STREAM_ROW = len(_STREAM_SAMPLE)


class StreamJob(ctypes.Structure):
    """A function that streams through four arrays, chunk by chunk: sample i takes chunk i modulo `chunks`."""

    _fields_ = (
        ("function", ctypes.c_void_p),
        ("arrays", ctypes.c_void_p * 4),
        ("iterations", ctypes.c_uint64),
        ("passes", ctypes.c_uint64),
        ("chunks", ctypes.c_uint64),
        ("chunk_bytes", ctypes.c_uint64),
    )


def _sampling(name: str, arguments: str, calls: Sequence[str]) -> str:
    """Return a function that makes some calls `count` times, and stores the ticks that they return."""
    ticks, stores = "", ""
    for n, call in enumerate(calls):
        ticks += f"  %t{n} = call i64 {call}\n"
        stores += f"  %p{n} = getelementptr i64, ptr %row, i64 {n}\n  store i64 %t{n}, ptr %p{n}\n"
    return f"""
define void @{name}({arguments}, i64 %count, ptr %out) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{ticks}
  %at = mul i64 %i, {len(calls)}
  %row = getelementptr i64, ptr %out, i64 %at
{stores}
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


_TEXT = """
declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
declare void @_exit(i32) noreturn

define internal i64 @now() noinline {
  %t = call i64 asm sideeffect @DIALECT@ "@NOW@", "@NOW_CONSTRAINTS@"()
  ret i64 %t
}

define internal i64 @chain(i64 %n) noinline {
  %start = call i64 @now()
  %sum = call { i64, i64 } asm sideeffect @DIALECT@ "@CHAIN@", "@CHAIN_CONSTRAINTS@"(i64 %n)
  %end = call i64 @now()
  %ticks = sub i64 %end, %start
  ret i64 %ticks
}

define internal i64 @crowd(i64 %n) noinline {
  %start = call i64 @now()
  %sum = call { i64, i64, i64, i64, i64 } asm sideeffect @DIALECT@ "@CROWD@", "@CROWD_CONSTRAINTS@"(i64 %n)
  %end = call i64 @now()
  %ticks = sub i64 %end, %start
  ret i64 %ticks
}

define void @enter() naked noinline {
  call void asm sideeffect @DIALECT@ "@ENTER@", ""()
  unreachable
}

define internal i64 @run(ptr %slot, i64 %n, i64 %m) noinline {
  store volatile i64 %n, ptr %slot
  store volatile i64 %m, ptr inttoptr (i64 @OUTER@ to ptr)
  %start = call i64 @now()
  call void @enter()
  %end = call i64 @now()
  %ticks = sub i64 %end, %start
  ret i64 %ticks
}

define internal i64 @stream(ptr %job, i64 %sample) noinline {
entry:
@FIELDS@
  %chunk = urem i64 %sample, %f7
  %offset = mul i64 %chunk, %f8
  %a = add i64 %f1, %offset
  %b = add i64 %f2, %offset
  %c = add i64 %f3, %offset
  %d = add i64 %f4, %offset
  %function = inttoptr i64 %f0 to ptr
  %start = call i64 @now()
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  call void %function(i64 %a, i64 %b, i64 %c, i64 %d, i64 %f5)
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %f6
  br i1 %more, label %loop, label %done
done:
  %end = call i64 @now()
  %ticks = sub i64 %end, %start
  ret i64 %ticks
}

define i64 @incc_empty(i64 %count) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %least = phi i64 [ 1000000, %entry ], [ %kept, %loop ]
  %a = call i64 @now()
  %b = call i64 @now()
  %ticks = sub i64 %b, %a
  %less = icmp ult i64 %ticks, %least
  %kept = select i1 %less, i64 %ticks, i64 %least
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret i64 %kept
}

define void @incc_run(ptr %slot, i64 %n, i64 %m) {
  %ticks = call i64 @run(ptr %slot, i64 %n, i64 %m)
  ret void
}

; SIGSEGV: maps the page that was touched, full of the loop's word, or ends the child saying why not.
define void @incc_fault(i32 %signal, ptr %info, ptr %context) {
entry:
  %where = getelementptr i8, ptr %info, i64 16
  %address = load i64, ptr %where
  %how = getelementptr i8, ptr %info, i64 8
  %code = load i32, ptr %how
  ; SI_KERNEL without an address: x86-64 has a general protection fault of its own for these.
  %kernel = icmp eq i32 %code, 128
  %none = icmp eq i64 %address, 0
  %general = and i1 %kernel, %none
  br i1 %general, label %protected, label %named
protected:
  call void @_exit(i32 @PROTECTION@)
  unreachable
named:
  %size = load i64, ptr inttoptr (i64 @PAGE@ to ptr)
  %minus = sub i64 0, %size
  %page = and i64 %address, %minus
  %low = icmp ult i64 %page, 65536
  %high = icmp ugt i64 %page, 138538465099776
  %bad = or i1 %low, %high
  br i1 %bad, label %address_bad, label %counted
counted:
  %faults = load i64, ptr inttoptr (i64 @FAULTS@ to ptr)
  %now = add i64 %faults, 1
  store i64 %now, ptr inttoptr (i64 @FAULTS@ to ptr)
  %most = load i64, ptr inttoptr (i64 @MOST_FAULTS@ to ptr)
  %many = icmp ugt i64 %now, %most
  br i1 %many, label %too_many, label %mapped
mapped:
  %place = inttoptr i64 %page to ptr
  %got = call ptr @mmap(ptr %place, i64 %size, i32 3, i32 1048610, i32 -1, i64 0)
  %same = icmp eq ptr %got, %place
  br i1 %same, label %filled, label %refused
filled:
  %turn = and i64 %faults, @LAST_TOUCHED@
  %known = getelementptr i64, ptr inttoptr (i64 @TOUCHED@ to ptr), i64 %turn
  store i64 %page, ptr %known
  %words = lshr i64 %size, 3
  br label %fill
fill:
  %i = phi i64 [ 0, %filled ], [ %next, %fill ]
  %turned = and i64 %i, @LAST_WORD@
  %source = getelementptr i64, ptr inttoptr (i64 @MEMORY@ to ptr), i64 %turned
  %content = load i64, ptr %source
  %word = getelementptr i64, ptr %place, i64 %i
  store i64 %content, ptr %word
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %words
  br i1 %more, label %fill, label %done
done:
  ret void
refused:
  %failed = icmp eq ptr %got, inttoptr (i64 -1 to ptr)
  %why = select i1 %failed, i32 @OWN_MEMORY@, i32 @NO_MEMORY@
  call void @_exit(i32 %why)
  unreachable
address_bad:
  call void @_exit(i32 @BAD_ADDRESS@)
  unreachable
too_many:
  call void @_exit(i32 @TOO_MANY_PAGES@)
  unreachable
}
"""


def text(architecture: Architecture, dialect: str) -> str:
    """Return the module's intermediate representation."""
    values = {
        "DIALECT": dialect,
        "NOW": architecture.now[0],
        "NOW_CONSTRAINTS": architecture.now[1],
        "CHAIN": architecture.chain[0],
        "CHAIN_CONSTRAINTS": architecture.chain[1],
        "CROWD": architecture.crowd[0],
        "CROWD_CONSTRAINTS": architecture.crowd[1],
        "ENTER": architecture.enter,
        "LAST_TOUCHED": str(MOST_TOUCHED - 1),
        "LAST_WORD": str(WORDS - 1),
    }
    for name in ("OUTER", "PAGE", "FAULTS", "MOST_FAULTS", "MEMORY", "TOUCHED"):
        values[name] = str(STATE + globals()[name])
    for name in ("BAD_ADDRESS", "TOO_MANY_PAGES", "NO_MEMORY", "OWN_MEMORY", "PROTECTION"):
        values[name] = str(globals()[name])
    module = _TEXT.replace("@FIELDS@", "\n".join(_field(n) for n in range(ctypes.sizeof(StreamJob) // 8)))
    for name, value in values.items():
        module = module.replace(f"@{name}@", value.replace("\n", "\\0A"))
    return (
        module
        + _sampling("incc_samples", "ptr %slot, i64 %n, i64 %n2, i64 %m, i64 %links", _SAMPLE)
        + _sampling("incc_beside", "i64 %links", (_CROWD, _CHAIN))
        + _sampling("incc_streams", "ptr %job, i64 %links", _STREAM_SAMPLE)
    )


def _field(number: int) -> str:
    """Return the assignment of a field of a StreamJob."""
    return f"  %p{number} = getelementptr i64, ptr %job, i64 {number}\n  %f{number} = load i64, ptr %p{number}"


class Native:
    """The compiled functions.

    They are `samples(slot, n, n2, m, links, count, out)`, where n and n2 are the counter's first values of short and
    long runs, `beside(links, count, out)` for crowd and chain, `streams(job, links, count, out)` for a StreamJob,
    `run(slot, n, m)` and `empty(count)`; `fault` is the address of the handler.
    """

    def __init__(self) -> None:
        import llvmlite.binding as llvm

        self.machine = platform.machine()
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.initialize_native_asmparser()
        features = dict(llvm.get_host_cpu_features())
        self.architecture = ARCHITECTURES[self.machine](features)
        target = llvm.Target.from_default_triple().create_target_machine(opt=2, jit=True)
        module = llvm.parse_assembly(text(self.architecture, "inteldialect" if self.machine == "x86_64" else ""))
        module.verify()
        # Keeps the code alive.
        self.engine: Any = llvm.create_mcjit_compiler(module, target)
        self.engine.finalize_object()

        def function(name: str, result: Any, *arguments: Any) -> Any:
            return ctypes.CFUNCTYPE(result, *arguments)(self.engine.get_function_address(name))

        word, pointer = ctypes.c_uint64, ctypes.c_void_p
        self.samples = function("incc_samples", None, pointer, word, word, word, word, word, pointer)
        self.beside = function("incc_beside", None, word, word, pointer)
        self.streams = function("incc_streams", None, pointer, word, word, pointer)
        self.run = function("incc_run", None, pointer, word, word)
        self.empty = function("incc_empty", word, word)
        self.fault: int = self.engine.get_function_address("incc_fault")
