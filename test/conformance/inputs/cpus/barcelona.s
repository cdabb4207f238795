# CASE: -mcpu=barcelona -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# mat.c: clang-19 -Os -fno-asynchronous-unwind-tables -fno-unroll-loops -march=barcelona
	.text
	.file	"mat.c"
	.globl	mat                             # -- Begin function mat
	.type	mat,@function
mat:                                    # @mat
# %bb.0:
	xorl	%eax, %eax
.LBB0_1:                                # =>This Loop Header: Depth=1
                                        #     Child Loop BB0_2 Depth 2
                                        #       Child Loop BB0_3 Depth 3
	movq	%rax, %rcx
	shlq	$5, %rcx
	addq	%rdi, %rcx
	movq	%rdx, %r8
	xorl	%r9d, %r9d
.LBB0_2:                                #   Parent Loop BB0_1 Depth=1
                                        # =>  This Loop Header: Depth=2
                                        #       Child Loop BB0_3 Depth 3
	xorpd	%xmm0, %xmm0
	movq	$-32, %r10
.LBB0_3:                                #   Parent Loop BB0_1 Depth=1
                                        #     Parent Loop BB0_2 Depth=2
                                        # =>    This Inner Loop Header: Depth=3
	movsd	32(%rsi,%r10), %xmm1            # xmm1 = mem[0],zero
	mulsd	128(%r8,%r10,4), %xmm1
	addsd	%xmm1, %xmm0
	addq	$8, %r10
	jne	.LBB0_3
# %bb.4:                                #   in Loop: Header=BB0_2 Depth=2
	movsd	%xmm0, (%rcx,%r9,8)
	incq	%r9
	addq	$8, %r8
	cmpq	$4, %r9
	jne	.LBB0_2
# %bb.5:                                #   in Loop: Header=BB0_1 Depth=1
	incq	%rax
	addq	$32, %rsi
	cmpq	$4, %rax
	jne	.LBB0_1
# %bb.6:
	retq
.Lfunc_end0:
	.size	mat, .Lfunc_end0-mat
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
