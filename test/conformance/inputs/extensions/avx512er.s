# CASE: -mcpu=knl -mattr=+avx512er %s
vexp2ps	%zmm0, %zmm1
vrcp28pd	(%rdi), %zmm2
vrsqrt28ss	{sae}, %xmm3, %xmm4, %xmm5

