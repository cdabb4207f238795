# CASE: -mcpu=sapphirerapids %s
# CASE: -mcpu=sapphirerapids -show-encoding -instruction-tables %s
vaddph	%zmm0, %zmm1, %zmm2
vaddsh	(%rdi), %xmm3, %xmm4
vsubph	(%rsi){1to32}, %zmm5, %zmm6 {%k1}
vmulph	{rn-sae}, %zmm7, %zmm8, %zmm9
vdivsh	%xmm10, %xmm11, %xmm12
vsqrtph	%ymm13, %ymm14
vfmadd213ph	%zmm15, %zmm16, %zmm17
vfnmadd231sh	(%rdx), %xmm18, %xmm19
vfmulcph	%zmm20, %zmm21, %zmm22
vfcmaddcsh	%xmm23, %xmm24, %xmm25
vmovsh	(%rdi), %xmm26
vmovw	%eax, %xmm27
vcvtph2psx	%ymm28, %zmm29
vcvtps2phx	%zmm30, %ymm31
vcvtph2w	%zmm0, %zmm1
vcvtsi2shl	%ecx, %xmm2, %xmm3
vcmpph	$4, %zmm4, %zmm5, %k1
vucomish	%xmm6, %xmm7
vrcpph	%zmm8, %zmm9
vrndscaleph	$1, %xmm10, %xmm11
vreducesh	$2, %xmm12, %xmm13, %xmm14
vfpclassph	$8, %zmm15, %k2
vmaxph	%zmm16, %zmm17, %zmm18

