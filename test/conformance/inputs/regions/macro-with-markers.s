# CASE: -mcpu=skylake %s
	.macro marked name
# LLVM-MCA-BEGIN \name
	addl	%eax, %ebx
# LLVM-MCA-END \name
	.endm
	marked one
	marked two
	subq	%rcx, %rdx
