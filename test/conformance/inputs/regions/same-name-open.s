# CASE: -mcpu=skylake %s
# LLVM-MCA-BEGIN twice
addl	%eax, %ebx
# LLVM-MCA-BEGIN twice
subl	%ebx, %ecx
# LLVM-MCA-END twice
# LLVM-MCA-END twice

