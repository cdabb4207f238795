# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -call-latency=7 %s
# LLVM-MCA-BEGIN a
	callq	f
	callq	*%rax
# LLVM-MCA-END a
# LLVM-MCA-BEGIN b
	callq	*8(%rax)
	retq
	retq
# LLVM-MCA-END b
