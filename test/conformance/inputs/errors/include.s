# CASE: -mcpu=skylake %s
	.include	"nowhere.inc"
	.incbin	"nowhere.bin"
	addl	%eax, %ebx

