# CASE: -mcpu=skylake -iterations=0 %s
# CASE: -mcpu=skylake -iterations=-1 %s
# CASE: -mcpu=skylake -iterations=4294967296 %s
# CASE: -mcpu=skylake -iterations=1.5 %s
# CASE: -mcpu=skylake -iterations= %s
# CASE: -mcpu=skylake -dispatch=0 -iterations=0x3 %s
# CASE: -mcpu=skylake -dispatch=-2 %s
# CASE: -mcpu=skylake -lqueue=18446744073709551616 %s
# CASE: -mcpu=skylake -timeline -timeline-max-iterations=-5 %s
# CASE: -mcpu=skylake -squeue=1e3 %s
# CASE: -mcpu=skylake -iterations=1 -iterations=2 %s
# CASE: -mcpu=skylake -register-file-size=abc %s
# CASE: -mcpu=skylake -call-latency=-3 %s
# CASE: -mcpu=skylake -micro-op-queue-size=0b11 -decoder-throughput=07 %s
	imull	%esi, %edi
	addl	%edi, %eax
	vaddps	%xmm0, %xmm1, %xmm2
	movl	%eax, (%rdx)
	movl	4(%rdx), %ecx
