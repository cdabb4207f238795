# CASE: -mcpu=skylake %s
	nop
	.macro m
	addl	%eax, %ebx
