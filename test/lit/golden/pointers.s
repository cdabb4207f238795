# A linked list: loads whose base was just loaded take one cycle less.
# RUN: cd %S && incc-mca -mcpu=skylake-avx512 -timeline -timeline-max-iterations=2 pointers.s | %golden pointers.golden
.L2:
	movq	8(%rdi), %rdi
	incq	%rax
	testq	%rdi, %rdi
	jne	.L2
