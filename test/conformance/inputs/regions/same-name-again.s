# CASE: -mcpu=skylake %s
# LLVM-MCA-BEGIN again
addl	%eax, %ebx
# LLVM-MCA-END again
# LLVM-MCA-BEGIN again
subl	%ebx, %ecx
# LLVM-MCA-END again

