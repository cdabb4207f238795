# CASE: -mcpu=skylake %s
# CASE: -mcpu=btver2 -timeline -timeline-max-iterations=1 %s
# LLVM-MCA-BEGIN a
	addl	%eax, %ebx
# LLVM-MCA-BEGIN b
	subq	%rcx, %rdx
# LLVM-MCA-BEGIN c
	imull	%esi, %edi
# LLVM-MCA-END a
	addl	%eax, %ebx
# LLVM-MCA-END b
	subq	%rcx, %rdx
# LLVM-MCA-END c
	imull	%esi, %edi
