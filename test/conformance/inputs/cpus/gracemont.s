# CASE: -mcpu=gracemont -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# count.c: clang-19 -Os -fno-asynchronous-unwind-tables -fno-unroll-loops -march=gracemont
	.text
	.file	"count.c"
	.globl	count                           # -- Begin function count
	.type	count,@function
count:                                  # @count
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_1
# %bb.3:
	movl	%edx, %ecx
	xorl	%edx, %edx
	xorl	%eax, %eax
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	xorl	%r8d, %r8d
	cmpb	%sil, (%rdi,%rdx)
	sete	%r8b
	addl	%r8d, %eax
	incq	%rdx
	cmpq	%rdx, %rcx
	jne	.LBB0_4
# %bb.2:
	retq
.LBB0_1:
	xorl	%eax, %eax
	retq
.Lfunc_end0:
	.size	count, .Lfunc_end0-count
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
