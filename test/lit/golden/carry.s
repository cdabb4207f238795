# Addition of long integers: the carry goes from one adc to the next, and dec leaves it alone.
# RUN: cd %S && incc-mca -mcpu=skylake-avx512 -timeline -timeline-max-iterations=2 carry.s | %golden carry.golden
.L2:
	movq	(%rsi), %rax
	adcq	(%rdx), %rax
	movq	%rax, (%rdi)
	movq	8(%rsi), %rax
	adcq	8(%rdx), %rax
	movq	%rax, 8(%rdi)
	leaq	16(%rsi), %rsi
	leaq	16(%rdx), %rdx
	leaq	16(%rdi), %rdi
	decq	%rcx
	jne	.L2
