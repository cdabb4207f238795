# CASE: -mcpu=bdver2 %s
# CASE: -mcpu=bdver2 -timeline -timeline-max-iterations=3 %s
vfmaddps	%xmm0, %xmm1, %xmm2, %xmm3
vfmaddpd	(%rdi), %ymm4, %ymm5, %ymm6
vfmaddss	%xmm7, (%rsi), %xmm8, %xmm9
vfmsubsd	%xmm10, %xmm11, %xmm12, %xmm13
vfnmaddps	%ymm14, %ymm15, %ymm0, %ymm1
vfnmsubpd	%xmm2, (%rdx), %xmm3, %xmm4
vfmaddsubpd	%xmm5, %xmm6, %xmm7, %xmm8
vfmsubaddps	%ymm9, %ymm10, %ymm11, %ymm12

