# CASE: -mcpu=skylake-avx512 %s
# CASE: -mcpu=cannonlake %s
vaddps	%ymm16, %ymm17, %ymm18
vaddpd	(%rdi){1to2}, %xmm19, %xmm20 {%k1}
vmulps	(%rsi){1to8}, %ymm21, %ymm22 {%k2} {z}
vfmadd213pd	%ymm23, %ymm24, %ymm25
vmovdqu32	(%rdi), %ymm26 {%k3}
vmovdqa64	%xmm27, %xmm28
vpaddd	%xmm29, %xmm30, %xmm31
vpternlogq	$0x96, (%rdx), %ymm0, %ymm1
vpsraq	$3, %ymm2, %ymm3
vpermi2ps	%ymm4, %ymm5, %ymm6
vpcmpud	$2, %ymm7, %ymm8, %k1
vpmovqd	%ymm9, %xmm10
vcvtudq2ps	%ymm11, %ymm12
vgatherdpd	(%rdi,%xmm13,8), %ymm14 {%k2}
vpscatterdd	%xmm15, (%rsi,%xmm16,4) {%k3}
vpabsq	%ymm17, %ymm18
valignq	$1, %ymm19, %ymm20, %ymm21

