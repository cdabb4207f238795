# CASE: -mcpu=skylake %s
# LLVM-MCA-BEGIN
addl	%eax, %ebx
# LLVM-MCA-END
orl	%ecx, %edx
# LLVM-MCA-BEGIN
subl	%eax, %ebx
# LLVM-MCA-END

