# CASE: -mcpu=x86_64 -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# atomic.c: clang-19 -O1 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=x86-64
	.text
	.file	"atomic.c"
	.globl	at                              # -- Begin function at
	.p2align	4, 0x90
	.type	at,@function
at:                                     # @at
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_3
# %bb.1:
	movl	%edx, %eax
	xorl	%ecx, %ecx
	.p2align	4, 0x90
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	movl	(%rsi,%rcx,4), %edx
	andl	$7, %edx
	lock		incq	(%rdi,%rdx,8)
	incq	%rcx
	cmpq	%rcx, %rax
	jne	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	at, .Lfunc_end0-at
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
