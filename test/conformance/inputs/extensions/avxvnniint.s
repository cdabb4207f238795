# CASE: -mcpu=lunarlake %s
vpdpbssd	%ymm0, %ymm1, %ymm2
vpdpbuud	(%rdi), %xmm3, %xmm4
vpdpwsud	%ymm5, %ymm6, %ymm7

