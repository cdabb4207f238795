# CASE: -mcpu=skylake %s
	.cfi_startproc
	addl	%eax, %ebx
