# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -disable-im %s
# LLVM-MCA-BEGIN
# LLVM-MCA-SEW 8
addl	%eax, %ebx
# LLVM-MCA-END

