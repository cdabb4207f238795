# CASE: -mcpu=skylake %s
# LLVM-MCA-END
	addl	%eax, %ebx
# LLVM-MCA-BEGIN
	subq	%rcx, %rdx
