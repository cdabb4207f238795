# CASE: -mcpu=skylake-avx512 -timeline -timeline-max-iterations=2 %s
# CASE: -mcpu=btver2 -timeline -timeline-max-iterations=2 -register-file-stats %s
# CASE: -mcpu=znver3 -timeline -timeline-max-iterations=2 -register-file-stats %s
xorl	%eax, %eax
subq	%rbx, %rbx
xorps	%xmm0, %xmm0
pxor	%xmm1, %xmm1
psubd	%xmm2, %xmm2
pcmpeqb	%xmm3, %xmm3
vxorps	%xmm4, %xmm4, %xmm4
vpxor	%xmm5, %xmm5, %xmm5
vpsubq	%xmm6, %xmm6, %xmm6
vpcmpgtd	%xmm7, %xmm7, %xmm7
vandnpd	%xmm8, %xmm8, %xmm8

