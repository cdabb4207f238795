# CASE: -mcpu=skylake %s
# CASE: -mcpu=btver2 -timeline -timeline-max-iterations=1 -all-stats %s
imulq	%rax, %rbx
# LLVM-MCA-BEGIN inner
addq	%rcx, %rdx
subq	%rdx, %rsi
# LLVM-MCA-END inner
movq	%rsi, (%rdi)

