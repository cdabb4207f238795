# CASE: -mcpu=btver2 -all-views %s
# CASE: -mcpu=znver2 -register-file-stats %s
# CASE: -mcpu=skylake -register-file-stats -iterations=5 %s
movq	%rax, %rbx
movl	%ebx, %ecx
movq	%rcx, %rax
movaps	%xmm0, %xmm1
movdqa	%xmm1, %xmm2
vmovaps	%xmm2, %xmm0
vmovaps	%ymm3, %ymm4
vmovdqa	%ymm4, %ymm3
xchgq	%rax, %rdx

