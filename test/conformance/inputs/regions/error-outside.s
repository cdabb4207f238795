# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -skip-unsupported-instructions=parse-failure %s
frobnicate	%eax
# LLVM-MCA-BEGIN good
addl	%eax, %ebx
# LLVM-MCA-END good

