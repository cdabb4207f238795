# CASE: -mcpu=meteorlake -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# add128.c: clang-19 -O2 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=meteorlake
	.text
	.file	"add128.c"
	.globl	add                             # -- Begin function add
	.p2align	4, 0x90
	.type	add,@function
add:                                    # @add
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_3
# %bb.1:
	movl	%edx, %eax
	xorl	%ecx, %ecx
	xorl	%r9d, %r9d
	xorl	%r8d, %r8d
	.p2align	4, 0x90
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	movl	$7, %edx
	mulxq	(%rsi,%rcx,8), %r10, %rdx
	addq	(%rdi,%rcx,8), %r9
	adcq	$0, %r8
	addq	%r10, %r9
	adcq	%rdx, %r8
	movq	%r9, (%rdi,%rcx,8)
	incq	%rcx
	movq	%r8, %r9
	movl	$0, %r8d
	cmpq	%rcx, %rax
	jne	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	add, .Lfunc_end0-add
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
