# CASE: -mcpu=slm -bottleneck-analysis %s
# list.c: clang-19 -Os -march=silvermont
	.text
	.file	"list.c"
	.globl	sum                             # -- Begin function sum
	.type	sum,@function
sum:                                    # @sum
	.cfi_startproc
# %bb.0:
	xorl	%eax, %eax
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	testq	%rdi, %rdi
	je	.LBB0_3
# %bb.1:                                #   in Loop: Header=BB0_2 Depth=1
	addq	8(%rdi), %rax
	movq	(%rdi), %rdi
	jmp	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	sum, .Lfunc_end0-sum
	.cfi_endproc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
