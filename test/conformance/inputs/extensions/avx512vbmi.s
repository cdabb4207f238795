# CASE: -mcpu=icelake-server %s
# CASE: -mcpu=znver4 %s
vpermb	%zmm0, %zmm1, %zmm2
vpermi2b	(%rdi), %zmm3, %zmm4
vpermt2b	%ymm5, %ymm6, %ymm7 {%k1}
vpmultishiftqb	(%rsi){1to8}, %zmm8, %zmm9
vpcompressb	%zmm10, %zmm11 {%k2}
vpexpandw	(%rdx), %zmm12 {%k3} {z}
vpshldd	$4, %zmm13, %zmm14, %zmm15
vpshrdvq	%zmm16, %zmm17, %zmm18
vpshldvw	(%rdi), %ymm19, %ymm20

