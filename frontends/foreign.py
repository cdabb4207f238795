"""Recognition of assembly for instruction sets that incc does not read, so that it is not taken for x86's."""

from __future__ import annotations

import re

from incc.frontends.isa import isa, names

_LOOKED_AT = 1 << 16
"""Characters of a text that are searched: the first function is among them."""

# Instructions and directives, at the start of a line, that no instruction set has which incc reads. Of those with the
# same names in several sets, the registers tell which one it is.
_SIGNS = {
    "RISC-V": r"(?:addi|lw|sw|ld|sd|li|mv|lui|auipc|bnez|beqz|lbu|fl[wd]|fs[wd]|vsetv?li)\s+"
    r"(?:zero|ra|sp|gp|tp|[ast]\d+|f[ast]\d+|x\d+)\s*,|\.attribute\s+(?:\d+,\s*\"rv|arch)"
    r"|\.option\s+(?:no)?(?:pic|rvc|relax)",
    "LoongArch": r"(?:addi|ld|st|add|slli|alsl|move|fld|fst|pcalau12i|lu12i)(?:\.\w+)?\s+"
    r"\$(?:r\d+|ra|sp|fp|[ats]\d)\s*,(?=.*\n(?:.*\n){0,40}?\s*\w+\.[dw]\s+\$)",
    "MIPS": r"(?:d?addiu|lw|sw|ld|sd|lui|d?addu|move|sll|bnez|beqz|bne|beq|jr|l\.[sd]|lwc1|ldc1)\s+"
    r"\$(?:\d+|sp|fp|ra|gp|zero|at|[vatsk]\d|f\d+)\b|\.set\s+(?:no)?(?:mips16|micromips|reorder)\b|\.nan\s+(?:legacy|2008)",
    "PowerPC": r"(?:mflr|mtlr|mtctr|stwu|stdu|lwz|lfd|stfd|addis|bdnz|blr)\b|\.localentry\b|\.abiversion\b",
    "s390": r"(?:stmg|lmg|lgr|lgfr|llgfr|brasl|larl|brctg?|aghi|lghi|ltgr|lzdr)\s+%?[rf]?\d",
    "WebAssembly": r"(?:local\.[gs]et|[if](?:32|64)\.(?:const|load|add)|end_function)\b|\.functype\b",
    "32-bit Arm": r"(?:ldr|str|ldm|stm)\w*\s+(?:r\d+|sp)!?\s*,|(?:push|pop|stmfd|ldmfd)\s+(?:sp!,\s*)?\{|bx\s+lr\b"
    r"|\.eabi_attribute\b|\.syntax\s+(?:unified|divided)\b|\.thumb(?:_func)?\b",
    "SPARC": r"(?:save|restore)\s+%sp|(?:sethi|retl|ldx|stx|ldd|std)\s+\S*%[goli]\d|\.register\s+%g\d",
    "AVR": r"(?:ldi|sbiw|adiw|rjmp|icall|lds|sts)\s+r\d+|__SREG__\s*=",
    "Hexagon": r"\{\s*(?:r\d+(?::\d+)?|p\d|jumpr?|if)\b.*$",
    "m68k": r"(?:move|adda?|suba?|lea|cmp|tst|clr)(?:a|q|m)?\.[bwl]\s+.*(?:%[ad][0-7]|\([ad][0-7]\))",
    "PTX": r"\.(?:target\s+sm_\d+|address_size\s+(?:32|64)|visible\s+\.(?:func|entry))",
    "AMD's GPUs": r"(?:[sv]_(?:mov|add|load|waitcnt|endpgm)\w*)\b|\.amdgcn_target\b",
}


def foreign(text: str) -> str:
    """Return the name of the instruction set that a text is assembly for, "" if incc reads it, or it is unknown."""
    if isa(names()[0]).sign(text) == 0:
        return ""
    start = text[:_LOOKED_AT]
    for name, sign in _SIGNS.items():
        if re.search(rf"(?m)^(?:[\w.$]+:)?[ \t]*(?:{sign})", start):
            return name
    return ""
