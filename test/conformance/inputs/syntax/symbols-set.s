# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -show-encoding %s
N = 5
	.set M, N*2
	.equ K, 0x10
	addl	$N, %eax
	movl	M(%rdi), %ecx
	leaq	K(,%rax,8), %rdx
	shll	$(N-2), %eax
N = 7
	addl	$N, %eax
	cmpl	$M+K, %eax
	movl	$-N, %eax
