# CASE: -mcpu=skylake %s
	.foo 5
	.byte
	.byte "a"
	.long 1 +
	.p2align x
	.section
	.endif
	.endm
	.endr
	.set
	.rept -1
	nop
	.endr
	.if
	nop
