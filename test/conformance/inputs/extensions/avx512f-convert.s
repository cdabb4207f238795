# CASE: -mcpu=icelake-server %s
vcvtps2pd	%ymm0, %zmm1
vcvtpd2ps	(%rdi), %ymm2
vcvtdq2ps	{rn-sae}, %zmm3, %zmm4
vcvtudq2pd	%ymm5, %zmm6
vcvttps2udq	{sae}, %zmm7, %zmm8
vcvtpd2udq	(%rsi){1to8}, %ymm9
vcvtph2ps	%ymm10, %zmm11
vcvtps2ph	$4, %zmm12, (%rdi) {%k1}
vcvtsi2ssq	%rax, {rd-sae}, %xmm13, %xmm14
vcvtusi2sdl	(%rdx), %xmm15, %xmm16
vcvttsd2usi	%xmm17, %rcx
vcvtss2usi	{ru-sae}, %xmm18, %eax
vpmovdb	%zmm19, %xmm20
vpmovqd	%zmm21, (%rdi) {%k2}
vpmovusqw	%zmm22, %xmm23
vpmovsdw	%zmm24, %ymm25 {%k3} {z}
vpmovzxbd	%xmm26, %zmm27
vpmovsxwq	(%rsi), %zmm28

