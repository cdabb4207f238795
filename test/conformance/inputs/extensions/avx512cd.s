# CASE: -mcpu=skylake-avx512 %s
vpconflictd	%zmm0, %zmm1
vpconflictq	(%rdi), %ymm2 {%k1}
vplzcntd	%zmm3, %zmm4 {%k2} {z}
vplzcntq	(%rsi){1to8}, %zmm5
vpbroadcastmb2q	%k3, %zmm6
vpbroadcastmw2d	%k4, %xmm7

