# CASE: -mcpu=atom %s
# CASE: -mcpu=ivybridge %s
addsubps	%xmm0, %xmm1
addsubpd	(%rdi), %xmm2
haddps	%xmm3, %xmm4
haddpd	(%rsi), %xmm5
hsubps	%xmm6, %xmm7
hsubpd	%xmm8, %xmm9
movddup	(%rdx), %xmm10
movshdup	%xmm11, %xmm12
movsldup	%xmm13, %xmm14
lddqu	(%rcx), %xmm15
fisttpl	(%rsp)

