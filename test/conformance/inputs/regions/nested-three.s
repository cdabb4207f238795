# CASE: -mcpu=znver2 %s
# LLVM-MCA-BEGIN a
addl	%eax, %eax
# LLVM-MCA-BEGIN b
addl	%ebx, %ebx
# LLVM-MCA-BEGIN c
addl	%ecx, %ecx
# LLVM-MCA-END c
# LLVM-MCA-END b
# LLVM-MCA-END a

