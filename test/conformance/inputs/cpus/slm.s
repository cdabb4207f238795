# CASE: -mcpu=slm -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# popc.c: clang-19 -O2 -fno-vectorize -fno-asynchronous-unwind-tables -fno-unroll-loops -march=silvermont
	.text
	.file	"popc.c"
	.globl	popc                            # -- Begin function popc
	.p2align	4, 0x90
	.type	popc,@function
popc:                                   # @popc
# %bb.0:
	xorl	%eax, %eax
	testq	%rsi, %rsi
	jle	.LBB0_2
	.p2align	4, 0x90
.LBB0_1:                                # =>This Inner Loop Header: Depth=1
	xorl	%ecx, %ecx
	popcntq	(%rdi), %rcx
	addq	$8, %rdi
	addq	%rcx, %rax
	addq	$-1, %rsi
	jne	.LBB0_1
.LBB0_2:
	retq
.Lfunc_end0:
	.size	popc, .Lfunc_end0-popc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
