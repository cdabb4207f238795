# CASE: -mcpu=skylake %s
a:
	nop
a:
	nop
	.set b, 1
b:
	nop
