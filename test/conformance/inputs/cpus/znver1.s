# CASE: -mcpu=znver1 -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# saxpy.c: clang-19 -O2 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=znver1
	.text
	.file	"saxpy.c"
	.globl	saxpy                           # -- Begin function saxpy
	.p2align	4, 0x90
	.type	saxpy,@function
saxpy:                                  # @saxpy
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_7
# %bb.1:
	movl	%edx, %eax
	cmpl	$7, %edx
	ja	.LBB0_3
# %bb.2:
	xorl	%ecx, %ecx
	jmp	.LBB0_6
.LBB0_3:
	movl	$7171, %edx                     # imm = 0x1C03
	movl	%eax, %ecx
	vbroadcastss	%xmm0, %ymm1
	xorl	%r8d, %r8d
	bextrl	%edx, %eax, %edx
	andl	$2147483640, %ecx               # imm = 0x7FFFFFF8
	shlq	$5, %rdx
	.p2align	4, 0x90
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	vmovups	(%rsi,%r8), %ymm2
	vfmadd213ps	(%rdi,%r8), %ymm1, %ymm2 # ymm2 = (ymm1 * ymm2) + mem
	vmovups	%ymm2, (%rdi,%r8)
	addq	$32, %r8
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
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
