# CASE: -mcpu=skylake %s
	vaddps	%zmm0, %zmm1, %zmm2 {%k0}
	vaddps	%zmm0, %zmm1, %zmm2 {z}
	vaddps	(%rax){1to8}, %zmm1, %zmm2
	vaddps	{rn-sae}, %ymm0, %ymm1, %ymm2
	vaddps	%zmm0, %zmm1, %zmm2 {%k8}
	vgatherdps	(%rax,%zmm1), %zmm1 {%k1}
	vgatherdps	(%rax,%zmm1), %zmm2
	kmovw	%k0, %k9
	nop
