# CASE: -mcpu=broadwell %s
# bsearch.c: clang-19 -O2 -march=broadwell
	.text
	.file	"bsearch.c"
	.globl	lower                           # -- Begin function lower
	.p2align	4, 0x90
	.type	lower,@function
lower:                                  # @lower
	.cfi_startproc
# %bb.0:
	xorl	%eax, %eax
	testq	%rsi, %rsi
	jle	.LBB0_6
# %bb.1:
	movq	%rsi, %rcx
	jmp	.LBB0_2
	.p2align	4, 0x90
.LBB0_4:                                #   in Loop: Header=BB0_2 Depth=1
	xorl	%r8d, %r8d
	movq	%rcx, %rsi
.LBB0_5:                                #   in Loop: Header=BB0_2 Depth=1
	addq	%r8, %rax
	testq	%rcx, %rcx
	jle	.LBB0_6
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	shrq	%rcx
	leaq	(%rdi,%rax,4), %r8
	cmpl	%edx, (%r8,%rcx,4)
	jge	.LBB0_4
# %bb.3:                                #   in Loop: Header=BB0_2 Depth=1
	incq	%rcx
	subq	%rcx, %rsi
	movq	%rcx, %r8
	movq	%rsi, %rcx
	jmp	.LBB0_5
.LBB0_6:
	retq
.Lfunc_end0:
	.size	lower, .Lfunc_end0-lower
	.cfi_endproc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
