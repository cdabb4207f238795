# CASE: -mcpu=skylake %s
# CASE: -mcpu=znver4 -json %s
# LLVM-MCA-BEGIN left
addl	%eax, %ebx
# LLVM-MCA-BEGIN right
subl	%ebx, %ecx
# LLVM-MCA-END left
xorl	%ecx, %edx
# LLVM-MCA-END right

