# CASE: -mcpu=skylake %s
# LLVM-MCA-BEGIN a
	addl	%eax, %ebx
# LLVM-MCA-BEGIN b
	subq	%rcx, %rdx
# LLVM-MCA-END b
# LLVM-MCA-END a
