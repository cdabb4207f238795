# CASE: -mcpu=sierraforest -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# popc.c: clang-19 -Os -fno-asynchronous-unwind-tables -fno-unroll-loops -march=sierraforest
	.text
	.file	"popc.c"
	.section	.rodata.cst32,"aM",@progbits,32
	.p2align	5, 0x0                          # -- Begin function popc
.LCPI0_0:
	.quad	0                               # 0x0
	.quad	1                               # 0x1
	.quad	2                               # 0x2
	.quad	3                               # 0x3
.LCPI0_3:
	.byte	0                               # 0x0
	.byte	1                               # 0x1
	.byte	1                               # 0x1
	.byte	2                               # 0x2
	.byte	1                               # 0x1
	.byte	2                               # 0x2
	.byte	2                               # 0x2
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.byte	2                               # 0x2
	.byte	2                               # 0x2
	.byte	3                               # 0x3
	.byte	2                               # 0x2
	.byte	3                               # 0x3
	.byte	3                               # 0x3
	.byte	4                               # 0x4
	.byte	0                               # 0x0
	.byte	1                               # 0x1
	.byte	1                               # 0x1
	.byte	2                               # 0x2
	.byte	1                               # 0x1
	.byte	2                               # 0x2
	.byte	2                               # 0x2
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.byte	2                               # 0x2
	.byte	2                               # 0x2
	.byte	3                               # 0x3
	.byte	2                               # 0x2
	.byte	3                               # 0x3
	.byte	3                               # 0x3
	.byte	4                               # 0x4
.LCPI0_4:
	.byte	0                               # 0x0
	.byte	0                               # 0x0
	.byte	0                               # 0x0
	.byte	0                               # 0x0
	.byte	128                             # 0x80
	.byte	64                              # 0x40
	.byte	32                              # 0x20
	.byte	16                              # 0x10
	.byte	0                               # 0x0
	.byte	0                               # 0x0
	.byte	0                               # 0x0
	.byte	0                               # 0x0
	.byte	128                             # 0x80
	.byte	64                              # 0x40
	.byte	32                              # 0x20
	.byte	16                              # 0x10
	.byte	0                               # 0x0
	.byte	0                               # 0x0
	.byte	0                               # 0x0
	.byte	0                               # 0x0
	.byte	128                             # 0x80
	.byte	64                              # 0x40
	.byte	32                              # 0x20
	.byte	16                              # 0x10
	.byte	0                               # 0x0
	.byte	0                               # 0x0
	.byte	0                               # 0x0
	.byte	0                               # 0x0
	.byte	128                             # 0x80
	.byte	64                              # 0x40
	.byte	32                              # 0x20
	.byte	16                              # 0x10
	.section	.rodata.cst8,"aM",@progbits,8
	.p2align	3, 0x0
.LCPI0_1:
	.quad	-9223372036854775808            # 0x8000000000000000
.LCPI0_7:
	.byte	0                               # 0x0
	.byte	0                               # 0x0
	.byte	0                               # 0x0
	.byte	0                               # 0x0
	.byte	128                             # 0x80
	.byte	64                              # 0x40
	.byte	32                              # 0x20
	.byte	16                              # 0x10
	.section	.rodata,"a",@progbits
.LCPI0_2:
	.byte	15                              # 0xf
	.section	.rodata.cst4,"aM",@progbits,4
.LCPI0_5:
	.byte	0                               # 0x0
	.byte	1                               # 0x1
	.byte	2                               # 0x2
	.byte	3                               # 0x3
	.section	.rodata.cst16,"aM",@progbits,16
	.p2align	4, 0x0
.LCPI0_6:
	.byte	0                               # 0x0
	.byte	1                               # 0x1
	.byte	1                               # 0x1
	.byte	2                               # 0x2
	.byte	1                               # 0x1
	.byte	2                               # 0x2
	.byte	2                               # 0x2
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.byte	2                               # 0x2
	.byte	2                               # 0x2
	.byte	3                               # 0x3
	.byte	2                               # 0x2
	.byte	3                               # 0x3
	.byte	3                               # 0x3
	.byte	4                               # 0x4
	.text
	.globl	popc
	.type	popc,@function
popc:                                   # @popc
# %bb.0:
	testq	%rsi, %rsi
	jle	.LBB0_1
# %bb.3:
	leaq	3(%rsi), %rax
	andq	$-4, %rax
	decq	%rsi
	vmovq	%rsi, %xmm0
	vpbroadcastq	%xmm0, %ymm3
	vpxor	%xmm0, %xmm0, %xmm0
	xorl	%ecx, %ecx
	vpmovsxbq	.LCPI0_5(%rip), %ymm1   # ymm1 = [0,1,2,3]
	vpbroadcastq	.LCPI0_1(%rip), %ymm2   # ymm2 = [9223372036854775808,9223372036854775808,9223372036854775808,9223372036854775808]
	vpxor	%ymm2, %ymm3, %ymm3
	vpcmpeqd	%ymm4, %ymm4, %ymm4
	vpbroadcastb	.LCPI0_2(%rip), %ymm5   # ymm5 = [15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15]
	vbroadcasti128	.LCPI0_6(%rip), %ymm6   # ymm6 = [0,1,1,2,1,2,2,3,1,2,2,3,2,3,3,4,0,1,1,2,1,2,2,3,1,2,2,3,2,3,3,4]
                                        # ymm6 = mem[0,1,0,1]
	vpbroadcastq	.LCPI0_7(%rip), %ymm7   # ymm7 = [0,0,0,0,128,64,32,16,0,0,0,0,128,64,32,16,0,0,0,0,128,64,32,16,0,0,0,0,128,64,32,16]
	vpxor	%xmm10, %xmm10, %xmm10
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	vmovdqa	%ymm10, %ymm8
	vmovq	%rcx, %xmm9
	vpbroadcastq	%xmm9, %ymm9
	vpor	%ymm1, %ymm9, %ymm9
	vpxor	%ymm2, %ymm9, %ymm9
	vpcmpgtq	%ymm3, %ymm9, %ymm9
	vpxor	%ymm4, %ymm9, %ymm10
	vpmaskmovq	(%rdi,%rcx,8), %ymm10, %ymm10
	vpand	%ymm5, %ymm10, %ymm11
	vpshufb	%ymm11, %ymm6, %ymm11
	vgf2p8affineqb	$0, %ymm7, %ymm10, %ymm10
	vpshufb	%ymm10, %ymm6, %ymm10
	vpaddb	%ymm11, %ymm10, %ymm10
	vpsadbw	%ymm0, %ymm10, %ymm10
	vpaddq	%ymm8, %ymm10, %ymm10
	addq	$4, %rcx
	cmpq	%rcx, %rax
	jne	.LBB0_4
# %bb.5:
	vblendvpd	%ymm9, %ymm8, %ymm10, %ymm0
	vextractf128	$1, %ymm0, %xmm1
	vpaddq	%xmm1, %xmm0, %xmm0
	vpshufd	$238, %xmm0, %xmm1              # xmm1 = xmm0[2,3,2,3]
	vpaddq	%xmm1, %xmm0, %xmm0
	vmovq	%xmm0, %rax
	vzeroupper
	retq
.LBB0_1:
	xorl	%eax, %eax
	retq
.Lfunc_end0:
	.size	popc, .Lfunc_end0-popc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
