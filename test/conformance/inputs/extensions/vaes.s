# CASE: -mcpu=icelake-server %s
# CASE: -mcpu=znver3 -skip-unsupported-instructions=any %s
vaesenc	%zmm0, %zmm1, %zmm2
vaesdeclast	(%rdi), %ymm3, %ymm4
vaesenclast	%ymm16, %ymm17, %ymm18
vpclmulqdq	$0x10, %zmm5, %zmm6, %zmm7
vpclmulqdq	$1, (%rsi), %ymm8, %ymm9

