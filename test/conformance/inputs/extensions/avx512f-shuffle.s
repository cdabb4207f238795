# CASE: -mcpu=skylake-avx512 %s
# CASE: -mcpu=znver4 -instruction-tables %s
vpermd	%zmm0, %zmm1, %zmm2
vpermq	$0x1b, (%rdi), %zmm3
vpermps	%zmm4, %zmm5, %zmm6 {%k1}
vpermpd	%zmm7, %zmm8, %zmm9
vpermi2d	%zmm10, %zmm11, %zmm12
vpermt2pd	(%rsi), %zmm13, %zmm14
vpermilps	$0xb1, %zmm15, %zmm16
vshufps	$3, %zmm17, %zmm18, %zmm19
vshuff64x2	$0x4e, %zmm20, %zmm21, %zmm22
vshufi32x4	$1, (%rdx), %zmm23, %zmm24
vpshufd	$0x55, (%rdi){1to16}, %zmm25
vunpcklpd	%zmm26, %zmm27, %zmm28
vpunpckhdq	%zmm29, %zmm30, %zmm31
valignd	$3, %zmm0, %zmm1, %zmm2
valignq	$1, (%rsi), %zmm3, %zmm4
vinsertf32x4	$2, %xmm5, %zmm6, %zmm7
vinserti64x4	$1, (%rdi), %zmm8, %zmm9
vextractf64x4	$1, %zmm10, %ymm11
vextracti32x4	$3, %zmm12, (%rsi) {%k2}
vcompressps	%zmm13, %zmm14 {%k3} {z}
vpcompressq	%zmm15, (%rdi) {%k4}
vexpandpd	(%rdx), %zmm16 {%k5}
vpexpandd	%zmm17, %zmm18 {%k6} {z}
vblendmps	%zmm19, %zmm20, %zmm21 {%k7}
vpblendmq	(%rdi){1to8}, %zmm22, %zmm23 {%k1} {z}

