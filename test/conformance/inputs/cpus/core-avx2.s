# CASE: -mcpu=core-avx2 -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# dpbusd.c: clang-19 -O1 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=core-avx2
	.text
	.file	"dpbusd.c"
	.globl	dp                              # -- Begin function dp
	.p2align	4, 0x90
	.type	dp,@function
dp:                                     # @dp
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_1
# %bb.3:
	movl	%edx, %ecx
	xorl	%edx, %edx
	xorl	%eax, %eax
	.p2align	4, 0x90
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	movzbl	(%rdi,%rdx), %r8d
	movsbl	(%rsi,%rdx), %r9d
	imull	%r8d, %r9d
	addl	%r9d, %eax
	incq	%rdx
	cmpq	%rdx, %rcx
	jne	.LBB0_4
# %bb.2:
	retq
.LBB0_1:
	xorl	%eax, %eax
	retq
.Lfunc_end0:
	.size	dp, .Lfunc_end0-dp
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
