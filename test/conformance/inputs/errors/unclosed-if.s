# CASE: -mcpu=skylake %s
	nop
	.if 1
	addl	%eax, %ebx
