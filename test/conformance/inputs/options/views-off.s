# CASE: -mcpu=skylake -resource-pressure=false %s
# CASE: -mcpu=skylake -instruction-info=false %s
# CASE: -mcpu=skylake -summary-view=false %s
# CASE: -mcpu=skylake -resource-pressure=0 -instruction-info=0 -summary-view=0 %s
# CASE: -mcpu=skylake -resource-pressure=FALSE -instruction-info=False %s
# CASE: -mcpu=skylake --resource-pressure=false --timeline --instruction-info=true %s
pxor	%xmm0, %xmm0
paddd	(%rdi), %xmm0
psrldq	$8, %xmm0
movd	%xmm0, %eax

