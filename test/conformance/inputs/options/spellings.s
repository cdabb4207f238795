# CASE: --mcpu=skylake %s
# CASE: -mcpu skylake %s
# CASE: --mcpu skylake --iterations 3 %s
# CASE: -mcpu=skylake -- %s
# CASE: %s -mcpu=skylake
# CASE: -mcpu=skylake --timeline --timeline-max-iterations 2 %s
# CASE: -mcpu=skylake -Timeline %s
# CASE: -mcpu=skylake -timelines %s
# CASE: -mcpu=skylake ---timeline %s
# CASE: -mcpu=skylake -print_imm_hex %s
# CASE: -mcpu=Skylake %s
# CASE: -mcpu= %s
# CASE: -mcpu=SKYLAKE %s
# CASE: -mcpu=skylake -iterations 5 -o - %s
	imull	%esi, %edi
	addl	%edi, %eax
	vaddps	%xmm0, %xmm1, %xmm2
	movl	%eax, (%rdx)
	movl	4(%rdx), %ecx
