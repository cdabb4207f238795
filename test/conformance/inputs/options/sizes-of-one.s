# CASE: -mcpu=skylake -dispatch=1 %s
# CASE: -mcpu=skylake -lqueue=1 -all-stats %s
# CASE: -mcpu=skylake -squeue=1 -all-stats %s
# CASE: -mcpu=znver2 -dispatch=1 -lqueue=1 -squeue=1 -all-views %s
# CASE: -mcpu=haswell -register-file-size=1 %s
# CASE: -mcpu=haswell -micro-op-queue-size=1 -all-stats %s
# CASE: -mcpu=haswell -micro-op-queue-size=4 -decoder-throughput=1 %s
# CASE: -mcpu=skylake -dispatch=100 -all-stats %s
	imull	%esi, %edi
	addl	%edi, %eax
	vaddps	%xmm0, %xmm1, %xmm2
	movl	%eax, (%rdx)
	movl	4(%rdx), %ecx
