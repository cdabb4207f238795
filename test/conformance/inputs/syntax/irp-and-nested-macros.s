# CASE: -mcpu=skylake %s
	.irp r, rax, rbx, rcx
	incq	%\r
	.endr
	.irpc d, 012
	vmovaps	%xmm\d, %xmm5
	.endr
	.macro two a, b
	.macro inner x
	decq \x
	.endm
	inner \a
	inner \b
	.endm
	two %rsi, %rdi
	.rept 2
	.if 1 == 1
	nop
	.endif
	.endr
