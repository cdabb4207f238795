# CASE: -mcpu=amdfam10 -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# gcd.c: clang-19 -O1 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=barcelona
	.text
	.file	"gcd.c"
	.globl	gcd                             # -- Begin function gcd
	.p2align	4, 0x90
	.type	gcd,@function
gcd:                                    # @gcd
# %bb.0:
	movl	%edi, %eax
	testl	%esi, %esi
	je	.LBB0_4
# %bb.1:
	movl	%esi, %edx
	.p2align	4, 0x90
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	movl	%edx, %ecx
	xorl	%edx, %edx
	divl	%ecx
	testl	%edx, %edx
	movl	%ecx, %eax
	jne	.LBB0_2
# %bb.3:
	movl	%ecx, %eax
.LBB0_4:
	retq
.Lfunc_end0:
	.size	gcd, .Lfunc_end0-gcd
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
