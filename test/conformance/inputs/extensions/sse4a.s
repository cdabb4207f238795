# CASE: -mcpu=btver2 %s
# CASE: -mcpu=znver4 %s
extrq	$4, $8, %xmm0
extrq	%xmm1, %xmm2
insertq	$6, $2, %xmm3, %xmm4
insertq	%xmm5, %xmm6
movntsd	%xmm7, (%rdi)
movntss	%xmm8, 8(%rdi)

