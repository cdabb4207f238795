# CASE: -mcpu=skylake %s
# CASE: -mcpu=btver2 -timeline -iterations=2 %s
	.macro	step reg, by=8
	addq	$\by, \reg
	testq	\reg, \reg
	.endm
	step	%rax
	step	%rbx, 16
	.rept	3
	incl	%ecx
	.endr
	.irp	r, %rdx, %rsi
	negq	\r
	.endr
	.if	1
	notq	%rdi
	.else
	bogus
	.endif

