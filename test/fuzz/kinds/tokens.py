"""The tokens of assembly texts."""

from __future__ import annotations

PIECES = (
    b"# LLVM-MCA-BEGIN", b"# LLVM-MCA-END", b"# OSACA-BEGIN", b"# OSACA-END", b"/*", b"*/", b"//", b";", b"\n", b"\t",
    b".intel_syntax noprefix\n", b".att_syntax\n", b".macro m a,b\n", b".endm\n", b"m m m\n", b".rept 1000000\n",
    b".endr\n", b".include \"a.s\"\n", b".incbin \"/dev/zero\"\n", b".fill 1000000000\n", b".org 0x7fffffffffff\n",
    b".align 1073741824\n", b".p2align 62\n", b".section .text,\"ax\"\n", b".loc 1 999999999\n", b".file 1 \"\"\n",
    b".byte 100,103,144\n", b"movl $111, %ebx\n", b"movl $222, %ebx\n", b".if 1\n", b".endif\n", b".set a, a+1\n",
    b"1:\njmp 1b\n", b"jne .L1\n", b".L1:\n", b"%zmm31{%k7}{z}", b"{1to16}", b"$0xffffffffffffffff",
    b"-9223372036854775808",
    b"(%rax,%rax,8)", b"%st(7)", b"rep", b"lock", b"data16", b"\x00", b"\xff\xfe", b"\xf0\x9f\x98\x80",
    b"\r\n", b"\"", b"'",
    b"((((((((((", b"))))", b"vgatherqpd (%rax,%zmm1,8), %zmm2{%k1}\n", b"call f\n", b"ret\n", b"ud2\n", b"xbegin 1b\n",
    b".irp x,1,2\n", b".irpc x,abc\n", b".err\n", b".end\n", b".code32\n", b".cfi_startproc\n", b".quad 1<<64\n",
)  # fmt: skip

REGISTERS = (
    "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rsp", "rbp", "r8", "r15", "eax", "r9d", "ax", "r10w", "al", "ah", "spl",
    "xmm0", "xmm15", "xmm16", "ymm1", "ymm31", "zmm2", "zmm31", "k0", "k7", "mm0", "st", "st(3)", "cs", "fs", "rip",
    "cr0", "dr7", "bnd0", "tmm1", "r16", "r31d", "riz", "eiz", "nosuch",
)  # fmt: skip

ARM_REGISTERS = (
    "x0", "x1", "w2", "xzr", "wzr", "sp", "wsp", "x30", "x31", "w17", "d0", "s1", "h2", "b3", "q4", "v0.2d", "v1.4s",
    "v2.8h", "v3.16b", "v4.d[1]", "v5.s[3]", "v31.b[15]", "v6", "z0.d", "z1.s", "z2.b", "z31", "p0", "p1/m", "p2/z",
    "p7.b", "p15.d", "nosuch", "x32", "v0.3s", "z0.q", "za0h.s[w12, 0]",
)  # fmt: skip
ARM_OPERANDS = (
    "{v0.2d}", "{v0.4s, v1.4s}", "{ v0.16b - v3.16b }, [x0], #64", "{z0.d}", "{z0.d - z3.d}", "{v0.s}[1]", "eq", "ne",
    "nzcv", "lsl #2", "lsl #99", "uxtw #2", "sxtx", "mul vl", "all", "pow2", "vl8", "pldl1keep", "ish", ".L0", "f",
    "1b", ":lo12:a", ":got:b", "#1.5", "#0x1p3", "#-0.0", "", "//", "@",
)  # fmt: skip

NUMBERS = ("0", "1", "-1", "8", "0x7f", "255", "65536", "-2147483648", "0x7fffffffffffffff", "0xffffffffffffffff",
            "1<<63", "~0", "a", "a+1", "a-b", ".L0", "f@PLT", "x@GOTPCREL", "(((2)))", "0ffh", "1b", "-(-1)",
            "123456789012345678901234567890")  # fmt: skip

DIRECTIVES = (
    ".p2align 4", ".align 16,,7", ".byte 0x90", ".byte 0x64,0x67,0x90", ".long 1", ".quad .L0", ".zero 100", ".text",
    '.section .rodata,"a"', ".globl f", ".type f, @function", ".size f, .-f", "f:", ".L0:", ".L1:", ".L2:", "1:",
    "a = 5", ".set b, a+1", ".cfi_startproc", ".cfi_endproc", '.file 1 "x.c"', ".loc 1 3 5", ".rept 3", ".endr",
    ".if a", ".else", ".endif", ".macro m x", ".endm", "m 1", ".irp x,1,2", ".intel_syntax noprefix", ".att_syntax",
    ".code64", ".pushsection .x", ".popsection", ".previous", '.ascii "\\377\\""', ".string \"x", ".ident", ".weak f",
    ".include \"a.s\"", ".org 64", ".fill 3,1,0x90", ".error \"x\"", ".nop", ".loc", '# 7 "x.c"', "#APP", "#NO_APP",
)  # fmt: skip

MARKERS = ("# LLVM-MCA-BEGIN", "# LLVM-MCA-END", "# LLVM-MCA-BEGIN a", "# LLVM-MCA-END a", "# LLVM-MCA-BEGIN b c",
            "# LLVM-MCA-END b c", "// LLVM-MCA-BEGIN", "/* LLVM-MCA-END */", "# OSACA-BEGIN", "# OSACA-END",
            "# LLVM-MCA-INSTRUMENT", "movl $111, %ebx\n.byte 100,103,144", "movl $222, %ebx\n.byte 100,103,144",
            "# LLVM-MCA-BEGIN \x1b[31m")  # fmt: skip
