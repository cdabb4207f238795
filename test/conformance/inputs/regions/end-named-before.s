# CASE: -mcpu=skylake %s
# LLVM-MCA-END late
# LLVM-MCA-BEGIN late
	addl	%eax, %ebx
# LLVM-MCA-END late
