# CASE: -mcpu=skylake %s
# llvm-mca-begin small
addl	%eax, %ebx
# llvm-mca-end small
subl	%eax, %ebx

