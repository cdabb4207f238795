# CASE: -mcpu=corei7-avx -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# copyif.c: clang-19 -Os -fno-asynchronous-unwind-tables -fno-unroll-loops -march=corei7-avx
	.text
	.file	"copyif.c"
	.globl	copyif                          # -- Begin function copyif
	.type	copyif,@function
copyif:                                 # @copyif
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_1
# %bb.3:
	movl	%edx, %ecx
	xorl	%edx, %edx
	xorl	%eax, %eax
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	movl	(%rsi,%rdx,4), %r8d
	testl	%r8d, %r8d
	jle	.LBB0_6
# %bb.5:                                #   in Loop: Header=BB0_4 Depth=1
	movslq	%eax, %r9
	incl	%eax
	movl	%r8d, (%rdi,%r9,4)
.LBB0_6:                                #   in Loop: Header=BB0_4 Depth=1
	incq	%rdx
	cmpq	%rdx, %rcx
	jne	.LBB0_4
# %bb.2:
	retq
.LBB0_1:
	xorl	%eax, %eax
	retq
.Lfunc_end0:
	.size	copyif, .Lfunc_end0-copyif
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
