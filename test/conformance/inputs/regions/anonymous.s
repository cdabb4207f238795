# CASE: -mcpu=skylake %s
# LLVM-MCA-BEGIN
addl	%eax, %ebx
# LLVM-MCA-END

