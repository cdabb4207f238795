# CASE: -mcpu=bdver1 -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# bytes.c: clang-19 -Os -fno-asynchronous-unwind-tables -fno-unroll-loops -march=bdver1
	.text
	.file	"bytes.c"
	.section	.rodata.cst32,"aM",@progbits,32
	.p2align	5, 0x0                          # -- Begin function rev
.LCPI0_0:
	.quad	0                               # 0x0
	.quad	1                               # 0x1
	.quad	2                               # 0x2
	.quad	3                               # 0x3
.LCPI0_1:
	.quad	4                               # 0x4
	.quad	5                               # 0x5
	.quad	6                               # 0x6
	.quad	7                               # 0x7
	.section	.rodata.cst16,"aM",@progbits,16
	.p2align	4, 0x0
.LCPI0_2:
	.byte	3                               # 0x3
	.byte	2                               # 0x2
	.byte	1                               # 0x1
	.byte	0                               # 0x0
	.byte	7                               # 0x7
	.byte	6                               # 0x6
	.byte	5                               # 0x5
	.byte	4                               # 0x4
	.byte	11                              # 0xb
	.byte	10                              # 0xa
	.byte	9                               # 0x9
	.byte	8                               # 0x8
	.byte	15                              # 0xf
	.byte	14                              # 0xe
	.byte	13                              # 0xd
	.byte	12                              # 0xc
	.text
	.globl	rev
	.type	rev,@function
rev:                                    # @rev
# %bb.0:
                                        # kill: def $edx killed $edx def $rdx
	testl	%edx, %edx
	jle	.LBB0_3
# %bb.1:
	movl	%edx, %eax
	vmovaps	.LCPI0_0(%rip), %ymm1           # ymm1 = [0,1,2,3]
	vmovaps	.LCPI0_1(%rip), %ymm2           # ymm2 = [4,5,6,7]
	vmovdqa	.LCPI0_2(%rip), %xmm4           # xmm4 = [3,2,1,0,7,6,5,4,11,10,9,8,15,14,13,12]
	addl	$7, %edx
	decq	%rax
	andl	$-8, %edx
	vmovq	%rax, %xmm0
	xorl	%eax, %eax
	vpshufd	$68, %xmm0, %xmm0               # xmm0 = xmm0[0,1,0,1]
	vinsertf128	$1, %xmm0, %ymm0, %ymm0
	vextractf128	$1, %ymm0, %xmm3
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	vmovq	%rax, %xmm5
	vpshufd	$68, %xmm5, %xmm5               # xmm5 = xmm5[0,1,0,1]
	vinsertf128	$1, %xmm5, %ymm5, %ymm5
	vorps	%ymm1, %ymm5, %ymm6
	vorps	%ymm2, %ymm5, %ymm5
	vextractf128	$1, %ymm5, %xmm7
	vpcomleuq	%xmm0, %xmm5, %xmm5
	vpcomleuq	%xmm3, %xmm7, %xmm7
	vpackssdw	%xmm7, %xmm5, %xmm5
	vextractf128	$1, %ymm6, %xmm7
	vpcomleuq	%xmm0, %xmm6, %xmm6
	vpcomleuq	%xmm3, %xmm7, %xmm7
	vpackssdw	%xmm7, %xmm6, %xmm6
	vpackssdw	%xmm5, %xmm6, %xmm5
	vpmovsxwd	%xmm5, %xmm6
	vpunpckhwd	%xmm5, %xmm5, %xmm5     # xmm5 = xmm5[4,4,5,5,6,6,7,7]
	vinsertf128	$1, %xmm5, %ymm6, %ymm5
	vmaskmovps	(%rsi,%rax,4), %ymm5, %ymm6
	vextractf128	$1, %ymm6, %xmm7
	vpshufb	%xmm4, %xmm6, %xmm6
	vpshufb	%xmm4, %xmm7, %xmm7
	vinsertf128	$1, %xmm7, %ymm6, %ymm6
	vmaskmovps	%ymm6, %ymm5, (%rdi,%rax,4)
	addq	$8, %rax
	cmpq	%rax, %rdx
	jne	.LBB0_2
.LBB0_3:
	vzeroupper
	retq
.Lfunc_end0:
	.size	rev, .Lfunc_end0-rev
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
