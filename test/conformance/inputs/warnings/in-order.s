# CASE: -mcpu=atom %s
# CASE: -mcpu=atom -timeline -all-stats %s
# CASE: -mcpu=atom -bottleneck-analysis %s
# CASE: -mcpu=atom -json %s
addl	%eax, %ebx
mulss	%xmm0, %xmm1
movl	%ebx, (%rdi)

