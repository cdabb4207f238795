# CASE: -mcpu=skylake-avx512 %s
# CASE: -mcpu=icelake-server -instruction-tables %s
vpaddd	%zmm0, %zmm1, %zmm2
vpaddq	(%rdi){1to8}, %zmm3, %zmm4
vpsubd	%zmm5, %zmm6, %zmm7 {%k1}
vpmulld	%zmm8, %zmm9, %zmm10
vpmuludq	(%rsi), %zmm11, %zmm12
vpmuldq	%zmm13, %zmm14, %zmm15 {%k2} {z}
vpandd	%zmm16, %zmm17, %zmm18
vpandnq	(%rdx), %zmm19, %zmm20
vporq	%zmm21, %zmm22, %zmm23
vpxord	%zmm24, %zmm24, %zmm24
vpternlogd	$0xca, %zmm25, %zmm26, %zmm27
vpternlogq	$255, %zmm28, %zmm28, %zmm28
vpabsq	%zmm29, %zmm30
vpmaxsq	%zmm31, %zmm0, %zmm1
vpminud	(%rdi){1to16}, %zmm2, %zmm3
vpslld	$3, %zmm4, %zmm5
vpsraq	%xmm6, %zmm7, %zmm8
vpsrlvd	%zmm9, %zmm10, %zmm11
vprolq	$7, %zmm12, %zmm13
vprorvd	(%rsi), %zmm14, %zmm15
vpcmpeqd	%zmm16, %zmm17, %k1
vpcmpgtq	(%rdx), %zmm18, %k2 {%k3}
vpcmpltud	%zmm19, %zmm20, %k4
vpcmpq	$5, %zmm21, %zmm22, %k5
vptestmd	%zmm23, %zmm24, %k6
vptestnmq	(%rdi){1to8}, %zmm25, %k7
vcmpps	$1, %zmm26, %zmm27, %k1
vcmpltpd	{sae}, %zmm28, %zmm29, %k2
vcmpunordsd	(%rsi), %xmm30, %k3

