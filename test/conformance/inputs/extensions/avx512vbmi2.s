# CASE: -mcpu=icelake-server %s
# CASE: -mcpu=znver4 -show-encoding %s
# CASE: -mcpu=sapphirerapids -output-asm-variant=1 %s
	vpcompressb	%zmm1, %zmm2 {%k1} {z}
	vpcompressw	%ymm1, (%rdi) {%k2}
	vpexpandb	(%rsi), %xmm1 {%k1}
	vpexpandw	%zmm1, %zmm2 {%k3} {z}
	vpshldw	$3, %zmm1, %zmm2, %zmm3
	vpshldvd	(%rdi){1to16}, %zmm2, %zmm3
	vpshrdq	$7, (%rdi), %ymm2, %ymm3
	vpshrdvw	%xmm1, %xmm2, %xmm3 {%k1}
