# CASE: -mcpu=skylake %s
	addl	%eax, %ebx # LLVM-MCA-BEGIN a
	subq	%rcx, %rdx	# LLVM-MCA-END a
	imull	%esi, %edi
