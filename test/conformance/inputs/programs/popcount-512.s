# CASE: -mcpu=icelake-server %s
# popc.c: clang-19 -O3 -mprefer-vector-width=512 -march=icelake-server
	.text
	.file	"popc.c"
	.globl	popc                            # -- Begin function popc
	.p2align	4, 0x90
	.type	popc,@function
popc:                                   # @popc
	.cfi_startproc
# %bb.0:
	testq	%rsi, %rsi
	jle	.LBB0_1
# %bb.2:
	cmpq	$31, %rsi
	ja	.LBB0_4
# %bb.3:
	xorl	%ecx, %ecx
	xorl	%eax, %eax
	jmp	.LBB0_7
.LBB0_1:
	xorl	%eax, %eax
	retq
.LBB0_4:
	movabsq	$9223372036854775776, %rcx      # imm = 0x7FFFFFFFFFFFFFE0
	andq	%rsi, %rcx
	vpxor	%xmm0, %xmm0, %xmm0
	xorl	%eax, %eax
	vpxor	%xmm1, %xmm1, %xmm1
	vpxor	%xmm2, %xmm2, %xmm2
	vpxor	%xmm3, %xmm3, %xmm3
	.p2align	4, 0x90
.LBB0_5:                                # =>This Inner Loop Header: Depth=1
	vpopcntq	(%rdi,%rax,8), %zmm4
	vpaddq	%zmm0, %zmm4, %zmm0
	vpopcntq	64(%rdi,%rax,8), %zmm4
	vpaddq	%zmm1, %zmm4, %zmm1
	vpopcntq	128(%rdi,%rax,8), %zmm4
	vpaddq	%zmm2, %zmm4, %zmm2
	vpopcntq	192(%rdi,%rax,8), %zmm4
	vpaddq	%zmm3, %zmm4, %zmm3
	addq	$32, %rax
	cmpq	%rax, %rcx
	jne	.LBB0_5
# %bb.6:
	vpaddq	%zmm0, %zmm1, %zmm0
	vpaddq	%zmm0, %zmm2, %zmm0
	vpaddq	%zmm0, %zmm3, %zmm0
	vextracti64x4	$1, %zmm0, %ymm1
	vpaddq	%zmm1, %zmm0, %zmm0
	vextracti128	$1, %ymm0, %xmm1
	vpaddq	%xmm1, %xmm0, %xmm0
	vpshufd	$238, %xmm0, %xmm1              # xmm1 = xmm0[2,3,2,3]
	vpaddq	%xmm1, %xmm0, %xmm0
	vmovq	%xmm0, %rax
	cmpq	%rsi, %rcx
	je	.LBB0_8
	.p2align	4, 0x90
.LBB0_7:                                # =>This Inner Loop Header: Depth=1
	popcntq	(%rdi,%rcx,8), %rdx
	addq	%rdx, %rax
	incq	%rcx
	cmpq	%rcx, %rsi
	jne	.LBB0_7
.LBB0_8:
	vzeroupper
	retq
.Lfunc_end0:
	.size	popc, .Lfunc_end0-popc
	.cfi_endproc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
