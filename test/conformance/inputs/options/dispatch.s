# CASE: -mcpu=skylake -dispatch=1 %s
# CASE: -mcpu=skylake -dispatch=4 -dispatch-stats %s
# CASE: -mcpu=btver2 --dispatch 8 %s
# CASE: -mcpu=znver3 -dispatch=0 %s
addq	%rax, %rbx
addq	%rcx, %rdx
imulq	%rsi, %rdi
leaq	8(%r8), %r9

