# CASE: -mcpu=skylake -instruction-tables -timeline %s
# CASE: -mcpu=skylake -instruction-tables -all-views %s
# CASE: -mcpu=skylake -instruction-tables -bottleneck-analysis %s
# CASE: -mcpu=skylake -instruction-tables -resource-pressure=0 %s
# CASE: -mcpu=skylake -instruction-tables -instruction-info=0 %s
# CASE: -mcpu=skylake -instruction-tables -dispatch-stats -iterations=5 %s
# CASE: -mcpu=skylake -instruction-tables -show-encoding %s
# CASE: -mcpu=znver4 -instruction-tables=true -summary-view=1 %s
# CASE: -mcpu=skylake -instruction-tables=full %s
# CASE: -mcpu=skylake -instruction-tables=false %s
	imull	%esi, %edi
	addl	%edi, %eax
	vaddps	%xmm0, %xmm1, %xmm2
	movl	%eax, (%rdx)
	movl	4(%rdx), %ecx
