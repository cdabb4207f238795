# CASE: -mcpu=sapphirerapids %s
movdiri	%rax, (%rdi)
movdir64b	(%rsi), %rdx
umonitor	%rax
umwait	%ecx
tpause	%ebx
serialize
cldemote	(%rdi)
ptwriteq	%rax

