# CASE: -mcpu=skylake-avx512 %s
vaddps	%zmm0, %zmm1, %zmm2 {%k0}
vaddps	%zmm0, %zmm1, %zmm2 {%k8}
vaddps	%zmm0, %zmm1, %zmm2 {z}
vaddps	(%rdi){1to4}, %zmm1, %zmm2
vaddps	{rn-sae}, (%rdi), %zmm1, %zmm2
vgatherdps	(%rdi,%zmm0,4), %zmm1

