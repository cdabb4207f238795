# CASE: -mcpu=skylake -timeline=maybe %s
# CASE: -mcpu=skylake -timeline=1 -timeline=0 %s
# CASE: -mcpu=skylake --timeline=TRUE --resource-pressure=False %s
# CASE: -mcpu=skylake -json=True %s
# CASE: -mcpu=skylake -all-views=no %s
# CASE: -mcpu=skylake -timeline= %s
# CASE: -mcpu=skylake -noalias=2 %s
# CASE: -mcpu=skylake -timeline true %s
# CASE: -mcpu=skylake --all-stats -dispatch-stats=false %s
# CASE: -mcpu=skylake -all-stats=0 -retire-stats %s
	imull	%esi, %edi
	addl	%edi, %eax
	vaddps	%xmm0, %xmm1, %xmm2
	movl	%eax, (%rdx)
	movl	4(%rdx), %ecx
