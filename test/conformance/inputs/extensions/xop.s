# CASE: -mcpu=bdver2 %s
# CASE: -mcpu=bdver2 -show-encoding %s
vpcmov	%xmm0, %xmm1, %xmm2, %xmm3
vpcmov	(%rdi), %ymm4, %ymm5, %ymm6
vpperm	%xmm7, (%rsi), %xmm8, %xmm9
vprotb	$3, %xmm10, %xmm11
vprotd	%xmm12, %xmm13, %xmm14
vpshlw	(%rdx), %xmm15, %xmm0
vpshaq	%xmm1, %xmm2, %xmm3
vpcomltb	%xmm4, %xmm5, %xmm6
vpcomud	$2, %xmm7, %xmm8, %xmm9
vphaddbd	%xmm10, %xmm11
vphaddubq	(%rdi), %xmm12
vphsubwd	%xmm13, %xmm14
vpmacsdd	%xmm15, %xmm0, %xmm1, %xmm2
vpmacssww	%xmm3, (%rsi), %xmm4, %xmm5
vpmadcswd	%xmm6, %xmm7, %xmm8, %xmm9
vpermil2ps	$1, %xmm10, %xmm11, %xmm12, %xmm13
vfrczps	%ymm14, %ymm15
vfrczsd	(%rdx), %xmm0

