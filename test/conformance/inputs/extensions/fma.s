# CASE: -mcpu=broadwell %s
# CASE: -mcpu=znver4 -bottleneck-analysis %s
vfmadd132ps	%ymm0, %ymm1, %ymm2
vfmadd213pd	(%rdi), %ymm3, %ymm4
vfmadd231ss	%xmm5, %xmm6, %xmm7
vfmadd231sd	8(%rdi), %xmm8, %xmm9
vfmsub132pd	%xmm10, %xmm11, %xmm12
vfmsub213ss	(%rsi), %xmm13, %xmm14
vfnmadd231ps	%ymm15, %ymm0, %ymm1
vfnmadd132sd	%xmm2, %xmm3, %xmm4
vfnmsub213pd	32(%rdx), %ymm5, %ymm6
vfnmsub231ss	%xmm7, %xmm8, %xmm9
vfmaddsub213ps	%ymm10, %ymm11, %ymm12
vfmsubadd231pd	(%rcx), %xmm13, %xmm14

