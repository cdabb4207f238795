# CASE: -mcpu=skylake %s
lock movl	%eax, (%rdi)
lock addl	%eax, %ebx

