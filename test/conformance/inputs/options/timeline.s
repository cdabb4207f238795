# CASE: -mcpu=skylake -timeline %s
# CASE: -mcpu=btver2 -timeline %s
# CASE: -mcpu=znver4 --timeline=1 %s
# CASE: -mcpu=skylake -timeline=false %s
vmovups	(%rdi), %ymm0
vaddps	(%rsi), %ymm0, %ymm0
vmovups	%ymm0, (%rdx)

