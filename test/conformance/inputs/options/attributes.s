# CASE: -mcpu=skylake -mattr=+avx512f %s
# CASE: -mcpu=skylake -mattr=-avx %s
# CASE: -mcpu=skylake -mattr=avx2 %s
# CASE: -mcpu=skylake -mattr=+nothing,+avx %s
# CASE: -mcpu=skylake -mattr=,, %s
# CASE: -mcpu=x86-64 -mattr=+avx2,+fma %s
# CASE: -mcpu=skylake -mattr=+AVX %s
	imull	%esi, %edi
	addl	%edi, %eax
	vaddps	%xmm0, %xmm1, %xmm2
	movl	%eax, (%rdx)
	movl	4(%rdx), %ecx
