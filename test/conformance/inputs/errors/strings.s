# CASE: -mcpu=skylake %s
	.ascii	"not closed
addl	%eax, %ebx
	.asciz	no quotes
/* a comment without an end
subl	%eax, %ebx

