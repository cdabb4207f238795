# CASE: -mcpu=sapphirerapids %s
# CASE: -mcpu=graniterapids -instruction-tables %s
# CASE: -mcpu=emeraldrapids -print-imm-hex %s
	vfmulcph	%zmm1, %zmm2, %zmm3
	vfcmaddcph	(%rdi){1to8}, %ymm2, %ymm3
	vfmaddcsh	{rn-sae}, %xmm1, %xmm2, %xmm3
	vcvtph2psx	(%rdi), %zmm1
	vcvtneps2bf16	%zmm1, %ymm2
	vfpclassph	$17, %zmm1, %k1
	vcmpph	$13, %zmm1, %zmm2, %k2 {%k1}
	vgetmantsh	$11, {sae}, %xmm1, %xmm2, %xmm3
	vrndscaleph	$8, (%rsi), %xmm4
	vreducesh	$1, %xmm1, %xmm2, %xmm3 {%k1} {z}
	vmovw	%eax, %xmm1
	vmovsh	(%rdi), %xmm1 {%k1} {z}
	vsqrtph	{rz-sae}, %zmm1, %zmm2
	vcomish	{sae}, %xmm1, %xmm2
