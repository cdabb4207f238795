# CASE: -mcpu=silvermont -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# sad.c: clang-19 -Os -fno-asynchronous-unwind-tables -fno-unroll-loops -march=silvermont
	.text
	.file	"sad.c"
	.globl	sad                             # -- Begin function sad
	.type	sad,@function
sad:                                    # @sad
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_1
# %bb.3:
	movl	%edx, %ecx
	xorl	%edx, %edx
	xorl	%eax, %eax
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	movzbl	(%rdi,%rdx), %r8d
	movzbl	(%rsi,%rdx), %r9d
	subl	%r9d, %r8d
	movl	%r8d, %r9d
	negl	%r9d
	cmovsl	%r8d, %r9d
	incq	%rdx
	movzbl	%r9b, %r8d
	addl	%r8d, %eax
	cmpq	%rdx, %rcx
	jne	.LBB0_4
# %bb.2:
	retq
.LBB0_1:
	xorl	%eax, %eax
	retq
.Lfunc_end0:
	.size	sad, .Lfunc_end0-sad
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
