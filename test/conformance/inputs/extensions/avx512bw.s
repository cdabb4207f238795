# CASE: -mcpu=skylake-avx512 %s
# CASE: -mcpu=znver4 -show-encoding %s
vpaddb	%zmm0, %zmm1, %zmm2 {%k1}
vpaddusw	(%rdi), %zmm3, %zmm4
vpmullw	%zmm5, %zmm6, %zmm7 {%k2} {z}
vpmaddwd	%zmm8, %zmm9, %zmm10
vpmaddubsw	(%rsi), %ymm16, %ymm17
vpshufb	%zmm11, %zmm12, %zmm13
vpalignr	$9, %zmm14, %zmm15, %zmm16
vpermw	%zmm17, %zmm18, %zmm19
vpermt2w	%ymm20, %ymm21, %ymm22
vpsllvw	%zmm23, %zmm24, %zmm25
vpsrldq	$5, %zmm26, %zmm27
vpunpcklbw	%zmm28, %zmm29, %zmm30
vpacksswb	%zmm31, %zmm0, %zmm1
vdbpsadbw	$4, %zmm2, %zmm3, %zmm4
vpsadbw	%zmm5, %zmm6, %zmm7
vpcmpeqb	%zmm8, %zmm9, %k1
vpcmpgtw	(%rdi), %zmm10, %k2 {%k3}
vpcmpub	$6, %zmm11, %zmm12, %k3
vptestmb	%zmm13, %zmm14, %k4
vpmovb2m	%zmm15, %k5
vpmovm2w	%k6, %zmm16
vpmovwb	%zmm17, %ymm18
vpblendmb	%zmm19, %zmm20, %zmm21 {%k7}
vmovdqu8	(%rsi), %zmm22 {%k1} {z}
vmovdqu16	%zmm23, (%rdi) {%k2}
vpbroadcastw	%eax, %zmm24
kmovd	%k1, %eax
kmovq	%rax, %k2

