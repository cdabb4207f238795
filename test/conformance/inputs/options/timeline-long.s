# CASE: -mcpu=znver2 -timeline -timeline-max-iterations=2 -timeline-max-cycles=200 %s
# CASE: -mcpu=broadwell -timeline -timeline-max-iterations=200 -timeline-max-cycles=150 -iterations=150 %s
divq	%rcx
movq	%rax, %rbx
imulq	%rbx, %rdx
addq	(%rdi,%rbx), %rcx

