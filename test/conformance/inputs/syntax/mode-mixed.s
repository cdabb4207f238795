# CASE: -mcpu=skylake %s
# CASE: -mcpu=znver3 -show-encoding %s
	movl	$1, %eax
	.code32
	decl	%eax
	pushl	%ebp
	salc
	nop
	xchgl	%eax, %eax
	.code64
	decl	%eax
	pushq	%rbp
	nop
