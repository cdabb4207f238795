# CASE: -mcpu=sierraforest %s
cmpbexadd	%eax, %ebx, (%rdi)
cmpzxadd	%rcx, %rdx, 8(%rsi)

