# CASE: -mcpu=skylake -disable-cb %s
# CASE: -mcpu=skylake -disable-im %s
# CASE: -mcpu=btver2 -disable-cb=true -disable-im=false %s
# LLVM-MCA-LATENCY 4
addl	%eax, %ebx
# LLVM-MCA-NOTHING

