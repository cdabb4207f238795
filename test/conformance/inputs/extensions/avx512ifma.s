# CASE: -mcpu=cannonlake %s
# CASE: -mcpu=znver4 %s
vpmadd52luq	%zmm0, %zmm1, %zmm2
vpmadd52huq	(%rdi){1to8}, %zmm3, %zmm4 {%k1}
vpmadd52luq	%ymm5, %ymm6, %ymm7

