# CASE: -mcpu=skylake %s
	nop
	.ascii "abc
	addl	%eax, %ebx
