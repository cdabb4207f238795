# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -print-imm-hex %s
# CASE: -mcpu=skylake -print-imm-hex -output-asm-variant=1 %s
	movq	(%rdi), %rax
	movq	-8(%rdi), %rax
	movq	0x100(%rdi), %rax
	movq	(%rdi,%rsi), %rax
	movq	(%rdi,%rsi,2), %rax
	movq	-128(%rdi,%rsi,8), %rax
	movq	(,%rsi,4), %rax
	movq	0x7fffffff(,%rsi,4), %rax
	movq	4096, %rax
	movq	16(%rip), %rax
	movl	(%edi), %eax
	movl	(%r13), %eax
	movl	(%rsp), %eax
	movl	(%r12,%r13), %eax
	cmpq	$-129, (%rdi)
	addb	$0x80, (%rdi)
	andl	$-16, %esp
	movq	$-4096, %rcx

