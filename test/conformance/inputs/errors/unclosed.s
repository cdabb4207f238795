# CASE: -mcpu=skylake %s
	nop
	.rept 3
	addl	%eax, %ebx
