# CASE: -mcpu=skylake %s
# LLVM-MCA-BEGIN x
addl	%eax, %ebx
# LLVM-MCA-END

