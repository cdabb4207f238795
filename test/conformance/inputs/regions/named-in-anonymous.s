# CASE: -mcpu=skylake %s
# LLVM-MCA-BEGIN
	addl	%eax, %ebx
# LLVM-MCA-BEGIN inner
	subq	%rcx, %rdx
# LLVM-MCA-END inner
	imull	%esi, %edi
# LLVM-MCA-END
