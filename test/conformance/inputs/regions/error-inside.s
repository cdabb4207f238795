# CASE: -mcpu=skylake %s
# LLVM-MCA-BEGIN good
addl	%eax, %ebx
# LLVM-MCA-END good
# LLVM-MCA-BEGIN bad
addl	%eax, %nothing
# LLVM-MCA-END bad

