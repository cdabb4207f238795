# CASE: -mcpu=penryn -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# saxpy.c: clang-19 -Os -fno-asynchronous-unwind-tables -fno-unroll-loops -march=penryn
	.text
	.file	"saxpy.c"
	.globl	saxpy                           # -- Begin function saxpy
	.type	saxpy,@function
saxpy:                                  # @saxpy
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_3
# %bb.1:
	movl	%edx, %eax
	xorl	%ecx, %ecx
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	movss	(%rsi,%rcx,4), %xmm1            # xmm1 = mem[0],zero,zero,zero
	mulss	%xmm0, %xmm1
	addss	(%rdi,%rcx,4), %xmm1
	movss	%xmm1, (%rdi,%rcx,4)
	incq	%rcx
	cmpq	%rcx, %rax
	jne	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	saxpy, .Lfunc_end0-saxpy
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
