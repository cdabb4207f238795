# CASE: -mcpu=graniterapids -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# dot.c: clang-19 -Os -fno-asynchronous-unwind-tables -fno-unroll-loops -march=graniterapids
	.text
	.file	"dot.c"
	.globl	dot                             # -- Begin function dot
	.type	dot,@function
dot:                                    # @dot
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_1
# %bb.3:
	movl	%edx, %eax
	vxorpd	%xmm0, %xmm0, %xmm0
	xorl	%ecx, %ecx
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	vmovsd	(%rdi,%rcx,8), %xmm1            # xmm1 = mem[0],zero
	vfmadd231sd	(%rsi,%rcx,8), %xmm1, %xmm0 # xmm0 = (xmm1 * mem) + xmm0
	incq	%rcx
	cmpq	%rcx, %rax
	jne	.LBB0_4
# %bb.2:
	retq
.LBB0_1:
	vxorps	%xmm0, %xmm0, %xmm0
	retq
.Lfunc_end0:
	.size	dot, .Lfunc_end0-dot
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
