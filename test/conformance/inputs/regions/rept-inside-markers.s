# CASE: -mcpu=skylake %s
	.rept 2
# LLVM-MCA-BEGIN r
	addl	%eax, %ebx
# LLVM-MCA-END r
	.endr
	subq	%rcx, %rdx
