# CASE: -mcpu=haswell -bottleneck-analysis -noalias=false %s
# CASE: -mcpu=btver2 -bottleneck-analysis -noalias=false -timeline %s
incl	(%rdi)
movl	4(%rdi), %eax
addl	%eax, 8(%rdi)

