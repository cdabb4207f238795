# CASE: -mcpu=atom -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# bsearch.c: clang-19 -O2 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=atom
	.text
	.file	"bsearch.c"
	.globl	lower                           # -- Begin function lower
	.p2align	4, 0x90
	.type	lower,@function
lower:                                  # @lower
# %bb.0:
	testq	%rsi, %rsi
	jle	.LBB0_1
# %bb.2:
	xorl	%ecx, %ecx
	xorl	%eax, %eax
	.p2align	4, 0x90
.LBB0_3:                                # =>This Inner Loop Header: Depth=1
	movq	%rsi, %r8
	leaq	(%rdi,%rax,4), %r10
	shrq	%r8
	leaq	1(%r8), %r9
	subq	%r9, %rsi
	cmpl	%edx, (%r10,%r8,4)
	cmovgeq	%rcx, %r9
	cmovgeq	%r8, %rsi
	leaq	(%rax,%r9), %rax
	testq	%rsi, %rsi
	jg	.LBB0_3
# %bb.4:
	retq
.LBB0_1:
	xorl	%eax, %eax
	nop
	nop
	retq
.Lfunc_end0:
	.size	lower, .Lfunc_end0-lower
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
