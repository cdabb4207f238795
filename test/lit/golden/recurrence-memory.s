# a[i] = a[i-1] * s + b[i], read back from memory each time: the chain runs through a store and a load.
# RUN: cd %S && incc-mca -mcpu=skylake-avx512 -timeline -timeline-max-iterations=2 recurrence-memory.s | %golden recurrence-memory.golden
.L3:
	movsd	-8(%rdi,%rax,8), %xmm1
	mulsd	%xmm0, %xmm1
	addsd	(%rsi,%rax,8), %xmm1
	movsd	%xmm1, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %rdx
	jne	.L3
