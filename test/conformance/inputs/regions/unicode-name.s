# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -json %s
# LLVM-MCA-BEGIN Schleife µ
addl	%eax, %ebx
# LLVM-MCA-END Schleife µ

