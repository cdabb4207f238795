# CASE: -mcpu=skylake %s
# CASE: -mcpu=znver3 -json %s
# LLVM-MCA-BEGIN outer
	addl	%eax, %ebx
# LLVM-MCA-BEGIN
	subq	%rcx, %rdx
# LLVM-MCA-END
	imull	%esi, %edi
# LLVM-MCA-END outer
