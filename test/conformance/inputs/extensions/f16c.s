# CASE: -mcpu=ivybridge %s
# CASE: -mcpu=znver3 %s
vcvtph2ps	%xmm0, %ymm1
vcvtph2ps	(%rdi), %xmm2
vcvtps2ph	$0, %ymm3, %xmm4
vcvtps2ph	$3, %xmm5, 8(%rsi)

