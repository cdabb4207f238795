# CASE: -mcpu=skylake %s
addl	%eax, %ebx
# LLVM-MCA-END ghost

