# CASE: -mcpu=bdver2 -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# stencil.c: clang-19 -O2 -ffast-math -fno-asynchronous-unwind-tables -fno-unroll-loops -march=bdver2
	.text
	.file	"stencil.c"
	.section	.rodata.cst32,"aM",@progbits,32
	.p2align	5, 0x0                          # -- Begin function stencil
.LCPI0_0:
	.quad	0x3fe0000000000000              # double 0.5
	.quad	0x3fe0000000000000              # double 0.5
	.quad	0x3fe0000000000000              # double 0.5
	.quad	0x3fe0000000000000              # double 0.5
.LCPI0_1:
	.quad	0x3fd0000000000000              # double 0.25
	.quad	0x3fd0000000000000              # double 0.25
	.quad	0x3fd0000000000000              # double 0.25
	.quad	0x3fd0000000000000              # double 0.25
	.section	.rodata.cst8,"aM",@progbits,8
	.p2align	3, 0x0
.LCPI0_2:
	.quad	0x3fe0000000000000              # double 0.5
.LCPI0_3:
	.quad	0x3fd0000000000000              # double 0.25
	.text
	.globl	stencil
	.p2align	4, 0x90
	.type	stencil,@function
stencil:                                # @stencil
# %bb.0:
                                        # kill: def $edx killed $edx def $rdx
	cmpl	$3, %edx
	jl	.LBB0_4
# %bb.1:
	vmovsd	8(%rsi), %xmm0                  # xmm0 = mem[0],zero
	decl	%edx
	movl	$1, %eax
	leaq	-1(%rdx), %rcx
	cmpq	$3, %rcx
	jbe	.LBB0_2
# %bb.5:
	vbroadcastsd	.LCPI0_2(%rip), %ymm1   # ymm1 = [5.0E-1,5.0E-1,5.0E-1,5.0E-1]
	vbroadcastsd	.LCPI0_3(%rip), %ymm2   # ymm2 = [2.5E-1,2.5E-1,2.5E-1,2.5E-1]
	vmovddup	%xmm0, %xmm0                    # xmm0 = xmm0[0,0]
	movq	%rcx, %r8
	xorl	%r9d, %r9d
	andq	$-4, %r8
	vinsertf128	$1, %xmm0, %ymm0, %ymm0
	leaq	1(%r8), %rax
	.p2align	4, 0x90
.LBB0_6:                                # =>This Inner Loop Header: Depth=1
	vmovapd	%ymm0, %ymm3
	vmovupd	16(%rsi,%r9,8), %ymm0
	vaddpd	(%rsi,%r9,8), %ymm0, %ymm4
	vperm2f128	$33, %ymm0, %ymm3, %ymm3 # ymm3 = ymm3[2,3],ymm0[0,1]
	vshufpd	$5, %ymm0, %ymm3, %ymm3         # ymm3 = ymm3[1],ymm0[0],ymm3[3],ymm0[2]
	vmulpd	%ymm1, %ymm3, %ymm3
	vfmaddpd	%ymm3, %ymm2, %ymm4, %ymm3      # ymm3 = (ymm4 * ymm2) + ymm3
	vmovupd	%ymm3, 8(%rdi,%r9,8)
	addq	$4, %r9
	cmpq	%r9, %r8
	jne	.LBB0_6
# %bb.7:
	cmpq	%r8, %rcx
	je	.LBB0_4
# %bb.8:
	vextractf128	$1, %ymm0, %xmm0
	vshufpd	$1, %xmm0, %xmm0, %xmm0         # xmm0 = xmm0[1,0]
.LBB0_2:
	vmovsd	.LCPI0_2(%rip), %xmm1           # xmm1 = [5.0E-1,0.0E+0]
	vmovsd	.LCPI0_3(%rip), %xmm2           # xmm2 = [2.5E-1,0.0E+0]
	.p2align	4, 0x90
.LBB0_3:                                # =>This Inner Loop Header: Depth=1
	vmulsd	%xmm1, %xmm0, %xmm3
	vmovsd	8(%rsi,%rax,8), %xmm0           # xmm0 = mem[0],zero
	vaddsd	-8(%rsi,%rax,8), %xmm0, %xmm4
	leaq	1(%rax), %rcx
	vfmaddsd	%xmm3, %xmm2, %xmm4, %xmm3      # xmm3 = (xmm4 * xmm2) + xmm3
	vmovsd	%xmm3, (%rdi,%rax,8)
	movq	%rcx, %rax
	cmpq	%rcx, %rdx
	jne	.LBB0_3
.LBB0_4:
	vzeroupper
	retq
.Lfunc_end0:
	.size	stencil, .Lfunc_end0-stencil
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
