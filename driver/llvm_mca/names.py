"""LLVM 19's names for x86: its processors, and its features with a line on each."""

# ruff: noqa: E501

CPUS = """
alderlake amdfam10 arrowlake arrowlake-s arrowlake_s athlon athlon-4 athlon-fx athlon-mp athlon-tbird athlon-xp
athlon64 athlon64-sse3 atom atom_sse4_2 atom_sse4_2_movbe barcelona bdver1 bdver2 bdver3 bdver4 bonnell broadwell
btver1 btver2 c3 c3-2 cannonlake cascadelake clearwaterforest cooperlake core-avx-i core-avx2 core2 core_2_duo_sse4_1
core_2_duo_ssse3 core_2nd_gen_avx core_3rd_gen_avx core_4th_gen_avx core_4th_gen_avx_tsx core_5th_gen_avx
core_5th_gen_avx_tsx core_aes_pclmulqdq core_i7_sse4_2 corei7 corei7-avx emeraldrapids generic geode goldmont
goldmont-plus goldmont_plus gracemont grandridge graniterapids graniterapids-d graniterapids_d haswell i386 i486 i586
i686 icelake-client icelake-server icelake_client icelake_server ivybridge k6 k6-2 k6-3 k8 k8-sse3 knl knm lakemont
lunarlake meteorlake mic_avx512 nehalem nocona opteron opteron-sse3 pantherlake penryn pentium pentium-m pentium-mmx
pentium2 pentium3 pentium3m pentium4 pentium4m pentium_4 pentium_4_sse3 pentium_ii pentium_iii pentium_iii_no_xmm_regs
pentium_m pentium_mmx pentium_pro pentiumpro prescott raptorlake rocketlake sandybridge sapphirerapids sierraforest
silvermont skx skylake skylake-avx512 skylake_avx512 slm tigerlake tremont westmere winchip-c6 winchip2 x86-64
x86-64-v2 x86-64-v3 x86-64-v4 yonah znver1 znver2 znver3 znver4 znver5
"""
"""The processors that -mcpu takes, sorted as LLVM lists them."""

UNSCHEDULED = """
amdfam10 athlon athlon-4 athlon-fx athlon-mp athlon-tbird athlon-xp athlon64 athlon64-sse3 barcelona bdver3 bdver4
btver1 c3 c3-2 geode i386 i486 i586 i686 k6 k6-2 k6-3 k8 k8-sse3 lakemont nocona opteron opteron-sse3 pentium
pentium-m pentium-mmx pentium2 pentium3 pentium3m pentium4 pentium4m pentium_4 pentium_4_sse3 pentium_ii pentium_iii
pentium_iii_no_xmm_regs pentium_m pentium_mmx pentium_pro pentiumpro prescott winchip-c6 winchip2
"""
"""Those of them for which LLVM has no scheduling model, so that llvm-mca refuses them."""

FEATURES = """
16bit-mode	16-bit mode (i8086)
32bit-mode	32-bit mode (80386)
64bit	Support 64-bit instructions
64bit-mode	64-bit mode (x86_64)
adx	Support ADX instructions
aes	Enable AES instructions
allow-light-256-bit	Enable generation of 256-bit load/stores even if we prefer 128-bit
amx-bf16	Support AMX-BF16 instructions
amx-complex	Support AMX-COMPLEX instructions
amx-fp16	Support AMX amx-fp16 instructions
amx-int8	Support AMX-INT8 instructions
amx-tile	Support AMX-TILE instructions
avx	Enable AVX instructions
avx10.1-256	Support AVX10.1 up to 256-bit instruction
avx10.1-512	Support AVX10.1 up to 512-bit instruction
avx2	Enable AVX2 instructions
avx512bf16	Support bfloat16 floating point
avx512bitalg	Enable AVX-512 Bit Algorithms
avx512bw	Enable AVX-512 Byte and Word Instructions
avx512cd	Enable AVX-512 Conflict Detection Instructions
avx512dq	Enable AVX-512 Doubleword and Quadword Instructions
avx512f	Enable AVX-512 instructions
avx512fp16	Support 16-bit floating point
avx512ifma	Enable AVX-512 Integer Fused Multiple-Add
avx512vbmi	Enable AVX-512 Vector Byte Manipulation Instructions
avx512vbmi2	Enable AVX-512 further Vector Byte Manipulation Instructions
avx512vl	Enable AVX-512 Vector Length eXtensions
avx512vnni	Enable AVX-512 Vector Neural Network Instructions
avx512vp2intersect	Enable AVX-512 vp2intersect
avx512vpopcntdq	Enable AVX-512 Population Count Instructions
avxifma	Enable AVX-IFMA
avxneconvert	Support AVX-NE-CONVERT instructions
avxvnni	Support AVX_VNNI encoding
avxvnniint16	Enable AVX-VNNI-INT16
avxvnniint8	Enable AVX-VNNI-INT8
bmi	Support BMI instructions
bmi2	Support BMI2 instructions
branch-hint	Target has branch hint feature
branchfusion	CMP/TEST can be fused with conditional branches
ccmp	Support conditional cmp & test instructions
cf	Support conditional faulting
cldemote	Enable Cache Line Demote
clflushopt	Flush A Cache Line Optimized
clwb	Cache Line Write Back
clzero	Enable Cache Line Zero
cmov	Enable conditional move instructions
cmpccxadd	Support CMPCCXADD instructions
crc32	Enable SSE 4.2 CRC32 instruction (used when SSE4.2 is supported but function is GPR only)
cx16	64-bit with cmpxchg16b (this is true for most x86-64 chips, but not the first AMD chips)
cx8	Support CMPXCHG8B instructions
egpr	Support extended general purpose register
enqcmd	Has ENQCMD instructions
ermsb	REP MOVS/STOS are fast
evex512	Support ZMM and 64-bit mask instructions
f16c	Support 16-bit floating point conversion instructions
false-deps-getmant	VGETMANTSS/SD/SH and VGETMANDPS/PD(memory version) has a false dependency on dest register
false-deps-lzcnt-tzcnt	LZCNT/TZCNT have a false dependency on dest register
false-deps-mulc	VF[C]MULCPH/SH has a false dependency on dest register
false-deps-mullq	VPMULLQ has a false dependency on dest register
false-deps-perm	VPERMD/Q/PS/PD has a false dependency on dest register
false-deps-popcnt	POPCNT has a false dependency on dest register
false-deps-range	VRANGEPD/PS/SD/SS has a false dependency on dest register
fast-11bytenop	Target can quickly decode up to 11 byte NOPs
fast-15bytenop	Target can quickly decode up to 15 byte NOPs
fast-7bytenop	Target can quickly decode up to 7 byte NOPs
fast-bextr	Indicates that the BEXTR instruction is implemented as a single uop with good throughput
fast-dpwssd	Prefer vpdpwssd instruction over vpmaddwd+vpaddd instruction sequence
fast-gather	Indicates if gather is reasonably fast (this is true for Skylake client and all AVX-512 CPUs)
fast-hops	Prefer horizontal vector math instructions (haddp, phsub, etc.) over normal vector instructions with shuffles
fast-imm16	Prefer a i16 instruction with i16 immediate over extension to i32
fast-lzcnt	LZCNT instructions are as fast as most simple integer ops
fast-movbe	Prefer a movbe over a single-use load + bswap / single-use bswap + store
fast-scalar-fsqrt	Scalar SQRT is fast (disable Newton-Raphson)
fast-scalar-shift-masks	Prefer a left/right scalar logical shift pair over a shift+and pair
fast-shld-rotate	SHLD can be used as a faster rotate
fast-variable-crosslane-shuffle	Cross-lane shuffles with variable masks are fast
fast-variable-perlane-shuffle	Per-lane shuffles with variable masks are fast
fast-vector-fsqrt	Vector SQRT is fast (disable Newton-Raphson)
fast-vector-shift-masks	Prefer a left/right vector logical shift pair over a shift+and pair
faster-shift-than-shuffle	Shifts are faster (or as fast) as shuffle
fma	Enable three-operand fused multiple-add
fma4	Enable four-operand fused multiple-add
fsgsbase	Support FS/GS Base instructions
fsrm	REP MOVSB of short lengths is faster
fxsr	Support fxsave/fxrestore instructions
gfni	Enable Galois Field Arithmetic Instructions
harden-sls-ijmp	Harden against straight line speculation across indirect JMP instructions.
harden-sls-ret	Harden against straight line speculation across RET instructions.
hreset	Has hreset instruction
idivl-to-divb	Use 8-bit divide for positive values less than 256
idivq-to-divl	Use 32-bit divide for positive values less than 2^32
inline-asm-use-gpr32	Enable use of GPR32 in inline assembly for APX
invpcid	Invalidate Process-Context Identifier
kl	Support Key Locker kl Instructions
lea-sp	Use LEA for adjusting the stack pointer (this is an optimization for Intel Atom processors)
lea-uses-ag	LEA instruction needs inputs at AG stage
lvi-cfi	Prevent indirect calls/branches from using a memory operand, and precede all indirect calls/branches from a register with an LFENCE instruction to serialize control flow. Also decompose RET instructions into a POP+LFENCE+JMP sequence.
lvi-load-hardening	Insert LFENCE instructions to prevent data speculatively injected into loads from being used maliciously.
lwp	Enable LWP instructions
lzcnt	Support LZCNT instruction
macrofusion	Various instructions can be fused with conditional branches
mmx	Enable MMX instructions
movbe	Support MOVBE instruction
movdir64b	Support movdir64b instruction (direct store 64 bytes)
movdiri	Support movdiri instruction (direct store integer)
mwaitx	Enable MONITORX/MWAITX timer functionality
ndd	Support non-destructive destination
nf	Support status flags update suppression
no-bypass-delay	Has no bypass delay when using the 'wrong' domain
no-bypass-delay-blend	Has no bypass delay when using the 'wrong' blend type
no-bypass-delay-mov	Has no bypass delay when using the 'wrong' mov type
no-bypass-delay-shuffle	Has no bypass delay when using the 'wrong' shuffle type
nopl	Enable NOPL instruction (generally pentium pro+)
pad-short-functions	Pad short functions (to prevent a stall when returning too early)
pclmul	Enable packed carry-less multiplication instructions
pconfig	platform configuration instruction
pku	Enable protection keys
popcnt	Support POPCNT instruction
ppx	Support Push-Pop Acceleration
prefer-128-bit	Prefer 128-bit AVX instructions
prefer-256-bit	Prefer 256-bit AVX instructions
prefer-mask-registers	Prefer AVX512 mask registers over PTEST/MOVMSK
prefer-movmsk-over-vtest	Prefer movmsk over vtest instruction
prefer-no-gather	Prefer no gather instructions
prefer-no-scatter	Prefer no scatter instructions
prefetchi	Prefetch instruction with T0 or T1 Hint
prfchw	Support PRFCHW instructions
ptwrite	Support ptwrite instruction
push2pop2	Support PUSH2/POP2 instructions
raoint	Support RAO-INT instructions
rdpid	Support RDPID instructions
rdpru	Support RDPRU instructions
rdrnd	Support RDRAND instruction
rdseed	Support RDSEED instruction
retpoline	Remove speculation of indirect branches from the generated code, either by avoiding them entirely or lowering them with a speculation blocking construct
retpoline-external-thunk	When lowering an indirect call or branch using a `retpoline`, rely on the specified user provided thunk rather than emitting one ourselves. Only has effect when combined with some other retpoline feature
retpoline-indirect-branches	Remove speculation of indirect branches from the generated code
retpoline-indirect-calls	Remove speculation of indirect calls from the generated code
rtm	Support RTM instructions
sahf	Support LAHF and SAHF instructions in 64-bit mode
sbb-dep-breaking	SBB with same register has no source dependency
serialize	Has serialize instruction
seses	Prevent speculative execution side channel timing attacks by inserting a speculation barrier before memory reads, memory writes, and conditional branches. Implies LVI Control Flow integrity.
sgx	Enable Software Guard Extensions
sha	Enable SHA instructions
sha512	Support SHA512 instructions
shstk	Support CET Shadow-Stack instructions
slow-3ops-lea	LEA instruction with 3 ops or certain registers is slow
slow-incdec	INC and DEC instructions are slower than ADD and SUB
slow-lea	LEA instruction with certain arguments is slow
slow-pmaddwd	PMADDWD is slower than PMULLD
slow-pmulld	PMULLD instruction is slow (compared to PMULLW/PMULHW and PMULUDQ)
slow-shld	SHLD instruction is slow
slow-two-mem-ops	Two memory operand instructions are slow
slow-unaligned-mem-16	Slow unaligned 16-byte memory access
slow-unaligned-mem-32	Slow unaligned 32-byte memory access
sm3	Support SM3 instructions
sm4	Support SM4 instructions
soft-float	Use software floating point features
sse	Enable SSE instructions
sse-unaligned-mem	Allow unaligned memory operands with SSE instructions (this may require setting a configuration bit in the processor)
sse2	Enable SSE2 instructions
sse3	Enable SSE3 instructions
sse4.1	Enable SSE 4.1 instructions
sse4.2	Enable SSE 4.2 instructions
sse4a	Support SSE 4a instructions
ssse3	Enable SSSE3 instructions
tagged-globals	Use an instruction sequence for taking the address of a global that allows a memory tag in the upper address bits.
tbm	Enable TBM instructions
tsxldtrk	Support TSXLDTRK instructions
tuning-fast-imm-vector-shift	Vector shifts are fast (2/cycle) as opposed to slow (1/cycle)
uintr	Has UINTR Instructions
use-glm-div-sqrt-costs	Use Goldmont specific floating point div/sqrt costs
use-slm-arith-costs	Use Silvermont specific arithmetic costs
usermsr	Support USERMSR instructions
vaes	Promote selected AES instructions to AVX512/AVX registers
vpclmulqdq	Enable vpclmulqdq instructions
vzeroupper	Should insert vzeroupper instructions
waitpkg	Wait and pause enhancements
wbnoinvd	Write Back No Invalidate
widekl	Support Key Locker wide Instructions
x87	Enable X87 float instructions
xop	Enable XOP instructions
xsave	Support xsave instructions
xsavec	Support xsavec instructions
xsaveopt	Support xsaveopt instructions
xsaves	Support xsaves instructions
zu	Support zero-upper SETcc/IMUL
"""
"""The features that -mattr takes: name, tabulator, what it is."""
