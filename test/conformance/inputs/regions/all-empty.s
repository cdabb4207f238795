# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -json %s
# LLVM-MCA-BEGIN a
# LLVM-MCA-END a
	addl	%eax, %ebx
# LLVM-MCA-BEGIN b
# LLVM-MCA-END b
