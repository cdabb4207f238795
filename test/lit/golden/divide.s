# Division by a loop-invariant divisor: the divider is the limit.
# RUN: cd %S && incc-mca -mcpu=skylake-avx512 -timeline -timeline-max-iterations=2 divide.s | %golden divide.golden
#
# To see: the divider is busy for 8 cycles with each 256-bit division and takes the next one only then, though no port is
# busy for more than one. In the timeline the second division, whose inputs are long there, waits for it. The hint
# says that the divisor never changes: one reciprocal before the loop, and multiplications in it.
.L2:
	vmovupd	(%rsi,%rax), %ymm1
	vdivpd	%ymm0, %ymm1, %ymm1
	vmovupd	%ymm1, (%rdi,%rax)
	addq	$32, %rax
	cmpq	%rax, %rdx
	jne	.L2
