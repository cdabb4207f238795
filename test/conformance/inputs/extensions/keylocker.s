# CASE: -mcpu=tigerlake %s
# CASE: -mcpu=alderlake -instruction-info=0 %s
	loadiwkey	%xmm1, %xmm2
	encodekey128	%eax, %ecx
	encodekey256	%eax, %ecx
	aesenc128kl	(%rdi), %xmm1
	aesdecwide256kl	(%rdi)
