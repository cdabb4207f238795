# CASE: -mcpu=skylake %s
	.warning "take care"
	addl	%eax, %ebx
	.error "stop here"

