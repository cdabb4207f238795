"""The x86 decoder against what the manuals say about tricky instructions."""

from __future__ import annotations

from typing import Any

import iced_x86
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iced_x86 import OpAccess, OpKind
from msgspec.structs import astuple

from incc.frontends.asm.entry import EntryBlock, effects_of
from incc.frontends.kernel import Affine, Arithmetic, Instruction, Register, Sum
from incc.frontends.x86.assembler import assemble
from incc.frontends.x86.convention import CONVENTION
from incc.frontends.x86.decode import (
    _ALIKE,
    _DECODED,
    UndecodableError,
    constant_offsets,
    decode,
    form_key,
    traits,
)
from incc.frontends.x86.iced import REGISTER_NAMES, Narrow, bits_of
from incc.frontends.x86.objects import encoding_effects
from properties import examples


def decoded(text: str) -> Instruction:
    """One statement in Intel syntax, assembled and decoded."""
    result = assemble(f".intel_syntax noprefix\n{text}\n", [2])
    assert not result.refused, result.refused
    (statement,) = result.statements[2]
    instruction = decode(statement.code, 0, text, 2, statement.relocations, statement.section)
    assert instruction.length == len(statement.code)
    return instruction


def accesses(text: str) -> list[str]:
    """Register accesses as strings: name, r/w, operand, and marks for merging, conditional, address."""
    found = []
    for a in decoded(text).registers:
        kind = "r" * a.read + "w" * a.write
        marks = "m" * a.merges + "c" * a.conditional + "a" * a.address
        found.append(
            f"{a.register.name}:{kind}:{'-' if a.operand is None else a.operand}" + (f":{marks}" if marks else "")
        )
    return found


def decoded_narrow(text: str) -> Instruction:
    """One statement in AT&T syntax, as code of 32-bit mode."""
    result = assemble(f".code32\n{text}\n", [2])
    assert not result.refused, result.refused
    (statement,) = result.statements[2]
    return decode(statement.code, 0, text, 2, statement.relocations, statement.section)


@pytest.mark.parametrize(
    ("text", "form", "code"),
    [
        ("incl %ecx", "INC_RM32/r", "41"),
        ("decw %ax", "DEC_RM16/r", "66 48"),
        ("pushl %eax", "PUSH_R64/r", "50"),
        ("pushl 4(%ebx)", "PUSH_RM64/m", "ff 73 04"),
        ("pushl $1", "PUSHQ_IMM8/r", "6a 01"),
        ("popf", "POPFQ/r", "9d"),
        ("ret", "RETNQ/r", "c3"),
        ("ret $4", "RETNQ_IMM16/r", "c2 04 00"),
        ("jmp *%eax", "JMP_RM64/r", "ff e0"),
        ("call *(%eax)", "CALL_RM64/m", "ff 10"),
        ("jne f", "JNE_REL32_64/r", "0f 85 00 00 00 00"),
        ("jecxz .", "JECXZ_REL8_64/r", "e3 fe"),
        ("jcxz .", "JECXZ_REL8_64/r", "67 e3 fd"),
        ("loop .", "LOOP_REL8_64_ECX/r", "e2 fe"),
        ("movl f, %eax", "MOV_EAX_MOFFS32/m", "a1 00 00 00 00"),
        ("les (%eax), %ebx", "LES_R32_M1632/m", "c4 18"),
        ("aaa", "AAA/r", "37"),
        ("salc", "SALC/r", "d6"),  # which GNU as does not know
    ],
)
def test_code_of_32_bits_is_read_in_its_own_mode(text: str, form: str, code: str) -> None:
    """Its forms are those of 64-bit mode that do the same, where there are such: they have figures."""
    instruction = decoded_narrow(text)
    assert (instruction.form, instruction.encoding.hex(" ")) == (form, code)


def test_the_same_bytes_are_other_instructions_in_the_other_mode() -> None:
    narrow, wide = decode(Narrow(b"\x48\x89\xc3")), decode(b"\x48\x89\xc3")
    again = decode(Narrow(b"\x48\x89\xc3"))
    assert (narrow.text, wide.text, again.text) == ("dec %eax", "mov %rax, %rbx", "dec %eax")
    assert Narrow(b"\x90") != b"\x90"
    assert bytes([0x90]) != Narrow(b"\x90")
    assert len({b"\x90", Narrow(b"\x90"), Narrow(b"\x90")}) == 2
    with pytest.raises(UndecodableError, match="of 32-bit mode"):
        decode(Narrow(b"\x0f\x05"[:1]))


def test_modes_change_where_the_text_says_so() -> None:
    text = "pushq %rax\n.code32; pushl %eax; incl %eax # .code64\npushl %eax\n.code64\npushq %rax\n"
    result = assemble(text, [1, 2, 3, 5])
    assert not result.refused
    found = [(s.code.hex(), bits_of(s.code)) for line in (1, 2, 3, 5) for s in result.statements[line]]
    assert found == [("50", 64), ("50", 32), ("40", 32), ("50", 32), ("50", 64)]


def test_addresses_of_32_bit_mode() -> None:
    instruction = decoded_narrow("movl -4(%ebp,%ecx,2), %eax")
    (access,) = instruction.memory
    assert (access.displacement, access.base and access.base.name, access.scale) == (-4, "ebp", 2)
    assert decoded_narrow("leave").affine == Affine("rsp", (("rbp", 1),), 4)
    assert decoded_narrow("pushl %eax").affine == Affine("rsp", (("rsp", 1),), -4)


def memory(text: str) -> list[str]:
    """Memory accesses as strings: address, size, l/s, operand, and elements above one."""
    found = []
    for m in decoded(text).memory:
        parts = [m.base.name] if m.base is not None else []
        if m.index is not None:
            parts.append(f"{m.index.name}*{m.scale}")
        address = (m.segment + ":" if m.segment else "") + "+".join(parts)
        if m.symbol:
            address += m.symbol
        kind = "l" * m.load + "s" * m.store
        operand = "-" if m.operand is None else m.operand
        found.append(
            f"{address}{m.displacement:+d} {m.size}{kind} {operand}" + (f" x{m.elements}" if m.elements > 1 else "")
        )
    return found


@pytest.mark.parametrize(
    ("text", "constants"),
    [
        ("mov rax, rbx", 0),
        ("mov rax, [rsi]", 0),
        ("mov rax, [rbp]", 1),
        ("mov rax, [rsi+1000]", 1),
        ("mov dword ptr [rsi+8], 70000", 2),
        ("mov rax, 0x123456789abcdef0", 2),
        ("movabs rax, [0x123456789abcdef0]", 2),
        ("shl rax", 0),
        ("shl rax, 3", 1),
        ("jne .L3", 1),
        ("enter 16, 1", 2),
    ],
)
def test_constants_of_an_encoding(text: str, constants: int) -> None:
    assert decoded(text).constants == constants


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Partial registers: 8 and 16 bits keep the rest, 32 bits clear the upper half.
        ("mov al, bl", ["al:w:0:m", "bl:r:1"]),
        ("mov ah, 5", ["ah:w:0:m"]),
        ("mov sil, r8b", ["sil:w:0:m", "r8b:r:1"]),
        ("add ax, 3", ["ax:rw:0:m"]),
        ("mov eax, ebx", ["eax:w:0", "ebx:r:1"]),
        ("adc rax, rbx", ["rax:rw:0", "rbx:r:1"]),
        ("movzx eax, bh", ["eax:w:0", "bh:r:1"]),
        ("sete al", ["al:w:0:m"]),
        ("xchg al, ah", ["al:rw:0:m", "ah:rw:1:m"]),
        # Legacy SSE keeps the upper half of the vector register, VEX clears it.
        ("movaps xmm0, xmm1", ["xmm0:w:0:m", "xmm1:r:1"]),
        ("movsd xmm0, xmm1", ["xmm0:rw:0:m", "xmm1:r:1"]),
        ("movsd xmm0, [rax]", ["xmm0:w:0:m", "rax:r:-:a"]),
        ("cvtsi2sd xmm0, eax", ["xmm0:rw:0:m", "eax:r:1"]),
        ("vcvtsi2sd xmm0, xmm1, eax", ["xmm0:w:0", "xmm1:r:1", "eax:r:2"]),
        ("vaddsd xmm0, xmm1, xmm2", ["xmm0:w:0", "xmm1:r:1", "xmm2:r:2"]),
        ("vfmadd231pd ymm0, ymm1, [rax]", ["ymm0:rw:0", "ymm1:r:1", "rax:r:-:a"]),
        ("paddd mm0, mm1", ["mm0:rw:0", "mm1:r:1"]),
        ("vzeroupper", []),
        # Masks.
        ("vaddpd zmm0{k1}, zmm1, zmm2", ["zmm0:rw:0:c", "zmm1:r:1", "zmm2:r:2", "k1:r:-1"]),
        ("vaddpd ymm0{k1}, ymm1, ymm2", ["ymm0:rw:0:c", "ymm1:r:1", "ymm2:r:2", "k1:r:-1"]),
        ("vaddpd zmm0{k1}{z}, zmm1, zmm2", ["zmm0:w:0", "zmm1:r:1", "zmm2:r:2", "k1:r:-1"]),
        ("vcmppd k1{k2}, zmm0, zmm1, 1", ["k1:w:0", "zmm0:r:1", "zmm1:r:2", "k2:r:-1"]),
        ("vmovupd [rax]{k1}, zmm0", ["rax:r:-:a", "zmm0:r:1", "k1:r:-1"]),
        ("vpxord zmm0{k1}, zmm1, zmm1", ["zmm0:rw:0:c", "zmm1:r:1", "zmm1:r:2", "k1:r:-1"]),
        ("vgatherdpd ymm0, [rax+xmm1*8], ymm2", ["ymm0:rw:0:c", "rax:r:-:a", "xmm1:r:-:a", "ymm2:rw:2"]),
        ("vgatherdpd zmm0{k1}, [rax+ymm1*8]", ["zmm0:rw:0:c", "rax:r:-:a", "ymm1:r:-:a", "k1:rw:-1"]),
        ("vscatterdpd [rax+ymm1*8]{k1}, zmm0", ["rax:r:-:a", "ymm1:r:-:a", "zmm0:r:1", "k1:rw:-1"]),
        # Conditional writes read the old value.
        ("cmovne eax, ebx", ["eax:rw:0:c", "ebx:r:1"]),
        ("cmovne rax, [rbx]", ["rax:rw:0:c", "rbx:r:-:a"]),
        ("bsf rax, rbx", ["rax:rw:0:c", "rbx:r:1"]),
        ("tzcnt rax, rbx", ["rax:w:0", "rbx:r:1"]),
        ("cmpxchg [rdi], rcx", ["rdi:r:-:a", "rcx:r:1", "rax:rw:-:c"]),
        # Implicit operands.
        ("mul rcx", ["rcx:r:0", "rdx:w:-", "rax:rw:-"]),
        ("mul rax", ["rax:r:0", "rdx:w:-", "rax:rw:-"]),
        ("div ecx", ["ecx:r:0", "eax:rw:-", "edx:rw:-"]),
        ("imul rbx", ["rbx:r:0", "rdx:w:-", "rax:rw:-"]),
        ("mulx rax, rbx, rcx", ["rax:w:0", "rbx:w:1", "rcx:r:2", "rdx:r:-"]),
        ("cqo", ["rax:r:-", "rdx:w:-"]),
        ("blendvpd xmm1, xmm2, xmm0", ["xmm1:rw:0:m", "xmm2:r:1", "xmm0:r:-"]),
        ("shl eax, cl", ["eax:rw:0", "cl:r:1"]),
        ("shlx eax, ebx, ecx", ["eax:w:0", "ebx:r:1", "ecx:r:2"]),
        ("push rax", ["rax:r:0", "rsp:rw:-"]),
        ("pop [rsp+8]", ["rsp:r:-:a", "rsp:rw:-"]),
        ("leave", ["rsp:w:-", "rbp:rw:-"]),
        ("movsb", ["rdi:rw:-", "rsi:rw:-"]),
        ("rep stosq", ["rax:r:1", "rcx:rw:-:c", "rdi:rw:-:c"]),
        ("xlatb", ["rbx:r:-:a", "al:r:-:a", "al:rw:-:m"]),
        ("mov rax, fs:[40]", ["rax:w:0"]),
        ("mov rax, [rip+8]", ["rax:w:0"]),
        ("lea rax, [rbx+rcx*4]", ["rax:w:0", "rbx:r:-:a", "rcx:r:-:a"]),
        ("nop dword ptr [rax+rbx]", []),
        # Zero idioms list what they read without knowing a core.
        ("xor eax, eax", ["eax:rw:0", "eax:r:1"]),
        ("vpxor xmm0, xmm1, xmm1", ["xmm0:w:0", "xmm1:r:1", "xmm1:r:2"]),
    ],
)
def test_registers(text: str, expected: list[str]) -> None:
    assert accesses(text) == expected


def test_canonical_registers() -> None:
    places = {
        "al": ("rax", 0, 8), "ah": ("rax", 8, 8), "ax": ("rax", 0, 16), "eax": ("rax", 0, 32), "rax": ("rax", 0, 64),
        "sil": ("rsi", 0, 8), "bpl": ("rbp", 0, 8), "sp": ("rsp", 0, 16), "edi": ("rdi", 0, 32), "dh": ("rdx", 8, 8),
        "r8b": ("r8", 0, 8), "r9w": ("r9", 0, 16), "r10d": ("r10", 0, 32), "r15": ("r15", 0, 64),
    }  # fmt: skip
    for name, place in places.items():
        (access,) = decoded(f"inc {name}").registers
        assert access.register == Register(name=name, root=place[0], offset=place[1], width=place[2], kind="general")
    assert [a.register for a in decoded("vaddps ymm17{k3}, ymm2, ymm3").registers] == [
        Register(name="ymm17", root="zmm17", offset=0, width=256, kind="vector"),
        Register(name="ymm2", root="zmm2", offset=0, width=256, kind="vector"),
        Register(name="ymm3", root="zmm3", offset=0, width=256, kind="vector"),
        Register(name="k3", root="k3", offset=0, width=64, kind="mask"),
    ]
    assert decoded("fadd st, st(3)").registers[1].register == Register(
        name="st3", root="st3", offset=0, width=80, kind="x87"
    )
    assert decoded("movq mm5, mm6").registers[1].register == Register(
        name="mm6", root="mm6", offset=0, width=64, kind="mmx"
    )
    tile, *_ = decoded("tileloadd tmm2, [rax+rbx]").registers
    assert tile.register == Register(name="tmm2", root="tmm2", offset=0, width=8192, kind="tile")


@pytest.mark.parametrize(
    ("text", "immediate", "size", "encoding_traits"),
    [
        ("add rax, -2", -2, 1, set()),
        ("add eax, 0x12345678", 0x12345678, 4, set()),
        ("mov rax, 0x123456789abcdef0", 0x123456789ABCDEF0, 8, set()),
        ("mov dword ptr [rax+64], -32769", -32769, 4, set()),
        ("add cx, 1000", 1000, 2, {"lcp"}),
        ("mov cx, 1000", 1000, 2, {"lcp_mov"}),
        ("mov word ptr [rax], 1000", 1000, 2, {"lcp_mov"}),
        ("movaps xmm0, xmm1", None, 0, set()),
        ("jmp .L3", None, 0, set()),
        ("pop rsp", None, 0, {"pop_rsp_r12"}),
        ("pop r12", None, 0, {"pop_rsp_r12"}),
        ("pop rbx", None, 0, set()),
        ("add rax, offset foo", None, 4, set()),
        ("mov dword ptr foo[rip], 70000", 70000, 4, set()),
        ("enter 16, 1", 16, 2, set()),
    ],
)
def test_immediates_and_what_keeps_decoders(
    text: str, immediate: int | None, size: int, encoding_traits: set[str]
) -> None:
    i = decoded(text)
    assert (i.immediate, i.immediate_bytes, i.encoding_traits) == (immediate, size, encoding_traits)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mov eax, [rbx+rcx*4-8]", ["rbx+rcx*4-8 4l 1"]),
        ("mov [rbx], rax", ["rbx+0 8s 0"]),
        ("add qword ptr [rbx], 1", ["rbx+0 8ls 0"]),
        ("cmp byte ptr [rbx], 1", ["rbx+0 1l 0"]),
        ("vaddpd zmm0, zmm1, [rax]{1to8}", ["rax+0 8l 2"]),
        ("vaddps zmm0, zmm1, [rax+64]", ["rax+64 64l 2"]),
        ("vbroadcastsd ymm0, [rax]", ["rax+0 8l 1"]),
        ("vmovupd [rax]{k1}, zmm0", ["rax+0 64s 0"]),
        ("mov rax, fs:[40]", ["fs:+40 8l 1"]),
        ("movabs al, [0x123456789]", ["+4886718345 1l 1"]),
        ("mov eax, [rbx*8]", ["rbx*8+0 4l 1"]),
        # The stack: relative to rsp as it was before.
        ("push rax", ["rsp-8 8s -"]),
        ("push word ptr 5", ["rsp-2 2s -"]),
        ("pop rax", ["rsp+0 8l -"]),
        ("push qword ptr [rax]", ["rax+0 8l 0", "rsp-8 8s -"]),
        ("pop qword ptr [rsp+8]", ["rsp+16 8s 0", "rsp+0 8l -"]),
        ("call rax", ["rsp-8 8s -"]),
        ("ret", ["rsp+0 8l -"]),
        ("leave", ["rbp+0 8l -"]),
        # String instructions, of known size without repetition.
        ("movsq", ["rdi+0 8s 0", "rsi+0 8l 1"]),
        ("rep movsb", ["rdi+0 0s 0", "rsi+0 0l 1"]),
        ("lodsd", ["rsi+0 4l 1"]),
        ("xlatb", ["rbx+al*1+0 1l 0"]),
        # Gathers: as many elements as both data and indices have room for.
        ("vgatherdpd ymm0, [rax+xmm1*8], ymm2", ["rax+xmm1*8+0 8l 1 x4"]),
        ("vpgatherqd xmm0, [rax+ymm1*4], xmm2", ["rax+ymm1*4+0 4l 1 x4"]),
        ("vpgatherdd zmm0{k1}, [rax+zmm1*4]", ["rax+zmm1*4+0 4l 1 x16"]),
        ("vscatterqpd [rax+xmm1*8+16]{k1}, xmm0", ["rax+xmm1*8+16 8s 0 x2"]),
        # No access.
        ("lea rax, [rbx+8]", []),
        ("prefetcht0 [rax]", []),
        ("nop word ptr [rax]", []),
        # Symbols: the one of the relocation, the addend without what makes it relative to the instruction's end.
        ("mov eax, foo[rip+8]", ["foo+8 4l 1"]),
        ("mov dword ptr foo[rip+8], 3", ["foo+8 4s 0"]),
        ("vaddpd zmm0, zmm1, foo[rip-16]", ["foo-16 64l 2"]),
        ("mov eax, foo[rax*4+4]", ["rax*4foo+4 4l 1"]),
        ("mov rax, qword ptr foo@GOTPCREL[rip]", ["foo@GOTPCREL+0 8l 1"]),
        ("mov rax, qword ptr fs:foo@tpoff", ["fs:foo@TPOFF+0 8l 1"]),
    ],
)
def test_memory(text: str, expected: list[str]) -> None:
    assert memory(text) == expected


@pytest.mark.parametrize(
    ("text", "read", "written"),
    [
        ("mov eax, 1", "", ""),
        ("add eax, 1", "", "CPAZSO"),
        ("inc eax", "", "PAZSO"),
        ("adc eax, 1", "C", "CPAZSO"),
        ("and eax, 1", "", "CPAZSO"),  # C and O cleared, A undefined
        ("not eax", "", ""),
        ("shl eax, 3", "", "CPAZSO"),
        ("shl eax, 1", "", "CPAZSO"),
        ("rol eax, 1", "", "CO"),
        # A count of zero leaves the flags alone.
        ("shl eax, 0", "", ""),
        ("shl eax, cl", "CPAZSO", "CPAZSO"),
        ("rcr eax, cl", "CO", "CO"),
        ("shld eax, ebx, cl", "CPAZSO", "CPAZSO"),
        ("shlx eax, ebx, ecx", "", ""),
        ("repe cmpsb", "CPAZSO", "CPAZSO"),
        ("cmpsb", "", "CPAZSO"),
        ("jne .", "Z", ""),
        ("jbe .", "CZ", ""),
        ("jl .", "SO", ""),
        ("cmova eax, ebx", "CZ", ""),
        ("setp al", "P", ""),
        ("bt eax, 3", "", "CPASO"),
        ("tzcnt eax, ebx", "", "CPAZSO"),
        ("ucomisd xmm0, xmm1", "", "CPAZSO"),
        ("ptest xmm0, xmm1", "", "CPAZSO"),
        ("adcx eax, ebx", "C", "C"),
        ("adox eax, ebx", "O", "O"),
        ("lahf", "CPAZS", ""),
        ("stc", "", "C"),
        ("cld", "", ""),
        ("mulx rax, rbx, rcx", "", ""),
        ("xor eax, eax", "", "CPAZSO"),
    ],
)
def test_flags(text: str, read: str, written: str) -> None:
    instruction = decoded(text)
    assert (instruction.flags_read, instruction.flags_written) == (read, written)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add eax, ebx", ""),
        ("add eax, eax", "same_reg"),
        ("mov eax, eax", "same_reg"),
        ("movzx eax, al", "same_reg"),
        ("movzx eax, ah", "high8_1"),
        ("vaddpd xmm0, xmm1, xmm1", "same_reg"),
        ("vaddpd xmm1, xmm1, xmm2", ""),
        ("vfmadd213pd ymm0, ymm0, ymm0", "same_reg"),
        ("vfmadd213pd ymm0, ymm1, ymm1", ""),
        ("vsqrtpd ymm0, ymm0", "same_reg"),
        ("imul eax, ebx, 5", ""),
        ("vaddpd xmm0, xmm0, [rax]", ""),
        ("mov eax, [rax+rbx]", "indexed"),
        ("mov eax, [rax+8]", ""),
        ("mov ah, bl", "high8_0"),
        ("mov bl, ah", "rm0-3 high8_1"),
        ("mov sil, r8b", "rm4-7"),
        ("add dl, 0", "rm0-3 imm0"),
        ("add r9b, 1", "rm0-3"),
        ("add eax, 0", "imm0"),
        ("shl eax, 0", "imm0"),
        ("vaddpd zmm0{k1}, zmm1, zmm2", "mask"),
        ("vaddpd zmm0{k1}{z}, zmm1, [rax+rbx]{1to8}", "mask zeroing bcast indexed"),
        ("vaddpd zmm0, zmm1, zmm2, {rz-sae}", "er"),
        ("vmaxpd zmm0, zmm1, zmm2, {sae}", "sae"),
        ("lock add dword ptr [rax], 1", "lock"),
        ("rep movsb", "rep"),
        ("repe cmpsb", "rep"),
        ("repne scasb", "repne rm0-3"),
        ("rep ret", ""),
        ("lea rax, [rbx]", "agen:B"),
        ("lea rax, [rbx+8]", "agen:B_D8"),
        ("lea rax, [rbx+800]", "agen:B_D32"),
        ("lea rax, [rbx+rcx]", "agen:B_I indexed"),
        ("lea rax, [rbx+rcx*2]", "agen:B_IS indexed"),
        ("lea rax, [rbx+rcx*2+8]", "agen:B_IS_D8 indexed"),
        ("lea rax, [rcx*8]", "agen:IS_D32 indexed"),
        ("lea rax, [r13+rcx]", "agen:B_I_D8 indexed"),  # r13 as a base is encoded with a displacement
        ("lea rax, foo[rip]", "agen:R_D32"),
    ],
)
def test_traits(text: str, expected: str) -> None:
    assert decoded(text).traits == frozenset(expected.split())


@pytest.mark.parametrize(
    ("text", "form", "operands"),
    [
        ("vfmadd213pd ymm0, ymm1, [rax]", "VEX_VFMADD213PD_YMM_YMM_YMMM256/m", "rrm"),
        ("vfmadd213pd ymm0, ymm1, ymm2", "VEX_VFMADD213PD_YMM_YMM_YMMM256/r", "rrr"),
        ("add eax, ebx", "ADD_RM32_R32/r", "rr"),
        ("add [rax], ebx", "ADD_RM32_R32/m", "mr"),
        ("push rax", "PUSH_R64/r", "r"),
        ("push qword ptr [rax]", "PUSH_RM64/m", "m"),
        ("movsb", "MOVSB_M8_M8/r", "mm"),
        ("xlatb", "XLAT_M8/r", "m"),
        ("movabs al, [0x123456789]", "MOV_AL_MOFFS8/m", "rm"),
        ("lea rax, [rbx]", "LEA_R64_M/m", "rm"),
        ("imul eax, ebx, 5", "IMUL_R32_RM32_IMM8/r", "rri"),
        ("jne .", "JNE_REL8_64/r", "b"),
        ("ret", "RETNQ/r", ""),
    ],
)
def test_form(text: str, form: str, operands: str) -> None:
    instruction = decoded(text)
    assert (instruction.form, instruction.operands) == (form, operands)


@pytest.mark.parametrize(
    ("text", "branch", "target"),
    [
        ("jne .L3", "conditional", ".L3"),
        ("jmp foo", "unconditional", "foo"),
        ("jmp rax", "indirect", ""),
        ("jmp [rax+rbx*8]", "indirect", ""),
        ("call foo@PLT", "call", "foo"),
        ("call [rax]", "call", ""),
        ("ret", "return", ""),
        ("jrcxz .L3", "conditional", ".L3"),
        ("loop .L3", "conditional", ".L3"),
        ("syscall", "", ""),
        ("add eax, ebx", "", ""),
    ],
)
def test_branch(text: str, branch: str, target: str) -> None:
    result = assemble(f".intel_syntax noprefix\n.L3:{text}\n", [2])
    (statement,) = result.statements[2]
    instruction = decode(statement.code, 0, statement.text, 2, statement.relocations)
    assert (instruction.branch, instruction.target) == (branch, target)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mov rax, rbx", Affine("rax", (("rbx", 1),), 0)),
        ("mov eax, 7", Affine("rax", (), 7)),
        ("mov rax, -7", Affine("rax", (), -7)),
        ("add rax, 32", Affine("rax", (("rax", 1),), 32)),
        ("add eax, -1", Affine("rax", (("rax", 1),), -1)),
        ("sub rax, -128", Affine("rax", (("rax", 1),), 128)),
        ("add rax, rbx", Affine("rax", (("rax", 1), ("rbx", 1)), 0)),
        ("add rax, rax", Affine("rax", (("rax", 2),), 0)),
        ("sub rax, rbx", Affine("rax", (("rax", 1), ("rbx", -1)), 0)),
        ("sub rax, rax", Affine("rax", (), 0)),
        ("xor ebx, ebx", Affine("rbx", (), 0)),
        ("xor ebx, eax", None),
        ("inc rdx", Affine("rdx", (("rdx", 1),), 1)),
        ("dec edx", Affine("rdx", (("rdx", 1),), -1)),
        ("lea rax, [rbx]", Affine("rax", (("rbx", 1),), 0)),
        ("lea rax, [rbx+rcx*4-8]", Affine("rax", (("rbx", 1), ("rcx", 4)), -8)),
        ("lea rax, [rax+rax*2]", Affine("rax", (("rax", 3),), 0)),
        ("lea rax, [rcx*8+16]", Affine("rax", (("rcx", 8),), 16)),
        ("lea eax, [rbx+1]", Affine("rax", (("rbx", 1),), 1)),
        ("lea rax, foo[rip]", None),
        ("lea rax, foo[rbx*8]", None),
        ("mov eax, offset foo", None),
        ("shl rax, 3", Affine("rax", (("rax", 8),), 0)),
        ("sar rax, 3", None),
        ("movsxd rax, ecx", Affine("rax", (("rcx", 1),), 0)),
        ("cdqe", Affine("rax", (("rax", 1),), 0)),
        ("movzx eax, cl", None),
        ("add ax, 1", None),
        ("mov al, 1", None),
        ("add rax, [rbx]", None),
        ("add [rbx], rax", Affine("", (("rax", 1),), 0)),
        ("sub dword ptr [rbx], 3", Affine("", (), -3)),
        ("inc qword ptr [rbx]", Affine("", (), 1)),
        ("add word ptr [rbx], 3", None),
        ("and qword ptr [rbx], 3", None),
        ("neg rax", Affine("rax", (("rax", -1),), 0)),
        ("neg eax", None),
        ("cmovne rax, rbx", None),
        ("push rbx", Affine("rsp", (("rsp", 1),), -8)),
        ("pop rbx", Affine("rsp", (("rsp", 1),), 8)),
        ("pop rsp", None),
        ("ret 8", Affine("rsp", (("rsp", 1),), 16)),
        ("call foo", Affine("rsp", (("rsp", 1),), 0)),
        ("leave", Affine("rsp", (("rbp", 1),), 8)),
        ("stosq", Affine("rdi", (("rdi", 1),), 8)),
        ("rep stosq", None),
        ("loop .", Affine("rcx", (("rcx", 1),), -1)),
        ("vmovapd ymm0, ymm1", None),
    ],
)
def test_affine(text: str, expected: Affine | None) -> None:
    assert decoded(text).affine == expected


@pytest.mark.parametrize(
    ("text", "idiom"),
    [
        ("xor eax, eax", "zero"),
        ("xor eax, ebx", ""),
        ("sub r9, r9", "zero"),
        ("sbb eax, eax", ""),
        ("and eax, eax", ""),
        ("pxor xmm3, xmm3", "zero"),
        ("xorps xmm3, xmm3", "zero"),
        ("xorps xmm3, [rax]", ""),
        ("vxorpd ymm0, ymm1, ymm1", "zero"),
        ("vxorpd ymm1, ymm1, ymm2", ""),
        ("vpxord zmm0, zmm1, zmm1", "zero"),
        ("vpxord zmm0{k1}, zmm1, zmm1", ""),
        ("vpsubw xmm0, xmm1, xmm1", "zero"),
        ("pcmpgtd xmm0, xmm0", "zero"),
        ("vpcmpeqd ymm0, ymm1, ymm1", "ones"),
        ("pandn xmm0, xmm0", "zero"),
        ("kxorw k1, k2, k2", "zero"),
        ("kxnorw k1, k2, k2", "ones"),
        ("vpternlogd zmm0, zmm1, zmm2, 0xff", "ones"),
        ("vpternlogd zmm0, zmm1, zmm2, 0", "zero"),
        ("vpternlogd zmm0, zmm1, zmm2, 1", ""),
        ("vpaddd xmm0, xmm1, xmm1", ""),
    ],
)
def test_idiom(text: str, idiom: str) -> None:
    assert decoded(text).idiom == idiom


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("mov eax, ebx", True),
        ("mov rax, rbx", True),
        ("mov ax, bx", False),
        ("mov al, bl", False),
        ("mov eax, [rbx]", False),
        ("mov eax, 1", False),
        ("mov eax, fs", False),
        ("movaps xmm0, xmm1", True),
        ("vmovupd zmm0, zmm1", True),
        ("vmovdqa64 zmm0, zmm1", True),
        ("vmovdqa64 zmm0{k1}, zmm1", False),
        ("vmovsd xmm0, xmm1, xmm2", False),
        ("movq mm0, mm1", True),
        ("movq xmm0, xmm1", False),
        ("movq xmm0, rax", False),
        ("kmovq k1, k2", True),
        ("kmovw k1, k2", False),
        ("kmovq rax, k2", False),
        ("movzx eax, bl", False),
    ],
)
def test_move(text: str, move: bool) -> None:
    assert decoded(text).move is move


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("addsd xmm0, xmm1", Arithmetic(packed=False, floating=True, element=64, width=64, operations=1)),
        ("vaddpd ymm0, ymm1, ymm2", Arithmetic(packed=True, floating=True, element=64, width=256, operations=4)),
        ("vaddps zmm0, zmm1, [rax]", Arithmetic(packed=True, floating=True, element=32, width=512, operations=16)),
        ("vfmadd231pd ymm0, ymm1, ymm2", Arithmetic(packed=True, floating=True, element=64, width=256, operations=8)),
        ("vfnmsub132ss xmm0, xmm1, xmm2", Arithmetic(packed=False, floating=True, element=32, width=32, operations=2)),
        (
            "vfmaddsub213ps xmm0, xmm1, xmm2",
            Arithmetic(packed=True, floating=True, element=32, width=128, operations=8),
        ),
        ("vdivpd zmm0, zmm1, zmm2", Arithmetic(packed=True, floating=True, element=64, width=512, operations=8)),
        ("sqrtss xmm0, xmm1", Arithmetic(packed=False, floating=True, element=32, width=32, operations=1)),
        ("vcmppd k1, zmm0, zmm1, 1", Arithmetic(packed=True, floating=True, element=64, width=512, operations=8)),
        ("ucomisd xmm0, xmm1", Arithmetic(packed=False, floating=True, element=64, width=64, operations=1)),
        ("haddpd xmm0, xmm1", Arithmetic(packed=True, floating=True, element=64, width=128, operations=2)),
        ("vmaxsd xmm0, xmm1, xmm2", Arithmetic(packed=False, floating=True, element=64, width=64, operations=1)),
        ("paddd xmm0, xmm1", Arithmetic(packed=True, floating=False, element=32, width=128, operations=4)),
        ("vpaddusb ymm0, ymm1, ymm2", Arithmetic(packed=True, floating=False, element=8, width=256, operations=32)),
        ("vpmullq zmm0, zmm1, zmm2", Arithmetic(packed=True, floating=False, element=64, width=512, operations=8)),
        ("vpmuludq ymm0, ymm1, ymm2", Arithmetic(packed=True, floating=False, element=64, width=256, operations=4)),
        ("pmaddwd xmm0, xmm1", Arithmetic(packed=True, floating=False, element=32, width=128, operations=12)),
        ("pminsw xmm0, xmm1", Arithmetic(packed=True, floating=False, element=16, width=128, operations=8)),
        ("vpcmpub k1, zmm0, zmm1, 1", Arithmetic(packed=True, floating=False, element=8, width=512, operations=64)),
        ("paddw mm0, mm1", Arithmetic(packed=True, floating=False, element=16, width=64, operations=4)),
        # Not arithmetic: moves, logic, shuffles, conversions, general-purpose registers, idioms.
        ("movsd xmm0, xmm1", None),
        ("vandpd ymm0, ymm1, ymm2", None),
        ("vshufpd ymm0, ymm1, ymm2, 3", None),
        ("cvtsi2sd xmm0, eax", None),
        ("add eax, ebx", None),
        ("mul rbx", None),
        ("cmpsd", None),
        ("vpsubd xmm0, xmm1, xmm1", None),
        ("pcmpeqd xmm0, xmm0", None),
    ],
)
def test_arithmetic(text: str, expected: Arithmetic | None) -> None:
    assert decoded(text).arithmetic == expected


def test_rip_relative_without_relocation() -> None:
    code = bytes.fromhex("8b0510000000")  # mov 0x10(%rip), %eax
    in_section = decode(code, 0x20, "mov x(%rip), %eax", 3, (), ".rodata.text")
    assert in_section.memory[0].symbol == ".rodata.text"
    assert in_section.memory[0].displacement == 0x20 + 6 + 0x10
    raw = decode(code, 0x20)
    assert (raw.memory[0].symbol, raw.memory[0].displacement) == ("", 0x36)
    assert raw.text == "mov 0x10(%rip), %eax"


def test_text_of_raw_code() -> None:
    assert decode(bytes.fromhex("75fe"), 0x10).target == "0x10"
    assert decode(bytes.fromhex("75fe"), 0x10).text.startswith("jne")
    assert decode(bytes.fromhex("c5fd5804c8")).text == "vaddpd (%rax,%rcx,8), %ymm0, %ymm0"


def test_undecodable() -> None:
    with pytest.raises(UndecodableError, match=r"offset 0x30: not an x86-64 instruction: 06") as caught:
        decode(b"\x06\x00", 0x30)
    assert caught.value.offset == 0x30
    with pytest.raises(ValueError, match="not an x86-64 instruction"):
        decode(bytes.fromhex("c5fd58"))


@examples(2000)
@given(st.binary(min_size=1, max_size=15))
def test_any_bytes(code: bytes) -> None:
    """Whatever the bytes, the result is an instruction that contradicts itself nowhere, or the documented error."""
    try:
        instruction = decode(code)
    except UndecodableError:
        return
    check(instruction)
    assert instruction.encoding == code[: instruction.length]
    check_at_any_distance(instruction)
    check_effects(instruction)


_OPCODES = st.tuples(
    st.sampled_from(["", "66", "f2", "f3", "48", "6648", "f30f", "0f", "660f", "f20f38", "660f38", "660f3a", "f0"]),
    st.sampled_from(["", "c5fd", "c4e27d", "c4e2f5", "c4e37d", "62f1fd48", "62f27d49", "62f1f5c9", "62f2fd59"]),
    st.binary(min_size=2, max_size=8),
)


@examples(3000)
@given(_OPCODES)
def test_any_encoding(parts: tuple[str, str, bytes]) -> None:
    """The same, near the encodings that compilers use."""
    code = (bytes.fromhex(parts[0] + parts[1]) + parts[2])[:15]
    try:
        instruction = decode(code)
    except UndecodableError:
        return
    check(instruction)
    check_registers_used(instruction, iced_x86.Decoder(64, code).decode())
    check_at_any_distance(instruction)
    check_effects(instruction)


def check_at_any_distance(instruction: Instruction) -> None:
    """An instruction is the same if one with another displacement or target has been decoded before."""
    code = instruction.encoding
    offsets = constant_offsets(code)
    at = offsets.displacement_offset or (instruction.operands == "b" and offsets.immediate_offset)
    if not at:
        return
    other = code[:at] + bytes([code[at] ^ 0x55]) + code[at + 1 :]
    for each in (code, other):
        for table in (_DECODED, _ALIKE):
            table.clear()
        decode(each)
        assert decode(code) == instruction


def check_effects(instruction: Instruction) -> None:
    """The effects of an encoding are those of the decoded instruction, which may name no slot after all."""
    effects, expected = encoding_effects(instruction.encoding), effects_of(instruction, CONVENTION)
    assert (effects.writes, effects.stores) == (expected.writes, expected.stores)
    block = [EntryBlock([each], lambda at: instruction, CONVENTION.stack) for each in (effects, expected)]
    assert block[0].named_slots == block[1].named_slots


def check_registers_used(instruction: Instruction, native: Any) -> None:
    """No register that iced-x86 knows to be read or written is lost between operands, addresses and implicit uses."""
    if instruction.idiom or instruction.mnemonic == "vzeroupper" or instruction.registers == ():
        return
    numbers = {name: number for number, name in enumerate(REGISTER_NAMES)}
    expected: dict[int, tuple[bool, bool]] = {}
    for used in iced_x86.InstructionInfoFactory().info(native).used_registers():
        if iced_x86.RegisterExt.is_segment_register(used.register):
            continue
        read = used.access not in (OpAccess.WRITE,)
        write = used.access not in (OpAccess.READ, OpAccess.COND_READ)
        full = iced_x86.RegisterExt.full_register(used.register)
        before = expected.get(full, (False, False))
        expected[full] = (before[0] or read, before[1] or write)
    found: dict[int, tuple[bool, bool]] = {}
    for access in instruction.registers:
        full = iced_x86.RegisterExt.full_register(numbers[access.register.root.upper()])
        before = found.get(full, (False, False))
        found[full] = (before[0] or access.read, before[1] or access.write)
    same_source = any(
        native.op_kind(i) == OpKind.REGISTER and iced_x86.InstructionInfoFactory().info(native).op_access(i) == 0
        for i in range(native.op_count)
    )
    assert same_source or found == expected


def check(instruction: Instruction) -> None:
    n = len(instruction.operands)
    assert 0 < instruction.length <= 15
    assert instruction.form.endswith(("/m", "/r"))
    for access in instruction.registers:
        assert access.read or access.write
        assert access.register.root
        assert access.operand is None or -1 <= access.operand < n
        if access.operand is not None and access.operand >= 0:
            assert instruction.operands[access.operand] == "r"
        assert not (access.conditional and not (access.read and access.write))
        assert not (access.merges and not access.write)
        assert not (access.address and access.write)
    for memory_access in instruction.memory:
        assert memory_access.load or memory_access.store
        assert memory_access.elements >= 1
        assert memory_access.operand is None or instruction.operands[memory_access.operand] in "mr"
    if instruction.affine is not None:
        written = {a.register.root for a in instruction.registers if a.write}
        read = {a.register.root for a in instruction.registers if a.read}
        in_memory = any(m.load and m.store for m in instruction.memory)
        assert instruction.affine.target in written or (instruction.affine.target == "" and in_memory)
        assert {root for root, _ in instruction.affine.terms} <= read
    if instruction.move:
        assert [a.operand for a in instruction.registers] == [0, 1]


_VECTOR = st.lists(st.integers(0, 31), min_size=3, max_size=3, unique=True)


@examples(60)
@given(
    st.sampled_from(["vaddpd {}, {}, {}", "vfmadd231pd {}, {}, {}", "vpxorq {}, {}, {}", "vpermt2pd {}, {}, {}"]),
    _VECTOR,
    _VECTOR,
)
def test_renaming(template: str, first: list[int], second: list[int]) -> None:
    """Other registers give the same instruction with other registers."""
    one = decoded(template.format(*(f"zmm{i}" for i in first)))
    two = decoded(template.format(*(f"zmm{i}" for i in second)))
    renamed = {f"zmm{a}": f"zmm{b}" for a, b in zip(first, second, strict=True)}
    assert [renamed[a.register.name] for a in one.registers] == [a.register.name for a in two.registers]
    assert [astuple(a)[1:] for a in one.registers] == [astuple(a)[1:] for a in two.registers]
    assert (one.form, one.traits, one.operands, one.arithmetic) == (two.form, two.traits, two.operands, two.arithmetic)


def test_form_key_and_traits_of_native_instructions() -> None:
    """Tools that work with iced-x86's instructions get the same key and traits as decode."""
    for code in ("c5fd5804c8", "f00fb10f", "62f1fd59580408", "488d4408ff", "30e0", "d7", "50"):
        instruction = decode(bytes.fromhex(code))
        native = iced_x86.Decoder(64, bytes.fromhex(code)).decode()
        assert form_key(native) == instruction.form
        assert traits(native) == instruction.traits


@pytest.mark.parametrize(
    ("text", "expected", "divisor"),
    [
        ("addsd xmm0, xmm1", Sum((0, 1), ()), None),
        ("vaddps ymm0, ymm1, ymm2", Sum((1, 2), ()), None),
        ("subpd xmm0, [rdi]", Sum((0,), (1,)), None),
        ("vsubss xmm0, xmm1, xmm2", Sum((1,), (2,)), None),
        ("vfmadd132sd xmm0, xmm1, xmm2", Sum((1,), (0, 2)), None),
        ("vfmadd213pd ymm0, ymm1, [rdi]", Sum((2,), (0, 1)), None),
        ("vfnmadd231ps ymm0, ymm1, ymm2", Sum((0,), (1, 2)), None),
        ("vfmsub231ps ymm0, ymm1, ymm2", None, None),
        ("vfmaddsub231ps ymm0, ymm1, ymm2", None, None),
        ("paddd xmm0, xmm1", None, None),
        ("divsd xmm0, xmm1", None, 1),
        ("vdivps ymm0, ymm1, [rdi]", None, 2),
        ("div rcx", None, None),
    ],
)
def test_sums_and_divisors(text: str, expected: Sum | None, divisor: int | None) -> None:
    i = decoded(text)
    assert (i.sum, i.divisor) == (expected, divisor)
