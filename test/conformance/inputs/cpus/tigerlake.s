# CASE: -mcpu=tigerlake -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# bytes.c: clang-19 -O1 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=tigerlake
	.text
	.file	"bytes.c"
	.globl	rev                             # -- Begin function rev
	.p2align	4, 0x90
	.type	rev,@function
rev:                                    # @rev
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_3
# %bb.1:
	movl	%edx, %eax
	xorl	%ecx, %ecx
	.p2align	4, 0x90
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	movl	(%rsi,%rcx,4), %edx
	movbel	%edx, (%rdi,%rcx,4)
	incq	%rcx
	cmpq	%rcx, %rax
	jne	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	rev, .Lfunc_end0-rev
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
