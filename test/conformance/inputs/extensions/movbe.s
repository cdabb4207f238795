# CASE: -mcpu=atom %s
# CASE: -mcpu=haswell %s
movbew	(%rdi), %ax
movbel	%ebx, 4(%rdi)
movbeq	8(%rsi), %rcx

