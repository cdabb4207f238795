# CASE: -mcpu=rocketlake -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# gather.c: clang-19 -O1 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=rocketlake
	.text
	.file	"gather.c"
	.globl	gather                          # -- Begin function gather
	.p2align	4, 0x90
	.type	gather,@function
gather:                                 # @gather
# %bb.0:
	testl	%ecx, %ecx
	jle	.LBB0_3
# %bb.1:
	movl	%ecx, %eax
	xorl	%ecx, %ecx
	.p2align	4, 0x90
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	movslq	(%rdx,%rcx,4), %r8
	vmovsd	(%rsi,%r8,8), %xmm0             # xmm0 = mem[0],zero
	vmovsd	%xmm0, (%rdi,%rcx,8)
	incq	%rcx
	cmpq	%rcx, %rax
	jne	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	gather, .Lfunc_end0-gather
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
