# CASE: -mcpu=nehalem -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# norm.c: clang-19 -O1 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=nehalem
	.text
	.file	"norm.c"
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2, 0x0                          # -- Begin function norm
.LCPI0_0:
	.long	0x3f800000                      # float 1
	.text
	.globl	norm
	.p2align	4, 0x90
	.type	norm,@function
norm:                                   # @norm
# %bb.0:
	testl	%esi, %esi
	jle	.LBB0_7
# %bb.1:
	pushq	%r15
	pushq	%r14
	pushq	%rbx
	movq	%rdi, %rbx
	movl	%esi, %r14d
	xorl	%r15d, %r15d
	movss	.LCPI0_0(%rip), %xmm2           # xmm2 = [1.0E+0,0.0E+0,0.0E+0,0.0E+0]
	xorps	%xmm3, %xmm3
	jmp	.LBB0_2
	.p2align	4, 0x90
.LBB0_3:                                #   in Loop: Header=BB0_2 Depth=1
	sqrtss	%xmm0, %xmm0
.LBB0_5:                                #   in Loop: Header=BB0_2 Depth=1
	movaps	%xmm2, %xmm1
	divss	%xmm0, %xmm1
	movss	%xmm1, (%rbx,%r15,4)
	incq	%r15
	cmpq	%r15, %r14
	je	.LBB0_6
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	movss	(%rbx,%r15,4), %xmm0            # xmm0 = mem[0],zero,zero,zero
	mulss	%xmm0, %xmm0
	addss	%xmm2, %xmm0
	ucomiss	%xmm3, %xmm0
	jae	.LBB0_3
# %bb.4:                                #   in Loop: Header=BB0_2 Depth=1
	callq	sqrtf@PLT
	xorps	%xmm3, %xmm3
	movss	.LCPI0_0(%rip), %xmm2           # xmm2 = [1.0E+0,0.0E+0,0.0E+0,0.0E+0]
	jmp	.LBB0_5
.LBB0_6:
	popq	%rbx
	popq	%r14
	popq	%r15
.LBB0_7:
	retq
.Lfunc_end0:
	.size	norm, .Lfunc_end0-norm
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
