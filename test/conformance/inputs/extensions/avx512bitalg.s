# CASE: -mcpu=icelake-server %s
vpopcntb	%zmm0, %zmm1
vpopcntw	(%rdi), %ymm2 {%k1}
vpopcntd	(%rsi){1to16}, %zmm3
vpopcntq	%xmm4, %xmm5
vpshufbitqmb	%zmm6, %zmm7, %k2

