# CASE: -mcpu=skylake %s
# LLVM-MCA-PAUSE
addl	%eax, %ebx
# LLVM-MCA

