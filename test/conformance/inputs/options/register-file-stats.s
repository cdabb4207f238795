# CASE: -mcpu=btver2 -register-file-stats %s
# CASE: -mcpu=znver3 -register-file-stats %s
# CASE: -mcpu=bdver2 -register-file-stats %s
# CASE: -mcpu=skylake -register-file-stats %s
# CASE: -mcpu=icelake-server -register-file-stats %s
movq	%rsi, %rax
addq	%rdi, %rax
vmovaps	%xmm0, %xmm1
vaddss	%xmm1, %xmm2, %xmm3
cmpq	%rax, %rbx

