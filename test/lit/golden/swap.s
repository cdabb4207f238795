# Two registers that change places: the chain spans two iterations.
# RUN: cd %S && incc-mca -mcpu=skylake-avx512 -timeline -timeline-max-iterations=2 swap.s | %golden swap.golden
.L2:
	imulq	%rdx, %rbx
	movq	%rax, %rcx
	leaq	1(%rbx), %rax
	movq	%rcx, %rbx
	decq	%rdi
	jne	.L2
