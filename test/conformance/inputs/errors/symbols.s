# CASE: -mcpu=skylake %s
twice:
	addl	%eax, %ebx
twice:
	.set	x, x + 1
	.globl	"

