"""The table of rules: what each A64 instruction reads and writes beyond what its operands say.

Most instructions write their first operand and read the others, and need no rule but that their names are known. The
table has a line for each class that differs, with the names of the Arm Architecture Reference Manual: braces
hold alternatives (`ld{add,clr}{,a,l}` is ldadd, ldadda, ldaddl, ldclr …). Of several rules for a name the first one
whose `when` matches the operands holds. Rules for operands of any instruction are not in the table but in `decode`:

- the zero register is neither read nor written;
- the base and the index of an address are read, and write-back writes the base;
- an operand that is a list reads or writes all its registers; a write to one element (`v0.d[1]`) keeps the others;
- with a merging predicate (`p0/m`) the result keeps its old elements, so it is read as well;
- a condition (`ne`) reads its flags.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import product

import msgspec

from incc.frontends.aarch64.branches import BRANCHES


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """The accesses of a class of instructions."""

    names: str = ""
    """The mnemonics, with alternatives in braces."""
    operands: str = "wr"
    """A letter for each operand, the last for all that follow: "w" written, "r" read, "u" updated (read and written),
    "-" neither. An address counts as an operand; its registers are read whatever its letter."""
    when: str = ""
    """A pattern for the operands' shapes, from the first one on; "" for any."""
    reads: str = ""
    """Flags ("NZCV") and registers that are no operands, apart by blanks."""
    writes: str = ""
    """As `reads`."""
    memory: str = ""
    """The access to the address: "load", "store", "load store", "prefetch"; "" for none."""
    size: int = 0
    """The bytes that are accessed, 0 for those that the name and the registers say."""
    pair: bool = False
    """Two registers are loaded or stored."""
    registers: int = 1
    """The number of registers that the last operand before the address stands for: this one and the following ones."""


RULES: tuple[Rule, ...] = (
    # --- integers ----------------------------------------------------------------------------------------------------
    Rule(names="{add,sub} {and,orr,eor,bic,orn,eon} {neg,mvn,mov,movz,movn} {lsl,lsr,asr,ror}{,v} extr adr adrp"),
    Rule(names="{mul,mneg,madd,msub} {s,u}{mull,mnegl,maddl,msubl,mulh,div} {add,sub,madd,msub}pt"),
    Rule(names="{s,u}{bfx,bfm,bfiz,xtb,xth} sxtw uxtw clz cls ctz cnt rbit rev rev{16,32,64} abs {s,u}{max,min}"),
    Rule(names="crc32{,c}{b,h,w,x}"),
    Rule(names="{adds,subs,ands,bics,negs}", writes="NZCV"),
    Rule(names="{cmp,cmn,tst}", operands="r", writes="NZCV"),
    Rule(names="{adc,sbc,ngc}", reads="C"),
    Rule(names="{adcs,sbcs,ngcs}", reads="C", writes="NZCV"),
    Rule(names="{ccmp,ccmn}", operands="r", writes="NZCV"),
    Rule(names="{csel,csinc,csinv,csneg,cset,csetm,cinc,cinv,cneg}"),
    Rule(names="{movk,bfi,bfm,bfc,bfxil}", operands="ur"),
    # Flags themselves.
    Rule(names="cfinv", reads="C", writes="C"),
    Rule(names="{axflag,xaflag}", reads="NZCV", writes="NZCV"),
    Rule(names="rmif", operands="r", reads="NZCV", writes="NZCV"),
    Rule(names="setf{8,16}", operands="r", writes="NZV"),
    # --- branches that use registers, and exceptions -----------------------------------------------------------------
    Rule(names="{cbz,cbnz,tbz,tbnz,br,bra{a,b},bra{a,b}z}", operands="r"),
    Rule(names="{bl,blr,blra{a,b},blra{a,b}z}", operands="r", writes="x30"),
    Rule(names="ret", operands="r", when="."),
    Rule(names="ret", reads="x30"),
    Rule(names="reta{a,b} reta{a,b}spp{c,cr}", operands="r", reads="x30 sp"),
    Rule(names="eret{aa,ab}", reads="sp"),
    Rule(names="eret drps {svc,hvc,smc,hlt,brk,udf,dcps{1,2,3},tcancel}", operands="r"),
    # --- pointer authentication --------------------------------------------------------------------------------------
    Rule(names="{pac,aut}{i,d}{,z}{a,b} xpac{i,d}", operands="ur"),
    Rule(names="pacga"),
    Rule(names="pac{,nb}i{a,b}sppc", reads="x30 sp", writes="x30"),
    Rule(names="{pac,aut}i{a,b}sp auti{a,b}sppc{,r}", operands="r", reads="x30 sp", writes="x30"),
    Rule(names="{pac,aut}i{a,b}z xpaclri", reads="x30", writes="x30"),
    Rule(names="{pac,aut}i{a,b}1716", reads="x16 x17", writes="x17"),
    Rule(names="{pac,aut}i{a,b}171615 pacm", reads="x15 x16 x17", writes="x17"),
    Rule(names="ldra{a,b}", memory="load", size=8),
    # --- system ------------------------------------------------------------------------------------------------------
    Rule(names="{nop,yield,wfe,wfi,sev,sevl,esb,csdb,dgh,sb,ssbb,pssbb,clrex,clrbhb,gcsb}", operands="-"),
    Rule(names="{dmb,dsb,isb,tsb,psb,bti,hint,smstart,smstop,chkfeat}", operands="-"),
    Rule(names="{wfet,wfit,at,dc,ic,tlbi,tlbip,cfp,cpp,dvp,cosp,brb,trcit,sys,sysp,gcspushm,gcsss1}", operands="r"),
    Rule(names="sysl gcspopm gcsss2 tstart ttest", operands="w-"),
    Rule(names="{gcsstr,gcssttr}", operands="r", memory="store", size=8),
    Rule(names="gcspop{x,cx} gcspushx tcommit", operands="-"),
    Rule(names="mrs", when="x,sysreg=nzcv", operands="w-", reads="NZCV"),
    Rule(names="mrs", when="x,sysreg=rndr", operands="w-", writes="NZCV"),
    Rule(names="mrs", when="x,sysreg=fpcr", operands="w-", reads="fpcr"),
    Rule(names="mrs", when="x,sysreg=fpsr", operands="w-", reads="fpsr"),
    Rule(names="mrs", operands="w-"),
    Rule(names="mrrs", operands="ww-"),
    Rule(names="msr", when="sysreg=nzcv", operands="-r", writes="NZCV"),
    Rule(names="msr", when="sysreg=fpcr", operands="-r", writes="fpcr"),
    Rule(names="msr", when="sysreg=fpsr", operands="-r", writes="fpsr"),
    Rule(names="msr msrr", operands="-r"),
    # --- loads and stores --------------------------------------------------------------------------------------------
    Rule(names="ld{,u,t}r{,b,h,sb,sh,sw}", memory="load"),
    Rule(names="ldap{,u}r{,b,h,sb,sh,sw} ld{,l}ar{,b,h} ld{x,ax}r{,b,h}", memory="load"),
    Rule(names="ld{,n,x,ax}p ldpsw ldiapp", operands="wwr", memory="load", pair=True),
    Rule(names="st{,u,t}r{,b,h} st{l,ll,lu}r{,b,h}", operands="r", memory="store"),
    Rule(names="st{,n}p stilp", operands="r", memory="store", pair=True),
    Rule(names="st{x,lx}r{,b,h}", memory="store"),
    Rule(names="st{x,lx}p", memory="store", pair=True),
    Rule(names="{prfm,prfum,rprfm}", operands="-r", memory="prefetch"),
    Rule(names="ld64b", memory="load", size=64, registers=8),
    Rule(names="st64b", operands="r", memory="store", size=64, registers=8),
    Rule(names="st64bv{,0}", operands="wr", memory="store", size=64, registers=8),
    # Large System Extensions. Stores without a result (stadd) are loads to the zero register.
    Rule(names="ld{add,clr,eor,set,smax,smin,umax,umin}{,a,l,al}{,b,h}", operands="rwr", memory="load store"),
    Rule(names="st{add,clr,eor,set,smax,smin,umax,umin}{,l}{,b,h}", operands="r", memory="load store"),
    Rule(names="swp{,a,l,al}{,b,h}", operands="rwr", memory="load store"),
    Rule(names="cas{,a,l,al}{,b,h}", operands="ur", memory="load store"),
    Rule(names="casp{,a,l,al}", operands="uur", memory="load store", pair=True),
    Rule(names="ld{clr,set}p{,a,l,al} swpp{,a,l,al}", operands="uur", memory="load store", size=16),
    Rule(names="rcw{,s}cas{,a,l,al}", operands="ur", writes="NZCV", memory="load store", size=8),
    Rule(names="rcw{,s}{clr,set,swp}{,a,l,al}", operands="rwr", writes="NZCV", memory="load store", size=8),
    Rule(names="rcw{,s}{cas,clr,set,swp}p{,a,l,al}", operands="uur", writes="NZCV", memory="load store", size=16),
    # Memory tagging.
    Rule(names="{irg,addg,subg,gmi,subp} ldgm"),
    Rule(names="subps", writes="NZCV"),
    Rule(names="ldg", operands="ur", memory="load", size=16),
    Rule(names="{stg,stzg}", operands="r", memory="store", size=16),
    Rule(names="{st2g,stz2g}", operands="r", memory="store", size=32),
    Rule(names="stgp", operands="r", memory="store", size=16),
    Rule(names="{stgm,stzgm}", operands="r"),
    # Memory copy and set, in three steps; the first says in the flags which of two ways the others are to go.
    Rule(names="cpy{,f}p{,wt,rt,t}{,n,wn,rn}", operands="u", writes="NZCV"),
    Rule(names="cpy{,f}{m,e}{,wt,rt,t}{,n,wn,rn}", operands="u", reads="NZCV"),
    Rule(names="set{,g}p{,t}{,n}", operands="uur", writes="NZCV"),
    Rule(names="set{,g}{m,e}{,t}{,n}", operands="uur", reads="NZCV"),
    # Structures. A load of one element of each register keeps the others.
    Rule(names="ld{1,2,3,4}{,r} ldap1", memory="load"),
    Rule(names="st{1,2,3,4} stl1", operands="r", memory="store"),
    # --- floating point and vectors ----------------------------------------------------------------------------------
    Rule(names="{fcmp,fcmpe}", operands="r", writes="NZCV"),
    Rule(names="{fccmp,fccmpe}", operands="r", writes="NZCV"),
    Rule(names="fjcvtzs", writes="NZCV"),
    Rule(names="fcsel fmov fabs fneg fsqrt {fadd,fsub,fmul,fnmul,fdiv,fabd,fmulx} {fmadd,fmsub,fnmadd,fnmsub}"),
    Rule(names="{fmax,fmin}{,nm}{,p,v,qv} faddp {famax,famin,fscale}"),
    Rule(names="fcvt fcvt{a,m,n,p,z}{s,u} {s,u}cvtf fcvtl{,2} fcvtn fcvtxn bfcvt bfcvtn {f,bf}{1,2}cvt{,l,l2,lt}"),
    Rule(names="frint{a,i,m,n,p,x,z} frint{32,64}{x,z} {frecpe,frecps,frecpx,frsqrte,frsqrts,urecpe,ursqrte}"),
    Rule(names="fcm{eq,ge,gt,le,lt,ne,uo} fac{ge,gt,le,lt} cm{eq,ge,gt,hi,hs,le,lt,tst}"),
    Rule(names="{ins,mov} {s,u}mov dup movi mvni not {zip,uzp,trn}{1,2} ext tbl {addv,addp} {fcadd,cadd,sqcadd}"),
    Rule(names="{s,u}{addl,addw,subl,subw}{,2} {s,u}{abd,abdl,abdl2,addlp,addlv,maxp,maxv,minp,minv,addp}"),
    Rule(names="{add,sub,radd,rsub}hn xtn {shl,shll,shll2,shrn,rshrn} {s,u}{shl,shll,shll2,shr,xtl,xtl2,rshl,rshr}"),
    Rule(names="{s,u}{hadd,hsub,rhadd} {s,u}q{add,sub,shl,rshl,xtn,shrn,rshrn} sq{xtun,shrun,rshrun,shlu,abs,neg}"),
    Rule(names="{s,u}mull{,2} pmul pmull{,2} sqdmul{h,l,l2} sqrdmulh {eor3,bcax,rax1,xar} sha1h aes{mc,imc}"),
    Rule(names="{sm3ss1,sm4ekey} luti{2,4}"),
    # Accumulators, and others that change their first operand.
    Rule(names="{mla,mls,fmla,fmls,fcmla,bfdot,fdot,bfmmla,fmmla,bfmla,bfmls}", operands="ur"),
    Rule(names="{s,u,su,us}dot {s,u,us}mmla", operands="ur"),
    Rule(names="{s,u}{mlal,mlsl,abal}{,2} {s,u}{aba,adalp,sra,rsra} sqdml{al,sl}{,2}", operands="ur"),
    Rule(names="sqrdml{ah,sh} sli sri", operands="ur"),
    Rule(names="fml{al,sl}{,2} bfmlal{b,t} fmlal{b,t} fmlall{bb,bt,tb,tt} suqadd usqadd", operands="ur"),
    Rule(names="{bsl,bit,bif,tbx} aes{e,d}", operands="ur"),
    Rule(names="sha1{c,m,p,su0,su1} sha256{h,h2,su0,su1} sha512{h,h2,su0,su1}", operands="ur"),
    Rule(names="sm3partw{1,2} sm3tt{1,2}{a,b} sm4e", operands="ur"),
    # The second of a pair of instructions that narrow writes the upper half.
    Rule(names="{add,sub,radd,rsub}hn2 {xtn,shrn,rshrn}2", operands="ur"),
    Rule(names="{s,u}q{xtn,shrn,rshrn}2 sq{xtun,shrun,rshrun}2", operands="ur"),
    Rule(names="{fcvtn,fcvtxn,bfcvtn}2", operands="ur"),
    # Vectors with an immediate (orr v0.4s, #1).
    Rule(names="{orr,bic}", when=r"v\.\d+[hs],#", operands="ur"),
    # --- SVE ---------------------------------------------------------------------------------------------------------
    Rule(names="ld{1,nt1}{b,h,w,d,sb,sh,sw} ld1q", memory="load"),
    Rule(names="ld{2,3,4}{b,h,w,d,q} ld1r{b,h,w,d,sb,sh,sw} ld1r{q,o}{b,h,w,d}", memory="load"),
    Rule(names="ld{ff,nf}1{b,h,w,d,sb,sh,sw}", reads="ffr", writes="ffr", memory="load"),
    Rule(names="st{1,2,3,4}{b,h,w,d,q} stnt1{b,h,w,d}", operands="r", memory="store"),
    Rule(names="prf{b,h,w,d}", operands="-r", memory="prefetch"),
    # Comparisons of integers, and operations on predicates whose names say so, set flags; those of numbers do not.
    Rule(names="cmp{eq,ge,gt,hi,hs,le,lo,ls,lt,ne} {match,nmatch}", writes="NZCV"),
    Rule(names="while{ge,gt,hi,hs,le,lo,ls,lt,rw,wr}", writes="NZCV"),
    Rule(names="{eors,nands,nors,nots,orns,orrs,movs} ptrues {brka,brkb,brkn,brkpa,brkpb}s", writes="NZCV"),
    Rule(names="{pfirst,pnext}", writes="NZCV"),
    Rule(names="ptest", operands="r", writes="NZCV"),
    Rule(names="{ctermeq,ctermne}", operands="r", reads="C", writes="NV"),
    Rule(names="{nand,nor,sel} ptrue pfalse {brka,brkb,brkn,brkpa,brkpb} cntp punpk{hi,lo} pext psel rdvl rdsvl"),
    Rule(names="rdffr", reads="ffr"),
    Rule(names="rdffrs", reads="ffr", writes="NZCV"),
    Rule(names="wrffr", operands="r", writes="ffr"),
    Rule(names="setffr", writes="ffr"),
    Rule(names="cnt{b,h,w,d} add{vl,pl,svl,spl} index movprfx fdup fcpy cpy dupm dupq extq"),
    Rule(names="{,sq,uq}{inc,dec}{b,h,w,d,p}", operands="ur"),
    # Of 32 bits to 64: the register is named twice.
    Rule(names="sq{inc,dec}{b,h,w,d}", when="x,w", operands="u-"),
    Rule(names="sq{inc,dec}p", when=r"x,p\.[bhsd],w", operands="ur-"),
    Rule(names="{and,or,eor,smax,smin,umax,umin,add}{v,qv} {s,u}addv f{add,max,min}{v,qv} fadda"),
    Rule(names="subr {s,u}divr fsubr fdivr asrd {asr,lsl,lsr}r cnot fexpa ftmad ftsmul ftssel flogb"),
    Rule(names="{mad,msb,fmad,fmsb,fnmad,fnmsb,fnmla,fnmls}"),
    Rule(names="rev{b,h,w,d} {s,u}unpk{,hi,lo} {s,u}xt{b,h,w} splice"),
    Rule(names="compact clast{a,b} last{a,b} {zip,uzp}{,q1,q2} tbl{,q}"),
    Rule(names="insr pmov", operands="ur", when=r"z\.|z\[\]"),
    Rule(names="pmov"),
    # --- SVE2 --------------------------------------------------------------------------------------------------------
    Rule(names="{s,u}{addl,addw,subl,subw,abdl,mull,shll}{b,t} saddlbt ssubl{bt,tb} sqdmull{b,t} pmull{b,t}"),
    Rule(names="{bsl1n,bsl2n,nbsl} {s,u}{hsubr,qsubr,qshlr,qrshlr,rshlr} histcnt histseg bext bdep bgrp fcvtlt"),
    Rule(names="{add,sub,radd,rsub}hnb {shrn,rshrn}b {s,u}q{xtn,shrn,rshrn}b sq{xtun,shrun,rshrun}b fcvtx fcvtnb"),
    Rule(names="{s,u}qcvt{,n} sqcvtu{,n} sqrshr{,u} uqrshr bf{add,sub,mul,max,min,maxnm,minnm}"),
    Rule(names="{add,sub,radd,rsub}hnt {shrn,rshrn}t {s,u}q{xtn,shrn,rshrn}t sq{xtun,shrun,rshrun}t", operands="ur"),
    Rule(names="{fcvtnt,fcvtxnt,bfcvtnt}", operands="ur"),
    Rule(names="{s,u}{mlal,mlsl,abal}{b,t} sqdml{al,sl}{b,t,bt} {adcl,sbcl}{b,t} eorbt eortb cmla cdot", operands="ur"),
    Rule(names="sqrdcmlah {bf,f}mlsl{b,t} {s,u,f,bf}clamp tbxq", operands="ur"),
    Rule(names="{mla,mad}pt", operands="ur"),
    # --- the Scalable Matrix Extension, with its matrix za as one register ------------------------------------------
    Rule(names="zero", operands="w"),
    Rule(names="{mova,movt}"),
    Rule(names="movaz", operands="wu"),
    Rule(names="{s,u,f,bf,us,su}{mopa,mops} {bmopa,bmops} {addha,addva}", operands="ur"),
    Rule(names="{s,u,us,su}mlall {s,u}mlsll {s,u,f,bf,us,su}vdot fvdot{b,t} {bf,f}ml{al,sl} fmlall", operands="ur"),
)  # fmt: skip
"""See the module."""

UNKNOWN = Rule()
"""The rule for other instructions: the first operand is written, the others are read."""


def names_of(pattern: str) -> list[str]:
    """Return the words of a text with alternatives in braces: `ld{,u}r` is ldr and ldur."""
    found = []
    for word in pattern.split():
        found += _expanded(word)
    return found


def _expanded(word: str) -> list[str]:
    open_at = word.find("{")
    if open_at < 0:
        return [word]
    depth, start, choices = 0, open_at + 1, []
    for at in range(open_at, len(word)):
        if word[at] == "{":
            depth += 1
        elif word[at] == "}":
            depth -= 1
        if (word[at] == "," and depth == 1) or depth == 0:
            choices.append(word[start:at])
            start = at + 1
        if depth == 0:
            break
    heads = [name for choice in choices for name in _expanded(choice)]
    return [word[:open_at] + head + tail for head, tail in product(heads, _expanded(word[start:]))]


def is_known(mnemonic: str) -> bool:
    """Return True for a branch, and for a mnemonic that is in the table."""
    return mnemonic in BRANCHES or mnemonic in _BY_NAME


def _by_name() -> dict[str, tuple[Rule, ...]]:
    table: dict[str, list[Rule]] = {}
    for rule in RULES:
        for name in names_of(rule.names):
            table.setdefault(name, []).append(rule)
    # A rule that holds always hides those after it: rules with a condition come first.
    return {name: tuple(sorted(rules, key=lambda rule: not rule.when)) for name, rules in table.items()}


_BY_NAME = _by_name()


@lru_cache(8192)
def rule_of(mnemonic: str, shapes: str) -> Rule | None:
    """Return the rule for a mnemonic and its operands' shapes, None for an unknown instruction.

    A system register's shape is `sysreg=` and its name.
    """
    for rule in _BY_NAME.get(mnemonic, ()):
        if not rule.when or re.match(rule.when, shapes):
            return rule
    return None
