# CASE: -mcpu=skylake %s
	.rept	12
	bad_one	%eax
	.endr

