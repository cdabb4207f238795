# CASE: -mcpu=skylake %s
# LLVM-MCA-BEGIN
addl	%eax, %ebx
# LLVM-MCA-BEGIN
subl	%ebx, %ecx
# LLVM-MCA-END
xorl	%ecx, %edx
# LLVM-MCA-END

