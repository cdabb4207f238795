"""The instruction set x86-64, as `incc.frontends.isa.Isa` describes it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from incc.frontends.isa import (
    APART,
    ByteMarkers,
    CommonWork,
    Effects,
    Evaluator,
    FormWork,
    IntegerDivision,
    Isa,
    NotRunnable,
    ObjectSigns,
    Operation,
    PeakOperation,
    Placement,
    Runnable,
    Syntax,
    TextForm,
    jump_target,
    word_set,
    words,
)
from incc.frontends.kernel import (
    Instruction,
    KernelCode,
    MadeObject,
    MemoryAccess,
    PrecedingBlocks,
    Refused,
    Region,
    RegisterAccess,
)
from incc.frontends.x86.classify import PREFIXES
from incc.frontends.x86.function_starts import after_int3, after_return

if TYPE_CHECKING:
    from incc.frontends.container import Container, ContainerCode, Span
    from incc.frontends.diagnostics import Reading

_FLOAT_COMPARES = word_set("comiss comisd comish")

_BRANCH_OF: dict[str, tuple[str, str]] = {}
_MOST_BRANCHES = 4096
"""The most statements whose kind of branch is cached: a file has most of them many times."""

BRANCHES: dict[str, str] = {
    **dict.fromkeys(
        words(
            "ja jae jb jbe jc je jg jge jl jle jna jnae jnb jnbe jnc jne jng jnge jnl jnle jno jnp jns jnz jo jp jpe"
            " jpo js jz jcxz jecxz jrcxz loop loope loopne loopnz loopz xbegin"
        ),
        "conditional",
    ),
    **dict.fromkeys(words("jmp jmpq jmpl jmpw ljmp ljmpl ljmpq"), "unconditional"),
    **dict.fromkeys(words("call callq calll callw lcall lcalll lcallq"), "call"),
    **dict.fromkeys(
        words(
            "ret retq retl retw retn retf retfq lret lretq lretl lretw iret iretw iretd iretq iretl"
            " sysret sysretq sysretl sysexit sysexitq sysexitl uiret"
        ),
        "return",
    ),
    # Not branches, but control does not continue after them.
    **dict.fromkeys(words("ud0 ud1 ud2 ud2a ud2b"), "stop"),
}
"""The kind of each mnemonic that transfers control, direct or not, in lower case, with and without AT&T's suffixes."""

_REGISTERS = word_set("rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 eax ebx ecx edx esi edi ebp esp")
_OPERAND_WORDS = r"(?i)(?:(?:short|near|far|ptr|offset|[dqf]word)\s+)+"

# Registers in AT&T syntax, which identify nearly every file.
_ATT_REGISTERS = words("%rsp %rax %rdi %rsi %rdx %rcx %rip %xmm %ymm %zmm %eax %edi %rbp")
_SIGN = (
    r"%(?:[re]?[abcd]x|[abcd][lh]|[re]?[sd]il?|[re]?[sb]pl?|rip|r\d+[dwb]?|[xyz]mm\d+|st|k[0-7])\b"
    r"|\.(?:intel|att)_syntax\b"
    r"|\b(?:[re](?:[abcd]x|[sd]i|[sb]p)|rip|r(?:8|9|1[0-5])d?|[xyz]mm\d+)\b"
)
_SYMBOLS = r"(?<![%\w$.])\$?([A-Za-z_.][\w.$]*)"

# Most of the code before vectorised loops.
_KEEPS_POINTERS = re.compile(r"(?:j|cmp(?!xchg)|test|nop|prefetch)|(?!v?pcmp[ei]str).*%[xyz]mm\d+$").match


@lru_cache(1)  # several steps of an analysis ask about its text
def _sign(text: str) -> int:
    if any(register in text for register in _ATT_REGISTERS):
        return 0
    match = re.search(_SIGN, text)
    return match.start() if match else -1


class _X86(Isa):
    name = "x86"
    title = "x86-64"
    targets = ("x86_64", "amd64")
    vector_widths = (128, 256, 512)
    usual_cores = (("generic-x86-64", ""),)
    # GNU as takes `/` for a comment only at the start of a line, but people write `//` anywhere; no operand has it. icc
    # without -g gives lines in remarks, in files that end with its mark.
    syntax = Syntax(
        comments=("#", "//"),
        line_comments="#/",
        dialects={".intel_syntax": "intel", ".att_syntax": ""},
        line_remarks=("..B", '# mark_description "Intel'),
        prefixes=PREFIXES,
        suffixes="bwlq",
        padding="nop",
        synonyms={"movabs": "mov", "movabsq": "mov", "sal": "shl", "jz": "je", "jnz": "jne", "jc": "jb", "jnc": "jae"},
    )
    example = (
        "\t.type f, @function\nf:\n.L1:\n\tvaddpd (%rdi,%rax), %ymm0, %ymm0\n\taddq $32, %rax\n\tcmpq %rsi, %rax\n"
        "\tjne .L1\n\tret\n"
    )
    # IACA's markers, and for 64-bit MSVC, which has no inline assembly, stores to gs:111 and gs:222 (iacaMarks.h
    # of Intel Architecture Code Analyzer 3.0).
    markers = ByteMarkers(
        data=(100, 103, 144),
        nops=frozenset(("fs addr32 nop", "addr32 fs nop")),
        move=r"(?i)movl? (?:\$(\w+), ?%ebx|ebx, ?(\w+))$",
        store=r"(?i)movb? (?:byte ptr )?gs:\[?(?P<number>\w+)\]?, ?(?:(?P<register>al)|\w+)$"
        r"|movb (?:\$\w+|(?P<register2>%al)), ?%gs:(?P<number2>\w+)$",
        store_sign="gs:",
        written={"": "movl\t${}, %ebx", "intel": "mov\tebx, {}"},
        code=(b"\xbb\x6f\0\0\0\x64\x67\x90", b"\xbb\xde\0\0\0\x64\x67\x90"),
    )
    # System V ABI, AMD64 supplement, figure 3.36.
    debug_registers = (*["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"], *[f"r{n}" for n in range(8, 16)])
    # COFF's number: Microsoft's PE format, “Machine Types”; relocations: the x86-64 psABI, table 4.9.
    machine = ObjectSigns(
        names=frozenset(("X86_64", "AMD64")),
        elf=62,
        # System V ABI, AMD64 supplement, "Relocation Types": R_X86_64_PC8, _PC16, _PC32, _PC64, _PLT32, _GOTPCREL,
        # _GOTPCRELX, _REX_GOTPCRELX; R_X86_64_64, _32, _32S.
        pc_relative=frozenset((15, 13, 2, 24, 4, 9, 41, 42)),
        absolute={1: 8, 10: 4, 11: 4},
        unread=dict.fromkeys(
            ("I386", "X86"), "code for x86 of 32 bits, of which incc-mca reads assembly alone (-mtriple=i686)"
        ),
    )
    branch_words = frozenset(BRANCHES) | PREFIXES
    stack_registers = frozenset(("rsp", "rbp"))
    widest_vector = (
        ("EVEX_VADDPD_ZMM_K1Z_ZMM_ZMMM512B64_ER/r", 512),
        ("VEX_VADDPD_YMM_YMM_YMMM256/r", 256),
        ("ADDPD_XMM_XMMM128/r", 128),
    )
    core_option = "-march"
    wide_vectors = "wide-vectors"
    passed_over: Mapping[int, int] = {512: 256}
    # From glibc 2.22 on (its manual, "Vector functions"; math-vector.h). AArch64's has them from 2.38 on, which many
    # systems lack.
    vector_functions = frozenset(name + end for name in ("exp", "log", "pow", "sin", "cos") for end in ("", "f"))
    advice_measured = True
    integer_divisions: Mapping[str, IntegerDivision] = {
        "div": IntegerDivision(0, False, "rdx"),
        "idiv": IntegerDivision(0, True, "rdx"),
    }
    vector_forms: Mapping[int, Mapping[str, str]] = {
        512: {
            "load": "EVEX_VMOVUPD_ZMM_K1Z_ZMMM512/m",
            "store": "EVEX_VMOVUPD_ZMMM512_K1Z_ZMM/m",
            "add": "EVEX_VADDPD_ZMM_K1Z_ZMM_ZMMM512B64_ER/r",
            "integer": "EVEX_VPADDD_ZMM_K1Z_ZMM_ZMMM512B32/r",
            "multiply": "EVEX_VMULPD_ZMM_K1Z_ZMM_ZMMM512B64_ER/r",
            "divide": "EVEX_VDIVPD_ZMM_K1Z_ZMM_ZMMM512B64_ER/r",
            "shuffle": "EVEX_VPERMT2PD_ZMM_K1Z_ZMM_ZMMM512B64/r",
            "convert": "EVEX_VCVTDQ2PD_ZMM_K1Z_YMMM256B32_ER/r",
            "root": "EVEX_VSQRTPD_ZMM_K1Z_ZMMM512B64_ER/r",
            "gather": "EVEX_VGATHERDPD_ZMM_K1_VM32Y/m",
        },
        256: {
            "load": "VEX_VMOVUPD_YMM_YMMM256/m",
            "store": "VEX_VMOVUPD_YMMM256_YMM/m",
            "add": "VEX_VADDPD_YMM_YMM_YMMM256/r",
            "integer": "VEX_VPADDD_YMM_YMM_YMMM256/r",
            "multiply": "VEX_VMULPD_YMM_YMM_YMMM256/r",
            "divide": "VEX_VDIVPD_YMM_YMM_YMMM256/r",
            "shuffle": "VEX_VPERM2F128_YMM_YMM_YMMM256_IMM8/r",
            "convert": "VEX_VCVTDQ2PD_YMM_XMMM128/r",
            "root": "VEX_VSQRTPD_YMM_YMMM256/r",
            "gather": "VEX_VGATHERDPD_YMM_VM32X_YMM/m",
        },
        128: {
            "load": "MOVUPD_XMM_XMMM128/m",
            "store": "MOVUPD_XMMM128_XMM/m",
            "add": "ADDPD_XMM_XMMM128/r",
            "integer": "PADDD_XMM_XMMM128/r",
            "multiply": "MULPD_XMM_XMMM128/r",
            "divide": "DIVPD_XMM_XMMM128/r",
            "shuffle": "SHUFPS_XMM_XMMM128_IMM8/r",
            "convert": "CVTDQ2PD_XMM_XMMM64/r",
            "root": "SQRTPD_XMM_XMMM128/r",
        },
    }

    def sign(self, text: str) -> int:
        return _sign(text)

    def in_gnu_syntax(self, text: str) -> str:
        if any(register in text for register in _ATT_REGISTERS):
            return text
        from incc.frontends.x86.dialect import in_gnu_syntax

        return in_gnu_syntax(text)

    def branch(self, text: str) -> tuple[str, str]:
        condition = _BRANCH_OF.get(text)
        if condition is None:
            if len(_BRANCH_OF) >= _MOST_BRANCHES:
                _BRANCH_OF.clear()
            condition = _BRANCH_OF[text] = self._branch(text)
        return condition

    def _branch(self, text: str) -> tuple[str, str]:
        mnemonic, _, operand = text.partition(" ")
        mnemonic = mnemonic.lower()
        kind = BRANCHES.get(mnemonic, "")
        if not kind:
            while mnemonic in PREFIXES or mnemonic[:1] == "{":
                mnemonic, _, operand = operand.partition(" ")
                mnemonic = mnemonic.lower()
                kind = BRANCHES.get(mnemonic, "")
            if "," in mnemonic:  # `jne,pn`: a branch hint
                kind = BRANCHES.get(mnemonic.split(",", 1)[0], "")
        if kind in ("", "return", "stop"):
            return kind, ""
        operand = operand.strip()
        if operand[:1] in ("*", "%") or "[" in operand or operand.lower() in _REGISTERS:
            return ("call" if kind == "call" else "indirect"), ""
        if " " in operand and operand[0] != '"':
            operand = re.sub(_OPERAND_WORDS, "", operand)
        return kind, jump_target(operand)

    def symbols(self, text: str) -> list[str]:
        return re.findall(_SYMBOLS, text)

    def keeps_pointers(self, text: str) -> object:
        return _KEEPS_POINTERS(text)

    def on_frame(self, access: MemoryAccess) -> bool:
        base = access.base
        if base is None or access.index is not None or access.segment:
            return False
        # rbp may hold no frame pointer; then, unlike in a frame, there is rarely anything below its address.
        return base.root == "rsp" or (base.root == "rbp" and access.displacement < 0)

    def caller(self, values: Mapping[str, int]) -> tuple[Instruction, ...]:
        from incc.frontends.x86.caller import caller

        return caller(values)

    def work_of(self, instruction: Instruction) -> str:
        from incc.frontends.x86.work.instructions import work_of

        return work_of(instruction)

    def is_aligned(self, instruction: Instruction) -> bool:
        from incc.frontends.x86.work.instructions import is_aligned

        return is_aligned(instruction)

    def level_bits(self, target: str) -> int:
        # Its psABI, "Micro-architecture levels".
        return {"x86-64": 128, "x86-64-v2": 128, "x86-64-v3": 256, "x86-64-v4": 512}.get(target, 0)

    def is_non_temporal(self, mnemonic: str) -> bool:
        # movntdqa loads; it is an ordinary load from ordinary memory (Intel's manual, volume 2).
        if mnemonic in ("movdiri", "movdir64b"):
            return True
        return mnemonic.removeprefix("v").startswith("movnt") and not mnemonic.endswith("movntdqa")

    def moves_lines(self, mnemonic: str) -> Literal["", "early", "other"]:
        if mnemonic.startswith("prefetch"):
            return "early"
        return "other" if mnemonic in ("clflush", "clflushopt", "clwb", "cldemote", "clzero", "wbinvd") else ""

    def nan_direction(self, setter: Instruction, branch: Instruction) -> bool | None:
        # These comparisons set the parity flag if an operand is no number (Intel's manual, volume 2, UCOMISD).
        if setter.mnemonic.removeprefix("v").removeprefix("u") not in _FLOAT_COMPARES:
            return None
        return {"jp": True, "jpe": True, "jnp": False, "jpo": False}.get(branch.mnemonic)

    def operation(self, mnemonic: str, text: str = "") -> Operation | None:
        from incc.frontends.x86.operations import operation

        return operation(mnemonic)

    def form_work(self, form: str) -> FormWork:
        from incc.frontends.x86.work.forms import form_work

        return form_work(form)

    @property
    def common_work(self) -> tuple[CommonWork, ...]:
        from incc.frontends.x86.work.common import WORK

        return WORK

    def peak_forms(self, operation: PeakOperation, element: int, width: int) -> tuple[str, ...]:
        from incc.frontends.x86.work.common import peak_forms

        return peak_forms(operation, element, width)

    def register_counts(self, instructions: Sequence[Instruction]) -> Mapping[str, int]:
        used = [access.register for instruction in instructions for access in instruction.registers]
        vectors = [register for register in used if register.kind == "vector"]
        # Only AVX-512 has more, and code that uses neither these nor its widest vectors may not be allowed to use it.
        wide = any(vector.width == 512 or int(vector.root.removeprefix("zmm")) >= 16 for vector in vectors)
        return {"general": 16, "vector": 32 if wide else 16}

    def advice_class(self, mnemonic: str, text: str = "") -> str:
        from incc.frontends.x86.classify import operation_of

        return operation_of(mnemonic)

    def llvm_names(self, text: str) -> object:
        from incc.frontends.x86.statements import Names

        return Names(text)

    def other_elements(self, instruction: Instruction) -> RegisterAccess | None:
        from incc.frontends.x86.work.merging import other_elements

        return other_elements(instruction)

    def reads_lowest(self, mnemonic: str) -> bool:
        from incc.frontends.x86.work.merging import reads_lowest

        return reads_lowest(mnemonic)

    def clearing(self, instruction: Instruction) -> Instruction | None:
        from incc.frontends.x86.work.merging import clearing

        return clearing(instruction)

    def no_operation(self, instruction: Instruction) -> tuple[Instruction, ...]:
        from incc.frontends.x86.work.removal import no_operation

        return no_operation(instruction)

    def without_access(
        self, instruction: Instruction, written: Collection[str], read: Sequence[str], move: bool
    ) -> tuple[Instruction, ...] | None:
        from incc.frontends.x86.work.removal import without_access

        return without_access(instruction, written, read, move)

    def without_arithmetic(self, instruction: Instruction) -> tuple[Instruction, ...]:
        from incc.frontends.x86.work.removal import without_arithmetic

        return without_arithmetic(instruction)

    def widened(self, instruction: Instruction, times: int, element: int, bits: int) -> tuple[Instruction, ...]:
        from incc.frontends.x86.work.rewriting import widened

        return widened(instruction, times, element, vex=bits >= 256)

    def fused(self, product: Instruction, addition: Instruction) -> tuple[Instruction, ...]:
        from incc.frontends.x86.work.rewriting import fused

        return fused(product, addition)

    def unfolded(self, instruction: Instruction) -> tuple[Instruction, ...]:
        from incc.frontends.x86.work.rewriting import unfolded

        return unfolded(instruction)

    def joined(self, element: int, bits: int, apart: bool) -> tuple[Instruction, ...]:
        from incc.frontends.x86.work.rewriting import joined

        return joined(element, bits, bits >= 256, apart)

    def is_unusual(self, text: str, triple: str) -> bool:
        from incc.frontends.x86.llvm.reading import unusual

        return unusual(text, triple)

    def llvm_reading(self, text: str, triple: str, core: str, features: Sequence[str], trusted: bool) -> Reading | None:
        from incc.frontends.x86.llvm.reading import read

        # The parser takes the instructions of any core.
        return read(text, triple, trusted)

    def llvm_text(self, instruction: Instruction, syntax: str, hexadecimal: bool = False, names: object = None) -> str:
        from incc.frontends.x86.llvm.text import printed
        from incc.frontends.x86.statements import Names

        if not instruction.line:  # not a statement, but the decoder's text; the bytes suffice
            instruction = replace(instruction, text="")
        return printed(instruction, syntax, hexadecimal, names if isinstance(names, Names) else None)

    def llvm_encoding(self, instruction: Instruction, names: object = None) -> bytes:
        from incc.frontends.x86.llvm.text import encoding
        from incc.frontends.x86.statements import Names

        return encoding(instruction, names if isinstance(names, Names) else None)

    def llvm_effects(self, instruction: Instruction) -> Effects:
        from incc.frontends.x86.llvm.flags import effects

        return effects(instruction)

    def load(self) -> object:
        from incc.frontends.x86 import decode, kernels

        return decode, kernels

    def decode_regions(
        self,
        text: str,
        regions: Sequence[Region],
        file_name: str,
        assembler: Sequence[str] | None = None,
        before: Sequence[PrecedingBlocks | None] = (),
        checked: Sequence[int] = (),
        trusted: bool = False,
        made: MadeObject | None = None,
    ) -> list[KernelCode]:
        from incc.frontends.x86.kernels import decode_regions

        return decode_regions(text, regions, file_name, assembler, before, checked, trusted, made)

    def decode_bytes(
        self, code: bytes, name: str = "block", is_loop: bool | None = None, text: bool = True
    ) -> KernelCode:
        from incc.frontends.x86.kernels import decode_bytes

        return decode_bytes(code, name, is_loop, text)

    def function_starts(self, code: bytes | memoryview, start: int, end: int, address: int) -> Iterable[int]:
        return after_int3(code, start, end, address)

    def dividing_place(self, code: bytes | memoryview, start: int, end: int, address: int) -> int:
        return after_return(code, start, end, address)

    def container_kernels(self, container: Container, paces: bool) -> ContainerCode:
        from incc.frontends.machine_code import container_kernels
        from incc.frontends.x86.objects import X86Disassembler

        return container_kernels(container, paces, X86Disassembler())

    def container_spans(self, container: Container, spans: Sequence[Span]) -> ContainerCode:
        from incc.frontends.machine_code import container_spans
        from incc.frontends.x86.objects import X86Disassembler

        return container_spans(container, spans, X86Disassembler())

    def evaluator(self) -> Evaluator:
        from incc.frontends.x86.evaluate import IntegerEvaluator

        return IntegerEvaluator()

    def runnable(self, kernel: KernelCode, placement: Placement = APART) -> Runnable | NotRunnable:
        from incc.frontends.x86.runnable import runnable

        return runnable(kernel, placement)

    def text_forms(
        self, text: str, statements: Sequence[tuple[int, str]], file_name: str
    ) -> Iterator[TextForm | Refused]:
        lines = tuple(line for line, _ in statements)
        if not lines:
            return
        region = Region(
            kind="file", name=file_name, first_line=lines[0], last_line=lines[-1], lines=lines, body_lines=lines
        )
        for kernel in self.decode_regions(text, [region], file_name):
            for i in kernel.instructions:
                yield TextForm(form=i.form, traits=i.traits, text=i.text, line=i.line)
            yield from kernel.refused


ISA = _X86()
