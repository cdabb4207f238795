"""The instruction set AArch64, as `incc.frontends.isa.Isa` describes it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from incc.frontends.aarch64.branches import BRANCHES
from incc.frontends.isa import (
    SCALABLE,
    ByteMarkers,
    CommonWork,
    Effects,
    FormWork,
    IntegerDivision,
    Isa,
    LlvmDialect,
    LlvmRow,
    ObjectSigns,
    Operation,
    PeakOperation,
    Syntax,
    TextForm,
    jump_target,
)
from incc.frontends.kernel import Instruction, KernelCode, MadeObject, MemoryAccess, PrecedingBlocks, Refused, Region

if TYPE_CHECKING:
    from incc.frontends.container import Container, ContainerCode, Span
    from incc.frontends.diagnostics import Reading

_MOST_BITS = 2048
"""The bits of the longest vectors that SVE allows."""
_SIGN = r"(?<![\w%$.])(?:[xw](?:[12]?\d|30|zr)|[vz][0-3]?\d\.\d*[bhsdq]|[qd][0-3]?\d|sp)(?:[,\]/ !]|$)"
_SYMBOLS = r"(?<![\w$.]):?(?:lo12:)?([A-Za-z_.][\w.$]*)"


# The first that fits a mnemonic says what kind of work it is.
_WORK = (
    (r"fn?ml[as]|fn?m(?:add|sub)|fcmla", "FMAs"),
    (r"f(?:add|sub|abd|neg|abs|cadd)", "floating-point additions"),
    (r"fn?mul", "floating-point multiplications"),
    (r"fdiv|fdivr", "divisions"),
    (r"fsqrt", "square roots"),
    (r"f(?:recp|rsqrt)", "approximate reciprocals"),
    (r"f(?:max|min)", "maxima and minima"),
    (r"fcvt|[su]cvtf|frint|[su]?q?xtn|[su]xtl|[su]shll", "conversions"),
    (r"fcm|fac|cm[a-z]{2}\b", "vector comparisons"),
    (r"tbl|tbx|zip|uzp|trn|ext\b|rev|dup|ins\b|splice|compact|sel\b", "shuffles"),
    (r"s?u?m(?:ul|add|sub|ull|la|ls|lal)|[su]?dot|mneg", "integer multiplications"),
    (r"[su]div", "integer divisions"),
    (r"add|sub|adc|sbc|neg|inc|dec", "integer additions"),
    (r"cmp|cmn|tst", "comparisons"),
    (r"and|orr|orn|eor|bic|mvn", "logic"),
    (r"ls[lr]|asr|ror|[su]bf|[su]sh", "shifts"),
    (r"cs[a-z]{2,3}\b|cset", "conditional moves"),
    (r"aes|sha|pmull", "cryptography"),
    (r"f?mov", "moves"),
)


_APPLE = r"^[ \t]*\.(?:subsections_via_symbols|build_version)\b|;[ \t]*(?:%bb\.\d|=>[ \t]*This|@\w|kill: def|-- Begin)"
"""A sign of output for Apple's assembler, where `;` begins a comment: a directive, or one of clang's comments."""


@lru_cache(1 << 12)
def _work_of(mnemonic: str) -> str:
    return next((name for pattern, name in _WORK if re.match(pattern, mnemonic)), "other computation")


class _AArch64(Isa):
    name = "aarch64"
    title = "AArch64"
    targets = ("aarch64", "arm64")
    vector_widths = (128, SCALABLE)
    usual_cores = (("neoverse-n2", r"^armv9|\+sve2"), ("neoverse-v1", r"\+sve"), ("neoverse-n1", ""))
    generic_core = ("cortex-a510", "the Cortex-A510")  # ProcessorModel<"generic"> in LLVM's AArch64Processors.td
    syntax = Syntax(comments=("//",), line_comments="#", padding="nop")
    example = "\t.type f, %function\nf:\n.L1:\n\tsubs x0, x0, 1\n\tb.ne .L1\n\tret\n"
    # OSACA's: a move to x1 and a no-operation as bytes (the section on markers of its README).
    markers = ByteMarkers(
        data=(213, 3, 32, 31),
        move=r"(?i)movz? [xw]1, ?#?(\w+)$",
        written={"": "mov\tx1, #{}"},
        # movz x1, #111 and #222, then the four bytes as they stand in memory.
        code=(b"\xe1\x0d\x80\xd2\xd5\x03\x20\x1f", b"\xc1\x1b\x80\xd2\xd5\x03\x20\x1f"),
    )
    # DWARF for the Arm 64-bit Architecture, 4.1.
    debug_registers = (*[f"x{n}" for n in range(31)], "sp")
    # COFF's number: Microsoft's PE format, “Machine Types”; relocations: ELF for the Arm 64-bit Architecture, 5.7.
    machine = ObjectSigns(
        names=frozenset(("AARCH64", "ARM64")),
        elf=183,
        # ELF for the Arm 64-bit architecture, "Static relocations": R_AARCH64_PREL64, _PREL32, _PREL16; _ABS64, _ABS32.
        pc_relative=frozenset((260, 261, 262)),
        absolute={257: 8, 258: 4},
        maps_data=True,
    )
    branch_words = frozenset(BRANCHES)
    stack_registers = frozenset(("sp", "x29"))
    core_option = "-mcpu"
    wide_vectors = "scalable-vectors"
    passed_over: Mapping[int, int] = dict.fromkeys((256, 512, 1024, 2048), 128)
    lacking_options = frozenset(("-fveclib=libmvec",))  # clang has the names of x86's functions only
    widest_vector = (("fadd/z.d,z.d,z.d", 0), ("fadd/v.2d,v.2d,v.2d", 128))
    integer_divisions: Mapping[str, IntegerDivision] = {
        "udiv": IntegerDivision(2, False),
        "sdiv": IntegerDivision(2, True),
    }
    vector_forms: Mapping[int, Mapping[str, str]] = {
        128: {
            "load": "ldr/q,[x]",
            "store": "str/q,[x]",
            "add": "fadd/v.2d,v.2d,v.2d",
            "integer": "add/v.4s,v.4s,v.4s",
            "multiply": "fmul/v.2d,v.2d,v.2d",
            "divide": "fdiv/v.2d,v.2d,v.2d",
            "shuffle": "zip1/v.4s,v.4s,v.4s",
            "convert": "scvtf/v.2d,v.2d",
            "root": "fsqrt/v.2d,v.2d",
        },
        0: {
            "load": "ld1d/{z.d*1},p/z,[x]",
            "store": "st1d/{z.d*1},p,[x]",
            "add": "fadd/z.d,z.d,z.d",
            "integer": "add/z.s,z.s,z.s",
            "multiply": "fmul/z.d,z.d,z.d",
            "divide": "fdiv/z.d,p/m,z.d,z.d",
            "shuffle": "zip1/z.d,z.d,z.d",
            "convert": "scvtf/z.d,p/m,z.d",
            "root": "fsqrt/z.d,p/m,z.d",
            "gather": "ld1d/{z.d*1},p/z,[x,z.d,lsl#]",
        },
    }

    def level_bits(self, target: str) -> int:
        if target.endswith("+nosve"):
            return 128
        if not target.startswith(("armv8", "armv9")):
            return 0
        return _MOST_BITS if target.startswith("armv9") or "+sve" in target else 128

    def in_gnu_syntax(self, text: str) -> str:
        return text.replace(";", "//") if re.search(_APPLE, text, re.MULTILINE) else text

    def sign(self, text: str) -> int:
        match = re.search(_SIGN, text, re.MULTILINE)
        return match.start() if match else -1

    def branch(self, text: str) -> tuple[str, str]:
        mnemonic, _, operand = text.partition(" ")
        mnemonic = mnemonic.lower()
        kind = BRANCHES.get(mnemonic, "")
        if kind in ("", "return", "stop", "indirect") or (kind == "call" and mnemonic != "bl"):
            return kind, ""
        return kind, jump_target(operand.rpartition(",")[2].strip())

    def written_out(self, text: str) -> str:
        from incc.frontends.aarch64.written_out import written_out

        return written_out(text)

    def symbols(self, text: str) -> list[str]:
        return re.findall(_SYMBOLS, text)

    def work_of(self, instruction: Instruction) -> str:
        return _work_of(instruction.text.lower().strip().partition(" ")[0])

    def is_non_temporal(self, mnemonic: str) -> bool:
        return mnemonic == "stnp" or mnemonic.startswith("stnt1")

    def moves_lines(self, mnemonic: str) -> Literal["", "early", "other"]:
        if re.fullmatch(r"r?prfu?m|prf[bhwd]", mnemonic):
            return "early"
        # Data-cache maintenance, and the instructions that copy and set memory (FEAT_MOPS).
        return "other" if re.fullmatch(r"dc|cpyf?[pme][rwtn]*|setg?[pme]t?n?", mnemonic) else ""

    def on_frame(self, access: MemoryAccess) -> bool:
        return access.base is not None and access.base.root == "sp" and access.index is None

    def operation(self, mnemonic: str, text: str = "") -> Operation | None:
        from incc.frontends.aarch64.operations import operation

        return operation(mnemonic, text.partition(" ")[2])

    def form_work(self, form: str) -> FormWork:
        from incc.frontends.aarch64.operations import form_work

        return form_work(form)

    def advice_class(self, mnemonic: str, text: str = "") -> str:
        from incc.frontends.aarch64.operations import advice_class

        return advice_class(mnemonic, text.partition(" ")[2])

    def nan_direction(self, setter: Instruction, branch: Instruction) -> bool | None:
        # These comparisons set V if an operand is no number (Arm Architecture Reference Manual, "FPCompare").
        if setter.mnemonic not in ("fcmp", "fcmpe"):
            return None
        return {"vs": True, "vc": False}.get(branch.mnemonic.removeprefix("b").removeprefix("."))

    @property
    def common_work(self) -> tuple[CommonWork, ...]:
        from incc.frontends.aarch64.common_work import WORK

        return WORK

    def peak_forms(self, operation: PeakOperation, element: int, width: int) -> tuple[str, ...]:
        from incc.frontends.aarch64.common_work import peak_forms

        return peak_forms(operation, element, width)

    def load(self) -> object:
        from incc.frontends.aarch64 import kernels

        return kernels

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
        from incc.frontends.aarch64.kernels import decode_regions

        return decode_regions(text, regions, before, checked)

    def decode_bytes(
        self, code: bytes, name: str = "block", is_loop: bool | None = None, text: bool = True
    ) -> KernelCode:
        from incc.frontends.aarch64.kernels import decode_bytes

        return decode_bytes(code, name, is_loop)

    def container_kernels(self, container: Container, paces: bool) -> ContainerCode:
        from incc.frontends.aarch64.objects import A64Disassembler
        from incc.frontends.machine_code import container_kernels

        return container_kernels(container, paces, A64Disassembler())

    def container_spans(self, container: Container, spans: Sequence[Span]) -> ContainerCode:
        from incc.frontends.aarch64.objects import A64Disassembler
        from incc.frontends.machine_code import container_spans

        return container_spans(container, spans, A64Disassembler())

    def register_counts(self, instructions: Sequence[Instruction]) -> Mapping[str, int]:
        return {"general": 31, "vector": 32}

    def no_operation(self, instruction: Instruction) -> tuple[Instruction, ...]:
        from incc.frontends.aarch64.rewriting import no_operation

        return no_operation(instruction)

    def without_access(
        self, instruction: Instruction, written: Collection[str], read: Sequence[str], move: bool
    ) -> tuple[Instruction, ...] | None:
        from incc.frontends.aarch64.rewriting import without_access

        return without_access(instruction, written, read, move)

    def llvm_text(self, instruction: Instruction, syntax: str, hexadecimal: bool = False, names: object = None) -> str:
        from incc.frontends.aarch64.llvm import printed

        return printed(instruction)

    def llvm_rows(self, statements: Sequence[str], dialect: LlvmDialect) -> list[LlvmRow]:
        from incc.frontends.aarch64.assembler import assembled

        return assembled(statements, dialect)

    def widened(self, instruction: Instruction, times: int, element: int, bits: int) -> tuple[Instruction, ...]:
        from incc.frontends.aarch64.rewriting import widened

        return widened(instruction, times, bits)

    def fused(self, product: Instruction, addition: Instruction) -> tuple[Instruction, ...]:
        from incc.frontends.aarch64.rewriting import fused

        return fused(product, addition)

    def is_unusual(self, text: str, triple: str) -> bool:
        # This package's reader accepts operands that assemblers refuse.
        return True

    def llvm_reading(self, text: str, triple: str, core: str, features: Sequence[str], trusted: bool) -> Reading:
        from incc.frontends.aarch64.assembler import read

        return read(text, triple, core, features, trusted)

    def llvm_effects(self, instruction: Instruction) -> Effects:
        from incc.frontends.aarch64.llvm import effects

        return effects(instruction)

    def text_forms(
        self, text: str, statements: Sequence[tuple[int, str]], file_name: str
    ) -> Iterator[TextForm | Refused]:
        from incc.frontends.aarch64.forms import form_of

        for line, statement in statements:
            try:
                form, traits = form_of(statement)
            except ValueError as error:
                yield Refused(line, statement, str(error))
                continue
            yield TextForm(form=form, traits=traits, text=statement, line=line)


ISA = _AArch64()
