# CASE: -mcpu=cooperlake %s
# CASE: -mcpu=znver4 %s
vdpbf16ps	%zmm0, %zmm1, %zmm2
vdpbf16ps	(%rdi){1to8}, %ymm3, %ymm4 {%k1}
vcvtne2ps2bf16	%zmm5, %zmm6, %zmm7
vcvtneps2bf16	(%rsi), %ymm8

