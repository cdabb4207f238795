# CASE: -mtriple=x86_64-pc-windows-msvc -mcpu=znver2 %s
	.text
	.def	sum;
	.scl	2;
	.type	32;
	.endef
	.globl	sum
sum:
.seh_proc sum
	subq	$40, %rsp
	.seh_stackalloc 40
	.seh_endprologue
	movl	(%rcx), %eax
	addl	%edx, %eax
	addq	$40, %rsp
	retq
	.seh_endproc

