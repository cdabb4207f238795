# CASE: -mcpu=btver2 -timeline %s
# CASE: -mcpu=icelake-server -timeline -show-barriers %s
movq	(%rdi), %rax
lfence
addq	$1, %rax
movq	%rax, (%rdi)
sfence
movq	%rax, 8(%rdi)
mfence
movq	16(%rdi), %rbx

