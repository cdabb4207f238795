# GNU as takes registers with and without %, whatever the directive says; LLVM none with it.
# CASE: -mcpu=skylake %s
	.intel_syntax noprefix
	mov	rcx, rdi	# %rdi is the first
	add	rax, %rcx
	.att_syntax
	addq	%rcx, %rax
