	.section	__TEXT,__text,regular,pure_instructions
	.build_version macos, 10, 13
	.globl	_f
_f:                                     ## @f
	movss	4(%edx,%edi,4), %xmm2
	movss	LCPI0_0-L0$pb(%ecx), %xmm1
	imull	(%ecx,%edi,4), %eax
	.subsections_via_symbols
