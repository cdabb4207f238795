# CASE: -mcpu=skylake-avx512 -output-asm-variant=1 %s
# norm.c: clang-19 -O2 -masm=intel -march=skylake-avx512
	.text
	.intel_syntax noprefix
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
	.cfi_startproc
# %bb.0:
	test	esi, esi
	jle	.LBB0_8
# %bb.1:
	mov	eax, esi
	cmp	esi, 31
	ja	.LBB0_5
# %bb.2:
	xor	ecx, ecx
	jmp	.LBB0_3
.LBB0_5:
	mov	ecx, eax
	and	ecx, 2147483616
	mov	edx, eax
	shr	edx, 5
	and	edx, 67108863
	shl	rdx, 7
	xor	esi, esi
	vbroadcastss	ymm0, dword ptr [rip + .LCPI0_0] # ymm0 = [1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0,1.0E+0]
	.p2align	4, 0x90
.LBB0_6:                                # =>This Inner Loop Header: Depth=1
	vmovups	ymm1, ymmword ptr [rdi + rsi]
	vmovups	ymm2, ymmword ptr [rdi + rsi + 32]
	vmovups	ymm3, ymmword ptr [rdi + rsi + 64]
	vmovups	ymm4, ymmword ptr [rdi + rsi + 96]
	vfmadd213ps	ymm1, ymm1, ymm0        # ymm1 = (ymm1 * ymm1) + ymm0
	vfmadd213ps	ymm2, ymm2, ymm0        # ymm2 = (ymm2 * ymm2) + ymm0
	vfmadd213ps	ymm3, ymm3, ymm0        # ymm3 = (ymm3 * ymm3) + ymm0
	vfmadd213ps	ymm4, ymm4, ymm0        # ymm4 = (ymm4 * ymm4) + ymm0
	vsqrtps	ymm1, ymm1
	vsqrtps	ymm2, ymm2
	vsqrtps	ymm3, ymm3
	vsqrtps	ymm4, ymm4
	vdivps	ymm1, ymm0, ymm1
	vdivps	ymm2, ymm0, ymm2
	vdivps	ymm3, ymm0, ymm3
	vdivps	ymm4, ymm0, ymm4
	vmovups	ymmword ptr [rdi + rsi], ymm1
	vmovups	ymmword ptr [rdi + rsi + 32], ymm2
	vmovups	ymmword ptr [rdi + rsi + 64], ymm3
	vmovups	ymmword ptr [rdi + rsi + 96], ymm4
	sub	rsi, -128
	cmp	rdx, rsi
	jne	.LBB0_6
# %bb.7:
	cmp	ecx, eax
	je	.LBB0_8
.LBB0_3:
	vmovss	xmm0, dword ptr [rip + .LCPI0_0] # xmm0 = [1.0E+0,0.0E+0,0.0E+0,0.0E+0]
	.p2align	4, 0x90
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	vmovss	xmm1, dword ptr [rdi + 4*rcx]   # xmm1 = mem[0],zero,zero,zero
	vfmadd213ss	xmm1, xmm1, xmm0        # xmm1 = (xmm1 * xmm1) + xmm0
	vsqrtss	xmm1, xmm1, xmm1
	vdivss	xmm1, xmm0, xmm1
	vmovss	dword ptr [rdi + 4*rcx], xmm1
	inc	rcx
	cmp	rax, rcx
	jne	.LBB0_4
.LBB0_8:
	vzeroupper
	ret
.Lfunc_end0:
	.size	norm, .Lfunc_end0-norm
	.cfi_endproc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
