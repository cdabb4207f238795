# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -json %s
addl	%eax, %ebx
# LLVM-MCA-BEGIN nothing
# LLVM-MCA-END nothing

