# CASE: -mcpu=broadwell %s
# CASE: -mcpu=znver3 %s
adcxl	%eax, %ebx
adcxq	(%rsi), %rcx
adoxl	(%rdi), %edx
adoxq	%r8, %r9
mulxq	(%rsi), %r10, %r11

