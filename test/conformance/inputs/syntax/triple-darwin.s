# CASE: -mtriple=x86_64-apple-macosx -mcpu=haswell %s
	.section	__TEXT,__text,regular,pure_instructions
	.globl	_sum
	.p2align	4, 0x90
_sum:
	pushq	%rbp
	movq	%rsp, %rbp
	xorl	%eax, %eax
LBB0_1:
	addl	(%rdi,%rcx,4), %eax
	incq	%rcx
	cmpq	$100, %rcx
	jne	LBB0_1 ## loop
	popq	%rbp
	retq
	.subsections_via_symbols

