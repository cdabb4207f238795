# CASE: -mtriple=x86_64-pc-windows-msvc -mcpu=skylake %s
# CASE: -mtriple=x86_64-w64-mingw32 -mcpu=znver3 %s
	.text
	.def	f;
	.scl	2;
	.type	32;
	.endef
	.globl	f
	.p2align	4, 0x90
f:
.seh_proc f
	pushq	%rsi
	.seh_pushreg %rsi
	subq	$32, %rsp
	.seh_stackalloc 32
	.seh_endprologue
	callq	g
	addq	$32, %rsp
	popq	%rsi
	retq
	.seh_endproc
