# CASE: -mcpu=skylake -timeline -timeline-max-cycles=1 %s
# CASE: -mcpu=skylake -timeline -timeline-max-cycles=5 -timeline-max-iterations=1 %s
# CASE: -mcpu=skylake -timeline -iterations=1 %s
# CASE: -mcpu=skylake -timeline -iterations=11 -timeline-max-iterations=11 -timeline-max-cycles=0 %s
# CASE: -mcpu=skylake -timeline -dispatch=1 %s
# CASE: -mcpu=skylake -timeline -lqueue=1 -squeue=1 %s
# CASE: -mcpu=skylake -timeline -timeline-max-iterations=1000 -iterations=3 %s
# CASE: -mcpu=btver2 -timeline -register-file-size=5 %s
# CASE: -mcpu=skylake -timeline -resource-pressure=0 -instruction-info=0 -summary-view=0 %s
	imull	%esi, %edi
	addl	%edi, %eax
	vaddps	%xmm0, %xmm1, %xmm2
	movl	%eax, (%rdx)
	movl	4(%rdx), %ecx
