# CASE: -mcpu=skylake %s
	.macro	m a
	addl	\a, %ebx
	\a	foo
	.endm
	m	%eax
	m
	.macro	open
	nop

