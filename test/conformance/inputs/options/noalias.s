# CASE: -mcpu=skylake -noalias=false -timeline %s
# CASE: -mcpu=skylake -noalias -timeline %s
# CASE: -mcpu=btver2 -noalias=0 -bottleneck-analysis %s
# CASE: -mcpu=znver4 -noalias=TRUE %s
movq	%rax, (%rdi)
movq	(%rsi), %rbx
addq	%rbx, %rax

