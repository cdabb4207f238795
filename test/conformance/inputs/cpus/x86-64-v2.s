# CASE: -mcpu=x86-64-v2 -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# crc.c: clang-19 -O2 -msse4.2 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=x86-64-v2
	.text
	.file	"crc.c"
	.globl	crc                             # -- Begin function crc
	.p2align	4, 0x90
	.type	crc,@function
crc:                                    # @crc
# %bb.0:
	movl	%edi, %eax
	testl	%edx, %edx
	je	.LBB0_3
# %bb.1:
	movl	%edx, %ecx
	xorl	%edx, %edx
	.p2align	4, 0x90
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	crc32b	(%rsi,%rdx), %eax
	incq	%rdx
	cmpl	%edx, %ecx
	jne	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	crc, .Lfunc_end0-crc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
