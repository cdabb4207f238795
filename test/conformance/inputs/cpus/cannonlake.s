# CASE: -mcpu=cannonlake -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# popc.c: clang-19 -O1 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=cannonlake
	.text
	.file	"popc.c"
	.globl	popc                            # -- Begin function popc
	.p2align	4, 0x90
	.type	popc,@function
popc:                                   # @popc
# %bb.0:
	testq	%rsi, %rsi
	jle	.LBB0_1
# %bb.3:
	xorl	%ecx, %ecx
	xorl	%eax, %eax
	.p2align	4, 0x90
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	popcntq	(%rdi,%rcx,8), %rdx
	addq	%rdx, %rax
	incq	%rcx
	cmpq	%rcx, %rsi
	jne	.LBB0_4
# %bb.2:
	retq
.LBB0_1:
	xorl	%eax, %eax
	retq
.Lfunc_end0:
	.size	popc, .Lfunc_end0-popc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
