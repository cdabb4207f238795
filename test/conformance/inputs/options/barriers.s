# CASE: -mcpu=btver2 -show-barriers %s
# CASE: -mcpu=btver2 -show-barriers -show-encoding %s
# CASE: -mcpu=skylake -show-barriers=1 -timeline %s
movl	(%rdi), %eax
mfence
movl	%eax, (%rsi)
sfence
lfence
lock incl	(%rdx)

