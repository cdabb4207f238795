# CASE: -mcpu=skylake %s
	.intel_syntax noprefix
	mov	rcx, rdi	# not %rdi
	.att_syntax
	addq	%rcx, %rax
	.intel_syntax noprefix
	imul	rax, rcx
