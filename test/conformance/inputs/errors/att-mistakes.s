# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -skip-unsupported-instructions=parse-failure %s
	addl	%eax
	addl	%eax, %rbx
	addl	(%rax), (%rbx)
	movl	%eax, $5
	movq	(%eax,%rbx), %rcx
	leaq	(%rax,%rbx,3), %rcx
	vaddps	%xmm0, %ymm1, %ymm2
	movl	%r32d, %eax
	addl	$, %eax
	addl	%eax %ebx
	addl	,%eax
	nop
