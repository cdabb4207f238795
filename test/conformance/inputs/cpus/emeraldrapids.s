# CASE: -mcpu=emeraldrapids -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# half.c: clang-19 -O1 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=emeraldrapids
	.text
	.file	"half.c"
	.section	.rodata,"a",@progbits
	.p2align	1, 0x0                          # -- Begin function half
.LCPI0_0:
	.short	0x3c00                          # half 1
	.text
	.globl	half
	.p2align	4, 0x90
	.type	half,@function
half:                                   # @half
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_3
# %bb.1:
	movl	%edx, %eax
	xorl	%ecx, %ecx
	vmovsh	.LCPI0_0(%rip), %xmm0           # xmm0 = [1.0E+0,0.0E+0,0.0E+0,0.0E+0,0.0E+0,0.0E+0,0.0E+0,0.0E+0]
	.p2align	4, 0x90
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	vmovsh	(%rsi,%rcx,2), %xmm1            # xmm1 = mem[0],zero,zero,zero,zero,zero,zero,zero
	vfmadd213sh	%xmm0, %xmm1, %xmm1
	vmovsh	%xmm1, (%rdi,%rcx,2)
	incq	%rcx
	cmpq	%rcx, %rax
	jne	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	half, .Lfunc_end0-half
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
