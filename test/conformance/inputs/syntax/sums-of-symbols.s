# CASE: -mcpu=skylake %s
# CASE: -mcpu=znver4 -show-encoding %s
	movl	$a+b, %eax
	movq	$-a, %rax
	movl	$a-b, %ecx
	addl	$a-4, %eax
	movl	a+4-2(%rip), %ecx
	addl	$(1<<4)|3, %eax
	addl	$~5&0xff, %eax
	addl	$10%3, %eax
