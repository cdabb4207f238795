# CASE: -mcpu=skylake %s
# LLVM-MCA-BEGIN a
	callq	f
	retq
# LLVM-MCA-BEGIN b
	retq
# LLVM-MCA-END a
	callq	g
# LLVM-MCA-END b
