# CASE: -mcpu=znver1 %s
# norm.c: clang-19 -O2 -ffast-math -march=znver1
	.text
	.file	"norm.c"
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2, 0x0                          # -- Begin function norm
.LCPI0_0:
	.long	0x3f800000                      # float 1
.LCPI0_1:
	.long	0xc0400000                      # float -3
.LCPI0_2:
	.long	0xbf000000                      # float -0.5
	.text
	.globl	norm
	.p2align	4, 0x90
	.type	norm,@function
norm:                                   # @norm
	.cfi_startproc
# %bb.0:
	testl	%esi, %esi
	jle	.LBB0_8
# %bb.1:
	movl	%esi, %eax
	cmpl	$7, %esi
	ja	.LBB0_5
# %bb.2:
	xorl	%ecx, %ecx
	jmp	.LBB0_3
.LBB0_5:
	vbroadcastss	.LCPI0_0(%rip), %ymm0   # ymm0 = [1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0]
	vbroadcastss	.LCPI0_1(%rip), %ymm1   # ymm1 = [-3.0E+0,-3.0E+0,-3.0E+0,-3.0E+0,-3.0E+0,-3.0E+0,-3.0E+0,-3.0E+0]
	vbroadcastss	.LCPI0_2(%rip), %ymm2   # ymm2 = [-5.0E-1,-5.0E-1,-5.0E-1,-5.0E-1,-5.0E-1,-5.0E-1,-5.0E-1,-5.0E-1]
	movl	$7171, %edx                     # imm = 0x1C03
	movl	%eax, %ecx
	xorl	%esi, %esi
	bextrl	%edx, %eax, %edx
	andl	$2147483640, %ecx               # imm = 0x7FFFFFF8
	shlq	$5, %rdx
	.p2align	4, 0x90
.LBB0_6:                                # =>This Inner Loop Header: Depth=1
	vmovups	(%rdi,%rsi), %ymm3
	vfmadd213ps	%ymm0, %ymm3, %ymm3     # ymm3 = (ymm3 * ymm3) + ymm0
	vrsqrtps	%ymm3, %ymm4
	vmulps	%ymm4, %ymm3, %ymm3
	vfmadd213ps	%ymm1, %ymm4, %ymm3     # ymm3 = (ymm4 * ymm3) + ymm1
	vmulps	%ymm2, %ymm4, %ymm4
	vmulps	%ymm3, %ymm4, %ymm3
	vmovups	%ymm3, (%rdi,%rsi)
	addq	$32, %rsi
	cmpq	%rsi, %rdx
	jne	.LBB0_6
# %bb.7:
	cmpl	%eax, %ecx
	je	.LBB0_8
.LBB0_3:
	vmovss	.LCPI0_0(%rip), %xmm0           # xmm0 = [1.0E+0,0.0E+0,0.0E+0,0.0E+0]
	vmovss	.LCPI0_1(%rip), %xmm1           # xmm1 = [-3.0E+0,0.0E+0,0.0E+0,0.0E+0]
	vmovss	.LCPI0_2(%rip), %xmm2           # xmm2 = [-5.0E-1,0.0E+0,0.0E+0,0.0E+0]
	.p2align	4, 0x90
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	vmovss	(%rdi,%rcx,4), %xmm3            # xmm3 = mem[0],zero,zero,zero
	vfmadd213ss	%xmm0, %xmm3, %xmm3     # xmm3 = (xmm3 * xmm3) + xmm0
	vrsqrtss	%xmm3, %xmm3, %xmm4
	vmulss	%xmm4, %xmm3, %xmm3
	vfmadd213ss	%xmm1, %xmm4, %xmm3     # xmm3 = (xmm4 * xmm3) + xmm1
	vmulss	%xmm2, %xmm4, %xmm4
	vmulss	%xmm3, %xmm4, %xmm3
	vmovss	%xmm3, (%rdi,%rcx,4)
	incq	%rcx
	cmpq	%rcx, %rax
	jne	.LBB0_4
.LBB0_8:
	vzeroupper
	retq
.Lfunc_end0:
	.size	norm, .Lfunc_end0-norm
	.cfi_endproc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
