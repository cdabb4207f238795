# CASE: -mcpu=bdver4 -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# norm.c: clang-19 -Os -fno-asynchronous-unwind-tables -fno-unroll-loops -march=bdver4
	.text
	.file	"norm.c"
	.section	.rodata.cst32,"aM",@progbits,32
	.p2align	5, 0x0                          # -- Begin function norm
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
	.section	.rodata.cst8,"aM",@progbits,8
	.p2align	3, 0x0
.LCPI0_2:
	.quad	-9223372036854775808            # 0x8000000000000000
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2, 0x0
.LCPI0_3:
	.long	0x3f800000                      # float 1
.LCPI0_4:
	.byte	0                               # 0x0
	.byte	1                               # 0x1
	.byte	2                               # 0x2
	.byte	3                               # 0x3
.LCPI0_5:
	.byte	4                               # 0x4
	.byte	5                               # 0x5
	.byte	6                               # 0x6
	.byte	7                               # 0x7
	.text
	.globl	norm
	.type	norm,@function
norm:                                   # @norm
# %bb.0:
                                        # kill: def $esi killed $esi def $rsi
	testl	%esi, %esi
	jle	.LBB0_3
# %bb.1:
	movl	%esi, %eax
	addl	$7, %esi
	andl	$-8, %esi
	decq	%rax
	vmovq	%rax, %xmm0
	vpbroadcastq	%xmm0, %ymm3
	xorl	%eax, %eax
	vpmovsxbq	.LCPI0_4(%rip), %ymm0   # ymm0 = [0,1,2,3]
	vpmovsxbq	.LCPI0_5(%rip), %ymm1   # ymm1 = [4,5,6,7]
	vpbroadcastq	.LCPI0_2(%rip), %ymm2   # ymm2 = [9223372036854775808,9223372036854775808,9223372036854775808,9223372036854775808]
	vpxor	%ymm2, %ymm3, %ymm3
	vpcmpeqd	%ymm4, %ymm4, %ymm4
	vbroadcastss	.LCPI0_3(%rip), %ymm5   # ymm5 = [1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0]
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	vmovq	%rax, %xmm6
	vpbroadcastq	%xmm6, %ymm6
	vpor	%ymm0, %ymm6, %ymm7
	vpor	%ymm1, %ymm6, %ymm6
	vpxor	%ymm2, %ymm6, %ymm6
	vpcmpgtq	%ymm3, %ymm6, %ymm6
	vpxor	%ymm2, %ymm7, %ymm7
	vpcmpgtq	%ymm3, %ymm7, %ymm7
	vpackssdw	%ymm6, %ymm7, %ymm6
	vpxor	%ymm4, %ymm6, %ymm6
	vextracti128	$1, %ymm6, %xmm7
	vpackssdw	%xmm7, %xmm6, %xmm6
	vpshufd	$216, %xmm6, %xmm6              # xmm6 = xmm6[0,2,1,3]
	vpmovzxwd	%xmm6, %ymm6            # ymm6 = xmm6[0],zero,xmm6[1],zero,xmm6[2],zero,xmm6[3],zero,xmm6[4],zero,xmm6[5],zero,xmm6[6],zero,xmm6[7],zero
	vpslld	$31, %ymm6, %ymm6
	vmaskmovps	(%rdi,%rax,4), %ymm6, %ymm7
	vfmaddps	%ymm5, %ymm7, %ymm7, %ymm7      # ymm7 = (ymm7 * ymm7) + ymm5
	vsqrtps	%ymm7, %ymm7
	vdivps	%ymm7, %ymm5, %ymm7
	vmaskmovps	%ymm7, %ymm6, (%rdi,%rax,4)
	addq	$8, %rax
	cmpq	%rax, %rsi
	jne	.LBB0_2
.LBB0_3:
	vzeroupper
	retq
.Lfunc_end0:
	.size	norm, .Lfunc_end0-norm
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
