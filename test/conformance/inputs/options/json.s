# CASE: -mcpu=skylake -json %s
# CASE: -mcpu=btver2 -json %s
# CASE: -mcpu=znver4 -json=true %s
# CASE: -mcpu=skylake -json=false %s
vaddps	(%rdi), %xmm0, %xmm1
vmovaps	%xmm1, (%rdi)
addq	$16, %rdi

