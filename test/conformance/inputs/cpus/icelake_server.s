# CASE: -mcpu=icelake_server -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# ldouble.c: clang-19 -O1 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=icelake-server
	.text
	.file	"ldouble.c"
	.globl	lsum                            # -- Begin function lsum
	.p2align	4, 0x90
	.type	lsum,@function
lsum:                                   # @lsum
# %bb.0:
	fldz
	testl	%esi, %esi
	jle	.LBB0_3
# %bb.1:
	fstp	%st(0)
	movl	%esi, %eax
	shlq	$4, %rax
	fldz
	xorl	%ecx, %ecx
	.p2align	4, 0x90
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	fldt	(%rdi,%rcx)
	fmul	%st, %st(0)
	faddp	%st, %st(1)
	addq	$16, %rcx
	cmpq	%rcx, %rax
	jne	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	lsum, .Lfunc_end0-lsum
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
