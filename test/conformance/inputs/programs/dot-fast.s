# CASE: -mcpu=skylake -bottleneck-analysis %s
# dot.c: clang-19 -O3 -ffast-math -march=skylake
	.text
	.file	"dot.c"
	.globl	dot                             # -- Begin function dot
	.p2align	4, 0x90
	.type	dot,@function
dot:                                    # @dot
	.cfi_startproc
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_1
# %bb.2:
	movl	%edx, %eax
	cmpl	$15, %edx
	ja	.LBB0_4
# %bb.3:
	vxorpd	%xmm0, %xmm0, %xmm0
	xorl	%ecx, %ecx
	jmp	.LBB0_7
.LBB0_1:
	vxorps	%xmm0, %xmm0, %xmm0
	retq
.LBB0_4:
	movl	%eax, %ecx
	andl	$2147483632, %ecx               # imm = 0x7FFFFFF0
	movl	%eax, %edx
	shrl	$4, %edx
	andl	$134217727, %edx                # imm = 0x7FFFFFF
	shlq	$7, %rdx
	vxorpd	%xmm0, %xmm0, %xmm0
	xorl	%r8d, %r8d
	vxorpd	%xmm1, %xmm1, %xmm1
	vxorpd	%xmm2, %xmm2, %xmm2
	vxorpd	%xmm3, %xmm3, %xmm3
	.p2align	4, 0x90
.LBB0_5:                                # =>This Inner Loop Header: Depth=1
	vmovupd	(%rsi,%r8), %ymm4
	vmovupd	32(%rsi,%r8), %ymm5
	vmovupd	64(%rsi,%r8), %ymm6
	vmovupd	96(%rsi,%r8), %ymm7
	vfmadd231pd	(%rdi,%r8), %ymm4, %ymm0 # ymm0 = (ymm4 * mem) + ymm0
	vfmadd231pd	32(%rdi,%r8), %ymm5, %ymm1 # ymm1 = (ymm5 * mem) + ymm1
	vfmadd231pd	64(%rdi,%r8), %ymm6, %ymm2 # ymm2 = (ymm6 * mem) + ymm2
	vfmadd231pd	96(%rdi,%r8), %ymm7, %ymm3 # ymm3 = (ymm7 * mem) + ymm3
	subq	$-128, %r8
	cmpq	%r8, %rdx
	jne	.LBB0_5
# %bb.6:
	vaddpd	%ymm0, %ymm1, %ymm0
	vaddpd	%ymm2, %ymm3, %ymm1
	vaddpd	%ymm0, %ymm1, %ymm0
	vextractf128	$1, %ymm0, %xmm1
	vaddpd	%xmm1, %xmm0, %xmm0
	vshufpd	$1, %xmm0, %xmm0, %xmm1         # xmm1 = xmm0[1,0]
	vaddsd	%xmm1, %xmm0, %xmm0
	cmpl	%eax, %ecx
	je	.LBB0_8
	.p2align	4, 0x90
.LBB0_7:                                # =>This Inner Loop Header: Depth=1
	vmovsd	(%rsi,%rcx,8), %xmm1            # xmm1 = mem[0],zero
	vfmadd231sd	(%rdi,%rcx,8), %xmm1, %xmm0 # xmm0 = (xmm1 * mem) + xmm0
	incq	%rcx
	cmpq	%rcx, %rax
	jne	.LBB0_7
.LBB0_8:
	vzeroupper
	retq
.Lfunc_end0:
	.size	dot, .Lfunc_end0-dot
	.cfi_endproc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
