# CASE: -mcpu=skylake %s
	.code32
	pushl	%eax
	incl	%eax
	.code64
	pushq	%rax

