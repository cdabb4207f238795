# CASE: -mcpu=skylake %s
	movl	%edi, %eax
	#APP
	# LLVM-MCA-BEGIN kernel
	#NO_APP
	imull	%esi, %eax
	#APP
	# LLVM-MCA-END kernel
	#NO_APP
	retq

