# CASE: -mcpu=skylake %s
# LLVM-MCA-BEGINNING of it
addl	%eax, %ebx
# LLVM-MCA-ENDING

