# CASE: -mcpu=x86-64-v3 -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# stencil.c: clang-19 -O1 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=x86-64-v3
	.text
	.file	"stencil.c"
	.section	.rodata.cst8,"aM",@progbits,8
	.p2align	3, 0x0                          # -- Begin function stencil
.LCPI0_0:
	.quad	0x3fe0000000000000              # double 0.5
.LCPI0_1:
	.quad	0x3fd0000000000000              # double 0.25
	.text
	.globl	stencil
	.p2align	4, 0x90
	.type	stencil,@function
stencil:                                # @stencil
# %bb.0:
                                        # kill: def $edx killed $edx def $rdx
	cmpl	$3, %edx
	jl	.LBB0_3
# %bb.1:
	decl	%edx
	movl	$1, %eax
	vmovsd	.LCPI0_0(%rip), %xmm0           # xmm0 = [5.0E-1,0.0E+0]
	vmovsd	.LCPI0_1(%rip), %xmm1           # xmm1 = [2.5E-1,0.0E+0]
	.p2align	4, 0x90
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	vmulsd	(%rsi,%rax,8), %xmm0, %xmm2
	vfmadd231sd	-8(%rsi,%rax,8), %xmm1, %xmm2 # xmm2 = (xmm1 * mem) + xmm2
	vfmadd231sd	8(%rsi,%rax,8), %xmm1, %xmm2 # xmm2 = (xmm1 * mem) + xmm2
	vmovsd	%xmm2, (%rdi,%rax,8)
	leaq	1(%rax), %rcx
	movq	%rcx, %rax
	cmpq	%rcx, %rdx
	jne	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	stencil, .Lfunc_end0-stencil
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
