# CASE: -mcpu=skylake %s
# LLVM-MCA-BEGIN a
	addl	%eax, %ebx
# LLVM-MCA-BEGIN a
	subq	%rcx, %rdx
# LLVM-MCA-END a
	imull	%esi, %edi
# LLVM-MCA-END a
