# CASE: -mcpu=skylake -timeline -timeline-max-iterations=2 -timeline-max-cycles=0 -bottleneck-analysis %s
# CASE: -mcpu=znver3 -all-stats -iterations=10 %s
	.rept	40
	vmulsd	%xmm0, %xmm1, %xmm1
	addq	$8, %rdi
	movq	(%rdi), %rax
	.endr

