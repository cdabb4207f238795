# CASE: -mcpu=icelake-server -all-stats %s
# stencil.c: clang-19 -O3 -mprefer-vector-width=512 -march=icelake-server
	.text
	.file	"stencil.c"
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0                          # -- Begin function stencil
.LCPI0_0:
	.quad	15                              # 0xf
	.quad	0                               # 0x0
	.quad	1                               # 0x1
	.quad	2                               # 0x2
	.quad	3                               # 0x3
	.quad	4                               # 0x4
	.quad	5                               # 0x5
	.quad	6                               # 0x6
	.section	.rodata.cst8,"aM",@progbits,8
	.p2align	3, 0x0
.LCPI0_1:
	.quad	0x3fe0000000000000              # double 0.5
.LCPI0_2:
	.quad	0x3fd0000000000000              # double 0.25
	.text
	.globl	stencil
	.p2align	4, 0x90
	.type	stencil,@function
stencil:                                # @stencil
	.cfi_startproc
# %bb.0:
                                        # kill: def $edx killed $edx def $rdx
	cmpl	$3, %edx
	jl	.LBB0_4
# %bb.1:
	decl	%edx
	vmovsd	8(%rsi), %xmm0                  # xmm0 = mem[0],zero
	leaq	-1(%rdx), %rcx
	movl	$1, %eax
	cmpq	$31, %rcx
	jbe	.LBB0_2
# %bb.5:
	movq	%rcx, %r8
	andq	$-32, %r8
	leaq	1(%r8), %rax
	vbroadcastsd	%xmm0, %zmm0
	xorl	%r9d, %r9d
	vmovapd	.LCPI0_0(%rip), %zmm1           # zmm1 = [15,0,1,2,3,4,5,6]
	vbroadcastsd	.LCPI0_1(%rip), %zmm2   # zmm2 = [5.0E-1,5.0E-1,5.0E-1,5.0E-1,5.0E-1,5.0E-1,5.0E-1,5.0E-1]
	vbroadcastsd	.LCPI0_2(%rip), %zmm3   # zmm3 = [2.5E-1,2.5E-1,2.5E-1,2.5E-1,2.5E-1,2.5E-1,2.5E-1,2.5E-1]
	.p2align	4, 0x90
.LBB0_6:                                # =>This Inner Loop Header: Depth=1
	vmovapd	%zmm0, %zmm4
	vmovupd	16(%rsi,%r9,8), %zmm5
	vmovupd	80(%rsi,%r9,8), %zmm6
	vmovupd	144(%rsi,%r9,8), %zmm7
	vmovupd	208(%rsi,%r9,8), %zmm0
	vmovapd	%zmm5, %zmm8
	vpermt2pd	%zmm4, %zmm1, %zmm8
	vmovapd	%zmm6, %zmm4
	vpermt2pd	%zmm5, %zmm1, %zmm4
	vmovapd	%zmm7, %zmm9
	vpermt2pd	%zmm6, %zmm1, %zmm9
	vmovapd	%zmm0, %zmm10
	vpermt2pd	%zmm7, %zmm1, %zmm10
	vmulpd	%zmm2, %zmm8, %zmm8
	vmulpd	%zmm2, %zmm4, %zmm4
	vmulpd	%zmm2, %zmm9, %zmm9
	vmulpd	%zmm2, %zmm10, %zmm10
	vfmadd231pd	(%rsi,%r9,8), %zmm3, %zmm8 # zmm8 = (zmm3 * mem) + zmm8
	vfmadd231pd	64(%rsi,%r9,8), %zmm3, %zmm4 # zmm4 = (zmm3 * mem) + zmm4
	vfmadd231pd	128(%rsi,%r9,8), %zmm3, %zmm9 # zmm9 = (zmm3 * mem) + zmm9
	vfmadd231pd	192(%rsi,%r9,8), %zmm3, %zmm10 # zmm10 = (zmm3 * mem) + zmm10
	vfmadd231pd	%zmm5, %zmm3, %zmm8     # zmm8 = (zmm3 * zmm5) + zmm8
	vfmadd231pd	%zmm6, %zmm3, %zmm4     # zmm4 = (zmm3 * zmm6) + zmm4
	vfmadd231pd	%zmm7, %zmm3, %zmm9     # zmm9 = (zmm3 * zmm7) + zmm9
	vfmadd231pd	%zmm3, %zmm0, %zmm10    # zmm10 = (zmm0 * zmm3) + zmm10
	vmovupd	%zmm8, 8(%rdi,%r9,8)
	vmovupd	%zmm4, 72(%rdi,%r9,8)
	vmovupd	%zmm9, 136(%rdi,%r9,8)
	vmovupd	%zmm10, 200(%rdi,%r9,8)
	addq	$32, %r9
	cmpq	%r9, %r8
	jne	.LBB0_6
# %bb.7:
	cmpq	%r8, %rcx
	je	.LBB0_4
# %bb.8:
	vextractf32x4	$3, %zmm0, %xmm0
	vshufpd	$1, %xmm0, %xmm0, %xmm0         # xmm0 = xmm0[1,0]
.LBB0_2:
	vmovsd	.LCPI0_1(%rip), %xmm1           # xmm1 = [5.0E-1,0.0E+0]
	vmovsd	.LCPI0_2(%rip), %xmm2           # xmm2 = [2.5E-1,0.0E+0]
	.p2align	4, 0x90
.LBB0_3:                                # =>This Inner Loop Header: Depth=1
	vmulsd	%xmm1, %xmm0, %xmm3
	vfmadd231sd	-8(%rsi,%rax,8), %xmm2, %xmm3 # xmm3 = (xmm2 * mem) + xmm3
	vmovsd	8(%rsi,%rax,8), %xmm0           # xmm0 = mem[0],zero
	vfmadd231sd	%xmm2, %xmm0, %xmm3     # xmm3 = (xmm0 * xmm2) + xmm3
	vmovsd	%xmm3, (%rdi,%rax,8)
	leaq	1(%rax), %rcx
	movq	%rcx, %rax
	cmpq	%rcx, %rdx
	jne	.LBB0_3
.LBB0_4:
	vzeroupper
	retq
.Lfunc_end0:
	.size	stencil, .Lfunc_end0-stencil
	.cfi_endproc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
