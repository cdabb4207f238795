# CASE: -mcpu=knm -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# stencil.c: clang-19 -Os -fno-asynchronous-unwind-tables -fno-unroll-loops -march=knm
	.text
	.file	"stencil.c"
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0                          # -- Begin function stencil
.LCPI0_0:
	.quad	0                               # 0x0
	.quad	1                               # 0x1
	.quad	2                               # 0x2
	.quad	3                               # 0x3
	.quad	4                               # 0x4
	.quad	5                               # 0x5
	.quad	6                               # 0x6
	.quad	7                               # 0x7
.LCPI0_1:
	.quad	15                              # 0xf
	.quad	0                               # 0x0
	.quad	1                               # 0x1
	.quad	2                               # 0x2
	.quad	3                               # 0x3
	.quad	4                               # 0x4
	.quad	5                               # 0x5
	.quad	6                               # 0x6
	.section	.rodata.cst8,"aM",@progbits,8
	.p2align	3, 0x0
.LCPI0_2:
	.quad	0x3fe0000000000000              # double 0.5
.LCPI0_3:
	.quad	0x3fd0000000000000              # double 0.25
.LCPI0_4:
	.byte	0                               # 0x0
	.byte	1                               # 0x1
	.byte	2                               # 0x2
	.byte	3                               # 0x3
	.byte	4                               # 0x4
	.byte	5                               # 0x5
	.byte	6                               # 0x6
	.byte	7                               # 0x7
	.text
	.globl	stencil
	.type	stencil,@function
stencil:                                # @stencil
# %bb.0:
                                        # kill: def $edx killed $edx def $rdx
	cmpl	$3, %edx
	jl	.LBB0_3
# %bb.1:
	movl	%edx, %eax
	addl	$5, %edx
	andl	$-8, %edx
	addq	$-3, %rax
	vbroadcastsd	8(%rsi), %zmm5
	vpbroadcastq	%rax, %zmm0
	addq	$16, %rsi
	addq	$8, %rdi
	xorl	%eax, %eax
	vpmovsxbq	.LCPI0_4(%rip), %zmm1   # zmm1 = [0,1,2,3,4,5,6,7]
	vmovapd	.LCPI0_1(%rip), %zmm2           # zmm2 = [15,0,1,2,3,4,5,6]
	vbroadcastsd	.LCPI0_2(%rip), %zmm3   # zmm3 = [5.0E-1,5.0E-1,5.0E-1,5.0E-1,5.0E-1,5.0E-1,5.0E-1,5.0E-1]
	vbroadcastsd	.LCPI0_3(%rip), %zmm4   # zmm4 = [2.5E-1,2.5E-1,2.5E-1,2.5E-1,2.5E-1,2.5E-1,2.5E-1,2.5E-1]
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	vpbroadcastq	%rax, %zmm6
	vporq	%zmm1, %zmm6, %zmm6
	vpcmpleuq	%zmm0, %zmm6, %k1
	vmovupd	-16(%rsi,%rax,8), %zmm6 {%k1} {z}
	vmovupd	(%rsi,%rax,8), %zmm7 {%k1} {z}
	vmovapd	%zmm7, %zmm8
	vpermt2pd	%zmm5, %zmm2, %zmm8
	vmulpd	%zmm3, %zmm8, %zmm5
	vfmadd231pd	%zmm6, %zmm4, %zmm5     # zmm5 = (zmm4 * zmm6) + zmm5
	vfmadd231pd	%zmm4, %zmm7, %zmm5     # zmm5 = (zmm7 * zmm4) + zmm5
	vmovupd	%zmm5, (%rdi,%rax,8) {%k1}
	addq	$8, %rax
	cmpq	%rax, %rdx
	vmovapd	%zmm7, %zmm5
	jne	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	stencil, .Lfunc_end0-stencil
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
