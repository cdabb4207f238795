# CASE: -mcpu=haswell %s
# CASE: -mcpu=znver3 -timeline -timeline-max-iterations=1 %s
# saxpy.c: clang-19 -O2 -march=haswell
	.text
	.file	"saxpy.c"
	.globl	saxpy                           # -- Begin function saxpy
	.p2align	4, 0x90
	.type	saxpy,@function
saxpy:                                  # @saxpy
	.cfi_startproc
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_7
# %bb.1:
	movl	%edx, %eax
	cmpl	$31, %edx
	ja	.LBB0_3
# %bb.2:
	xorl	%ecx, %ecx
	jmp	.LBB0_6
.LBB0_3:
	movl	%eax, %ecx
	andl	$2147483616, %ecx               # imm = 0x7FFFFFE0
	vbroadcastss	%xmm0, %ymm1
	movl	%eax, %edx
	shrl	$5, %edx
	andl	$67108863, %edx                 # imm = 0x3FFFFFF
	shlq	$7, %rdx
	xorl	%r8d, %r8d
	.p2align	4, 0x90
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	vmovups	(%rsi,%r8), %ymm2
	vmovups	32(%rsi,%r8), %ymm3
	vmovups	64(%rsi,%r8), %ymm4
	vmovups	96(%rsi,%r8), %ymm5
	vfmadd213ps	(%rdi,%r8), %ymm1, %ymm2 # ymm2 = (ymm1 * ymm2) + mem
	vfmadd213ps	32(%rdi,%r8), %ymm1, %ymm3 # ymm3 = (ymm1 * ymm3) + mem
	vfmadd213ps	64(%rdi,%r8), %ymm1, %ymm4 # ymm4 = (ymm1 * ymm4) + mem
	vfmadd213ps	96(%rdi,%r8), %ymm1, %ymm5 # ymm5 = (ymm1 * ymm5) + mem
	vmovups	%ymm2, (%rdi,%r8)
	vmovups	%ymm3, 32(%rdi,%r8)
	vmovups	%ymm4, 64(%rdi,%r8)
	vmovups	%ymm5, 96(%rdi,%r8)
	subq	$-128, %r8
	cmpq	%r8, %rdx
	jne	.LBB0_4
# %bb.5:
	cmpl	%eax, %ecx
	je	.LBB0_7
	.p2align	4, 0x90
.LBB0_6:                                # =>This Inner Loop Header: Depth=1
	vmovss	(%rsi,%rcx,4), %xmm1            # xmm1 = mem[0],zero,zero,zero
	vfmadd213ss	(%rdi,%rcx,4), %xmm0, %xmm1 # xmm1 = (xmm0 * xmm1) + mem
	vmovss	%xmm1, (%rdi,%rcx,4)
	incq	%rcx
	cmpq	%rcx, %rax
	jne	.LBB0_6
.LBB0_7:
	vzeroupper
	retq
.Lfunc_end0:
	.size	saxpy, .Lfunc_end0-saxpy
	.cfi_endproc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
