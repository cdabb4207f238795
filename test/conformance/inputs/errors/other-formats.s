# Directives of COFF and Mach-O, which GNU as on Linux has nothing against.
# CASE: -mtriple=x86_64-unknown-linux-gnu -mcpu=skylake %s
# CASE: -mtriple=x86_64-apple-macosx -mcpu=skylake %s
# CASE: -mtriple=x86_64-pc-windows-msvc -mcpu=skylake %s
	.text
	.def	scale;	.scl	2;	.type	32;	.endef
	.globl	scale
scale:
	.seh_proc scale
	pushq	%rbx
	.seh_pushreg %rbx
	.seh_endprologue
	mulsd	%xmm1, %xmm0
	popq	%rbx
	retq
	.seh_endproc
