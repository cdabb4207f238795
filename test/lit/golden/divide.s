# Division by a loop-invariant divisor: the divider is the limit.
# RUN: cd %S && incc-mca -mcpu=skylake-avx512 -timeline -timeline-max-iterations=2 divide.s | %golden divide.golden
.L2:
	vmovupd	(%rsi,%rax), %ymm1
	vdivpd	%ymm0, %ymm1, %ymm1
	vmovupd	%ymm1, (%rdi,%rax)
	addq	$32, %rax
	cmpq	%rax, %rdx
	jne	.L2
