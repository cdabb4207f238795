# CASE: -mcpu=skylake-avx512 %s
# CASE: -mcpu=knl %s
vaddps	%zmm0, %zmm1, %zmm2
vaddpd	(%rdi), %zmm3, %zmm4 {%k1}
vaddps	(%rsi){1to16}, %zmm5, %zmm6 {%k2} {z}
vaddpd	{rn-sae}, %zmm7, %zmm8, %zmm9
vaddss	{rz-sae}, %xmm10, %xmm11, %xmm12
vsubsd	(%rdx), %xmm13, %xmm14 {%k3}
vmulpd	64(%rdi), %zmm15, %zmm16
vdivps	%zmm17, %zmm18, %zmm19
vdivpd	(%rdi){1to8}, %zmm20, %zmm21
vsqrtps	{ru-sae}, %zmm22, %zmm23
vsqrtpd	(%rsi), %zmm24 {%k4} {z}
vmaxps	{sae}, %zmm25, %zmm26, %zmm27
vminsd	%xmm28, %xmm29, %xmm30
vfmadd213ps	%zmm0, %zmm1, %zmm31
vfmadd231pd	(%rdi){1to8}, %zmm2, %zmm3 {%k5}
vfnmsub132ss	{rd-sae}, %xmm4, %xmm5, %xmm6
vrcp14ps	%zmm7, %zmm8
vrsqrt14pd	(%rsi), %zmm9
vrndscaleps	$1, %zmm10, %zmm11
vscalefpd	%zmm12, %zmm13, %zmm14
vgetexpps	%zmm15, %zmm16
vgetmantsd	$2, %xmm17, %xmm18, %xmm19
vfixupimmps	$3, %zmm20, %zmm21, %zmm22

