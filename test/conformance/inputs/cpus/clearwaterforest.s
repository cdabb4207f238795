# CASE: -mcpu=clearwaterforest -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# bsearch.c: clang-19 -Os -fno-asynchronous-unwind-tables -fno-unroll-loops -march=clearwaterforest
	.text
	.file	"bsearch.c"
	.globl	lower                           # -- Begin function lower
	.type	lower,@function
lower:                                  # @lower
# %bb.0:
	xorl	%eax, %eax
	testq	%rsi, %rsi
	jle	.LBB0_6
# %bb.1:
	movq	%rsi, %rcx
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	shrq	%rcx
	leaq	(%rdi,%rax,4), %r8
	cmpl	%edx, (%r8,%rcx,4)
	jl	.LBB0_3
# %bb.4:                                #   in Loop: Header=BB0_2 Depth=1
	xorl	%r8d, %r8d
	movq	%rcx, %rsi
	jmp	.LBB0_5
.LBB0_3:                                #   in Loop: Header=BB0_2 Depth=1
	incq	%rcx
	subq	%rcx, %rsi
	movq	%rcx, %r8
	movq	%rsi, %rcx
.LBB0_5:                                #   in Loop: Header=BB0_2 Depth=1
	addq	%r8, %rax
	testq	%rcx, %rcx
	jg	.LBB0_2
.LBB0_6:
	retq
.Lfunc_end0:
	.size	lower, .Lfunc_end0-lower
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
