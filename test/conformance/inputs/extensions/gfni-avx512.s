# CASE: -mcpu=icelake-server %s
# CASE: -mcpu=znver4 %s
vgf2p8mulb	%zmm0, %zmm1, %zmm2
vgf2p8affineqb	$7, (%rdi), %zmm3, %zmm4 {%k1}
vgf2p8affineinvqb	$9, (%rsi){1to8}, %zmm5, %zmm6 {%k2} {z}

