# CASE: -mcpu=skylake %s
# CASE: -mcpu=znver4 -timeline %s
# LLVM-MCA-BEGIN repeated
	.rept 3
	addl	%eax, %ebx
	subq	%rcx, %rdx
	.endr
# LLVM-MCA-END repeated
	imull	%esi, %edi
