"""Recognition of texts that incc does not read: assembly for other instruction sets, LLVM IR, endless statements."""

from __future__ import annotations

import re
from functools import lru_cache

from incc.frontends.isa import isa, names

_LOOKED_AT = 1 << 16
"""Characters of a text that are searched: the first function is among them."""

# Instructions and directives, at the start of a line, that no instruction set has which `isa.names` has. Of those with
# the same names in several sets, the registers tell which one it is; the first that fits counts.
_SIGNS = {
    "SPARC": r".*%[goli][0-7]\b|retl\b",
    "RISC-V": r"(?:addi|lw|sw|ld|sd|li|mv|lui|auipc|bnez|beqz|lbu|fl[wd]|fs[wd]|vsetv?li)\s+"
    r"(?:zero|ra|sp|gp|tp|[ast]\d+|f[ast]\d+|x\d+)\s*,|\.attribute\s+(?:\d+,\s*\"rv|arch)"
    r"|\.option\s+(?:no)?(?:pic|rvc|relax)|[a-z][\w.]*\s+(?:zero|f?[at]\d+)\s*,\s*(?:zero|ra|sp|f?[at]\d+)\s*,",
    "LoongArch": r"(?:(?:add|and|srli|sll|bstr\w+|addi|f?ld|f?st|slli|alsl|ldptr|stptr|lu\d+i)\.[bhwdu]+|jirl"
    r"|pcalau12i|pcaddu12i|maskeqz|masknez)\s+\$(?:r\d+|ra|sp|fp|[ats]\d|fa\d)\s*,",
    "MIPS": r"(?:d?addiu|lw|sw|ld|sd|lui|d?addu|move|sll|bnez|beqz|bne|beq|jr|l\.[sd]|lwc1|ldc1)\s+"
    r"\$(?:\d+|sp|fp|ra|gp|zero|at|[vatsk]\d|f\d+)\b|\.set\s+(?:no)?(?:mips16|micromips|reorder)\b"
    r"|\.nan\s+(?:legacy|2008)|[a-z][\w.]*\s+\$\w+\s*,\s*\$\w+\s*,\s*[$\d-]",
    "PowerPC": r"(?:mflr|mtlr|mtctr|stwu|stdu|lwz|lfd|stfd|addis|bdnz|blr(?![ \t]+x))\b|\.localentry\b|\.abiversion\b"
    r"|(?!d[bwdqt]\s)[a-z]\w*\.?\s+\d+\s*,\s*(?:\d+\s*,\s*-?\d+|-?\d+\(\d+\))",
    "s390": r"(?:stmg|lmg|lgr|lgfr|llgfr|brasl|larl|brctg?|aghi|lghi|ltgr|lzdr)\s+%?[rf]?\d"
    r"|[a-z]\w*\s+[%][rf][0-7]\s*,(?!.*;)",
    "WebAssembly": r"(?:local\.[gs]et|[if](?:32|64)\.(?:const|load|add)|end_function)\b|\.functype\b",
    "AVR": r"(?:ldi|sbiw|adiw|rjmp|icall|lds|sts)\s+r\d+|__SREG__\s*=|[a-z]+\s+r(?:1[6-9]|2\d|3[01])\s*,",
    "32-bit Arm": r"(?:ldr|str|ldm|stm)\w*\s+(?:r\d+|sp)!?\s*,|(?:push|pop|stmfd|ldmfd)\s+(?:sp!,\s*)?\{|bx\s+lr\b"
    r"|\.eabi_attribute\b|\.syntax\s+(?:unified|divided)\b|\.thumb(?:_func)?\b"
    r"|[a-z]\w*(?:\.w)?\s+(?:r[0-7]|lr)\s*,\s*(?:r\d+|\#)|v\w+\.[fius]?(?:8|16|32|64)\s+[sdqr\{]",
    "Hexagon": r"\{\s*(?:r\d+(?::\d+)?|p\d|jumpr?|if)\b.*$",
    "m68k": r"(?:move|adda?|suba?|lea|cmp|tst|clr)(?:a|q|m)?\.[bwl]\s.*(?:%[ad][0-7]|\([ad][0-7]\))",
    "PTX": r"\.(?:target\s+sm_\d+|address_size\s+(?:32|64)|visible\s+\.(?:func|entry))|[a-z]+\.[\w.]+\s+%\w+\s*,.*;",
    "AMD's GPUs": r"(?:[sv]_(?:mov|add|load|waitcnt|endpgm)\w*)\b|\.amdgcn_target\b",
}
_LLVM_IR = ("; ModuleID = ", "source_filename = ", "target datalayout = ")
"""The beginnings of what clang -flto -S and -emit-llvm -S write."""


_NASM = (
    r"(?im)^[ \t]*+(?:\[?(?:section[ \t]+\.\w|global[ \t]+[\w$.]|bits[ \t]+\d\d\b)|default[ \t]+(?:rel|abs)\b"
    r"|%(?:i?define|assign|i?macro|include|ifdef|ifndef|use)\b|(?:[\w.$]+:?[ \t]+)?(?:res[bwdqt][ \t]|times[ \t]+\d))"
)
"""Directives of NASM and YASM, which no other assembler has."""
_LONGEST = 1 << 20
"""Characters of a line with statements. Assemblers take very long for longer ones, which nothing writes."""
_DATA = r'[ \t]*+(?:(?:[\w.$@?]+|"[^"]*")[ \t]*:[ \t]*)?(?:[.#;/]|$)'
"""The start of a line that may be as long as it likes: a directive (a string or an array), or a comment."""


@lru_cache(1)  # several steps of an analysis ask about its text
def unreadable(text: str) -> str:
    """Return the reason that a text is refused as a whole, "" if it may be assembly for x86 or AArch64."""
    if len(text) > _LONGEST:
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > _LONGEST and not re.match(_DATA, line):
                return f"line {number} has {len(line):,} characters; statements are read up to {_LONGEST:,} of a line"
    if other := foreign(text):
        return refusal(other)
    if (nasm := re.search(_NASM, text[:_LOOKED_AT])) and isa(names()[0]).sign(text) != 0:
        number = text.count("\n", 0, nasm.end()) + 1
        return f"line {number} is in NASM's syntax, which incc does not read; assemble the file and analyse its object"
    return ""


def foreign(text: str) -> str:
    """Name the kind of a text that incc does not read ("assembly for MIPS"), "" if it may be x86 or AArch64."""
    if text.startswith(_LLVM_IR):
        return "LLVM IR"
    if isa(names()[0]).sign(text) == 0:
        return ""
    start = text[:_LOOKED_AT]
    for name, sign in _SIGNS.items():
        if re.search(rf"(?m)^(?:[\w.$]+:)?[ \t]*+(?:{sign})", start):
            return f"assembly for {name}"
    return ""


def refusal(code: str) -> str:
    """Return the message for a kind of code that incc does not read."""
    return f"{code}, which incc does not read; it reads x86's and AArch64's"
