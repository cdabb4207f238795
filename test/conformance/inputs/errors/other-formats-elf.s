# CASE: -mtriple=x86_64-unknown-linux-gnu -mcpu=skylake %s
# CASE: -mtriple=x86_64-apple-macosx -mcpu=skylake %s
# CASE: -mtriple=x86_64-pc-windows-msvc -mcpu=skylake %s
	.text
	.globl	scale
	.hidden	scale
	.type	scale,@function
scale:
	mulsd	%xmm1, %xmm0
	retq
	.size	scale, .-scale
