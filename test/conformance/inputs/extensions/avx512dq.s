# CASE: -mcpu=skylake-avx512 %s
vpmullq	%zmm0, %zmm1, %zmm2
vcvtqq2pd	%zmm3, %zmm4
vcvttpd2qq	(%rdi), %zmm5 {%k1}
vcvtuqq2ps	%zmm6, %ymm7
vcvtps2uqq	{rn-sae}, %ymm8, %zmm9
vandps	%zmm10, %zmm11, %zmm12
vxorpd	(%rsi){1to8}, %zmm13, %zmm14
vandnpd	%ymm16, %ymm17, %ymm18
vorps	%zmm15, %zmm19, %zmm20 {%k2} {z}
vreducepd	$3, %zmm21, %zmm22
vrangeps	$1, %zmm23, %zmm24, %zmm25
vfpclassps	$0x80, %zmm26, %k3
vfpclasssd	$4, (%rdx), %k4
vinsertf64x2	$1, %xmm27, %zmm28, %zmm29
vextracti64x2	$3, %zmm30, %xmm31
vbroadcastf32x2	%xmm0, %zmm1
vbroadcasti32x8	(%rdi), %zmm2
vpmovd2m	%zmm3, %k5
vpmovm2q	%k6, %zmm4
vpextrd	$1, %xmm16, %eax

