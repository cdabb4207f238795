# CASE: -mtriple=x86_64-unknown-linux-gnu -mcpu=skylake %s
# CASE: -mtriple=x86_64-apple-macosx -mcpu=skylake %s
# CASE: -mtriple=x86_64-pc-windows-msvc -mcpu=skylake %s
	.section	__TEXT,__text,regular,pure_instructions
	.build_version macos, 13, 0
	.globl	_scale
	.p2align	4, 0x90
_scale:
	mulsd	%xmm1, %xmm0
	retq
	.subsections_via_symbols
