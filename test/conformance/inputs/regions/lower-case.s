# CASE: -mcpu=skylake %s
# llvm-mca-begin a
	addl	%eax, %ebx
# LLVM-MCA-begin b
	subq	%rcx, %rdx
# LLVM-MCA-BEGINa
	imull	%esi, %edi
