# CASE: -mcpu=tremont -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# copyif.c: clang-19 -O1 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=tremont
	.text
	.file	"copyif.c"
	.globl	copyif                          # -- Begin function copyif
	.p2align	4, 0x90
	.type	copyif,@function
copyif:                                 # @copyif
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_1
# %bb.3:
	movl	%edx, %ecx
	xorl	%eax, %eax
	jmp	.LBB0_4
	.p2align	4, 0x90
.LBB0_6:                                #   in Loop: Header=BB0_4 Depth=1
	addq	$4, %rsi
	addq	$-1, %rcx
	je	.LBB0_2
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	movl	(%rsi), %edx
	testl	%edx, %edx
	jle	.LBB0_6
# %bb.5:                                #   in Loop: Header=BB0_4 Depth=1
	movslq	%eax, %r8
	addl	$1, %eax
	movl	%edx, (%rdi,%r8,4)
	jmp	.LBB0_6
.LBB0_1:
	xorl	%eax, %eax
.LBB0_2:
	retq
.Lfunc_end0:
	.size	copyif, .Lfunc_end0-copyif
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
