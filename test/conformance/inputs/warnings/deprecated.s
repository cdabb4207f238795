# CASE: -mcpu=skylake %s
	.code16gcc
	.code64
	addl	%eax, %ebx
	fadds	%st(1), %st
	fsubp
	scas
	ins	(%dx), %eax

