# CASE: -mcpu=sapphirerapids %s
# half.c: clang-19 -O3 -march=sapphirerapids
	.text
	.file	"half.c"
	.section	.rodata,"a",@progbits
	.p2align	1, 0x0                          # -- Begin function half
.LCPI0_0:
	.short	0x3c00                          # half 1
	.text
	.globl	half
	.p2align	4, 0x90
	.type	half,@function
half:                                   # @half
	.cfi_startproc
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_14
# %bb.1:
	movl	%edx, %eax
	cmpl	$8, %edx
	jae	.LBB0_3
# %bb.2:
	xorl	%ecx, %ecx
	jmp	.LBB0_12
.LBB0_3:
	cmpl	$64, %edx
	jae	.LBB0_8
# %bb.4:
	xorl	%ecx, %ecx
	jmp	.LBB0_5
.LBB0_8:
	movl	%eax, %ecx
	andl	$2147483584, %ecx               # imm = 0x7FFFFFC0
	leal	(%rax,%rax), %edx
	andl	$-128, %edx
	xorl	%r8d, %r8d
	vpbroadcastw	.LCPI0_0(%rip), %ymm0   # ymm0 = [1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0]
	.p2align	4, 0x90
.LBB0_9:                                # =>This Inner Loop Header: Depth=1
	vmovups	(%rsi,%r8), %ymm1
	vmovups	32(%rsi,%r8), %ymm2
	vmovups	64(%rsi,%r8), %ymm3
	vmovups	96(%rsi,%r8), %ymm4
	vfmadd213ph	%ymm0, %ymm1, %ymm1
	vfmadd213ph	%ymm0, %ymm2, %ymm2
	vfmadd213ph	%ymm0, %ymm3, %ymm3
	vfmadd213ph	%ymm0, %ymm4, %ymm4
	vmovups	%ymm1, (%rdi,%r8)
	vmovups	%ymm2, 32(%rdi,%r8)
	vmovups	%ymm3, 64(%rdi,%r8)
	vmovups	%ymm4, 96(%rdi,%r8)
	subq	$-128, %r8
	cmpq	%r8, %rdx
	jne	.LBB0_9
# %bb.10:
	cmpl	%eax, %ecx
	je	.LBB0_14
# %bb.11:
	testb	$56, %al
	je	.LBB0_12
.LBB0_5:
	movq	%rcx, %rdx
	movl	%eax, %ecx
	andl	$2147483640, %ecx               # imm = 0x7FFFFFF8
	vpbroadcastw	.LCPI0_0(%rip), %xmm0   # xmm0 = [1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0]
	.p2align	4, 0x90
.LBB0_6:                                # =>This Inner Loop Header: Depth=1
	vmovups	(%rsi,%rdx,2), %xmm1
	vfmadd213ph	%xmm0, %xmm1, %xmm1
	vmovups	%xmm1, (%rdi,%rdx,2)
	addq	$8, %rdx
	cmpq	%rdx, %rcx
	jne	.LBB0_6
# %bb.7:
	cmpl	%eax, %ecx
	je	.LBB0_14
.LBB0_12:
	vmovsh	.LCPI0_0(%rip), %xmm0           # xmm0 = [1.0E+0,0.0E+0,0.0E+0,0.0E+0,0.0E+0,0.0E+0,0.0E+0,0.0E+0]
	.p2align	4, 0x90
.LBB0_13:                               # =>This Inner Loop Header: Depth=1
	vmovsh	(%rsi,%rcx,2), %xmm1            # xmm1 = mem[0],zero,zero,zero,zero,zero,zero,zero
	vfmadd213sh	%xmm0, %xmm1, %xmm1
	vmovsh	%xmm1, (%rdi,%rcx,2)
	incq	%rcx
	cmpq	%rcx, %rax
	jne	.LBB0_13
.LBB0_14:
	vzeroupper
	retq
.Lfunc_end0:
	.size	half, .Lfunc_end0-half
	.cfi_endproc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
