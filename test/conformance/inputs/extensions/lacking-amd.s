# CASE: -mcpu=skylake-avx512 %s
# CASE: -mcpu=znver3 %s
# CASE: -mcpu=alderlake %s
	vpcomltb	%xmm0, %xmm1, %xmm2
	vfmaddpd	%xmm0, %xmm1, %xmm2, %xmm3
	blcfill	%eax, %ebx
	extrq	$1, $2, %xmm0
	pfadd	%mm0, %mm1
	vprotd	$3, %xmm1, %xmm2
