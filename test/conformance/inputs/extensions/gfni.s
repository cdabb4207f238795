# CASE: -mcpu=icelake-server %s
# CASE: -mcpu=alderlake -show-encoding %s
gf2p8mulb	%xmm0, %xmm1
gf2p8affineqb	$3, (%rdi), %xmm2
gf2p8affineinvqb	$0x1f, %xmm3, %xmm4
vgf2p8mulb	%ymm5, %ymm6, %ymm7
vgf2p8affineqb	$1, %xmm8, %xmm9, %xmm10

