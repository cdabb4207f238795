# CASE: -mcpu=skylake %s
	.cfi_def_cfa_offset 16
	addl	%eax, %ebx
	.cfi_startproc
	nop
	.cfi_endproc
	.cfi_endproc
