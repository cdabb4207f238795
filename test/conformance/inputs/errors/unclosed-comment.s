# CASE: -mcpu=skylake %s
	nop
/* never closed
	addl	%eax, %ebx
