# CASE: -mcpu=skylake %s
# LLVM-MCA-BEGIN a
	addl	%eax, %ebx
# LLVM-MCA-END a
# LLVM-MCA-BEGIN a
	subq	%rcx, %rdx
# LLVM-MCA-END a
# LLVM-MCA-BEGIN
	imull	%esi, %edi
# LLVM-MCA-END
# LLVM-MCA-BEGIN
	addl	%eax, %ebx
# LLVM-MCA-END
