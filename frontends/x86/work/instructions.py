"""The kind of work of an x86 instruction, in common words, and its alignment requirements."""

from __future__ import annotations

import re
from functools import lru_cache

from incc.frontends.kernel import Instruction

# The first that fits a mnemonic, in Intel's spelling and without the v of VEX and EVEX, says it.
_KINDS = (
    (r"p?gather|gather", "gathers"),
    (r"p?scatter|scatter", "scatters"),
    (r"cvt", "conversions"),
    (r"pmov[us]{0,2}(?:qd|qw|qb|dw|db|wb)$", "conversions"),
    (r"fn?m(?:add|sub)|4fn?madd", "FMAs"),
    (r"pdp|dpbf|dpph", "dot products"),
    (r"p?hadd|p?hsub|dpp[sd]|mpsadbw|psadbw|dbpsadbw", "horizontal operations"),
    (r"(?:add|sub|addsub)[sp][sdh]$", "additions"),
    (r"mul[sp][sdh]$", "multiplications"),
    (r"i?div|div[sp][sdh]$", "divisions"),
    (r"sqrt", "square roots"),
    (r"rcp|rsqrt", "approximate reciprocals"),
    (r"round|rndscale|reduce|getexp|getmant|scalef|fixupimm|range", "rounding and scaling"),
    (r"max[sp]|min[sp]|pmax|pmin", "maxima and minima"),
    (r"pcmp[ei]str", "string comparisons"),
    (r"u?comis|cmp[a-z]*[sp][sdh]$|pcmp|pcom|ptest|test[ps][sd]$|fpclass", "vector comparisons"),
    (r"aes|sha|pclmul|gf2p8|sm3|sm4", "cryptography"),
    (r"pmul|pmadd", "integer multiplications"),
    (r"p?blend", "blends"),
    (r"ps[lr]ldq|palignr|align", "shuffles"),
    (r"p?shuf|perm|unpck|punpck|p?ack|pack|p?insr|p?extr|insert|extract|pbroadcast|broadcast", "shuffles"),
    (r"mov(?:ddup|shdup|sldup|hlps|lhps|hps|hpd|lps|lpd)|pmov[sz]x|p?compress|p?expand|pconflict", "shuffles"),
    (r"pmovmskb|movmsk|pmov[bwdq]2m|pmovm2", "masks from vectors"),
    (r"ps[lr]l|psra|pshl|pshr|prol|pror|pmultishift", "vector shifts"),
    (r"p(?:add|sub|abs|sign|avg)", "vector additions"),
    (r"p?ternlog|pand|por|pxor|(?:and|andn|or|xor)p[sd]$", "vector logic"),
    (r"k[a-z]+[bwdq]$", "mask operations"),
)
_GENERAL = (
    (r"i?mul", "integer multiplications"),
    (r"i?div", "integer divisions"),
    (r"lea", "address computations"),
    (r"add|sub|inc|dec|neg|adc|sbb|adcx|adox|xadd|cmpxchg", "integer additions"),
    (r"cmp|test", "comparisons"),
    (r"and|or|xor|not", "logic"),
    (r"sh[lr]|sa[lr]|ro[lr]|rc[lr]|sarx|rorx", "shifts"),
    (r"cmov|set", "conditional moves"),
    (r"bs[fr]|[lt]zcnt|popcnt|pdep|pext|bt|bls|bextr|bzhi|crc32|bswap|movbe", "bit operations"),
    (r"movs[bwdq]?$|stos|lods|scas|cmps|rep", "string instructions"),
    (r"mov|xchg|push|pop|c[bwd][dwq]e?$|cqo", "moves"),
    (r"nop|endbr", "no-operations"),
)


def work_of(instruction: Instruction) -> str:
    """Return the kind of work in the plural, "shuffles"; "other computation" without a common name."""
    mnemonic = instruction.mnemonic.lower()
    if instruction.branch:
        return "branches"
    vectors = any(access.register.kind in ("vector", "mask", "mmx") for access in instruction.registers)
    plain = mnemonic.removeprefix("v") if vectors else mnemonic
    arithmetic = instruction.arithmetic
    if vectors and arithmetic is None and re.match(r"p?mov", plain) and not re.match(_NO_MOVE, plain):
        general = any(a.register.kind == "general" and not a.address for a in instruction.registers)
        return "moves between register files" if general else "moves"
    return _work_of_mnemonic(plain, vectors)


@lru_cache(maxsize=1 << 12)
def _work_of_mnemonic(plain: str, vectors: bool) -> str:
    for pattern, name in _KINDS if vectors else _GENERAL:
        if re.match(pattern, plain):
            return f"floating-point {name}" if name in _OF_BOTH and vectors else name
    return "other computation"


_NO_MOVE = r"mov(?:ddup|shdup|sldup|hlps|lhps|hps|hpd|lps|lpd|msk)|pmov"
_OF_BOTH = frozenset(("additions", "multiplications"))


_ALIGNED = frozenset(("movaps", "movapd", "movdqa", "movdqa32", "movdqa64", "movntdqa"))
_UNALIGNED = frozenset(("movups", "movupd", "movdqu", "lddqu"))


def is_aligned(instruction: Instruction) -> bool:
    """Return True if an instruction faults unless its vectors in memory lie at multiples of their size.

    Intel's manual, volume 1, 14.9: aligned moves, and every access of 16 bytes that is encoded without VEX but for the
    unaligned moves.
    """
    plain = instruction.mnemonic.lower().removeprefix("v")
    if plain in _ALIGNED:
        return True
    without_vex = not instruction.form.startswith(("VEX_", "EVEX_", "XOP_", "MVEX_"))
    return without_vex and plain not in _UNALIGNED and any(m.size == 16 for m in instruction.memory)
