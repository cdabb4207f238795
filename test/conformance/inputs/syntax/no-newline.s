# CASE: -mcpu=skylake %s
addq	%rax, %rbx

