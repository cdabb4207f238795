# CASE: -mcpu=skylake %s
	.bogus	1, 2
	.p2align
	.long	@
	.macro
	.endm
	.if	1
addl	%eax, %ebx

