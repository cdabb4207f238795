# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -show-encoding %s
# CASE: -mcpu=znver2 -output-asm-variant=1 %s
	movq	foo@GOTPCREL(%rip), %rax
	leaq	foo-.(%rip), %rax
	movl	$foo, %eax
	movq	$foo, %rax
	movabsq	$foo+8, %rax
	movl	foo(%rip), %ecx
	movl	foo+4(,%rax,4), %ecx
	leaq	foo@TLSGD(%rip), %rdi
	movq	%fs:foo@TPOFF, %rax
	movq	foo@GOTTPOFF(%rip), %rax
	leaq	foo@TLSLD(%rip), %rdi
	movl	foo@DTPOFF(%rax), %ecx
	callq	foo@PLT
	jmp	foo@PLT
	cmpq	$foo, %rax
	movl	$foo-bar, %eax
	addq	$_GLOBAL_OFFSET_TABLE_-., %rbx
	movq	foo@GOTOFF(%rbx), %rax
	movl	foo@SIZE, %eax
	pushq	$foo
	callq	*foo@GOTPCREL(%rip)
	jmpq	*tab(,%rax,8)
	testb	$1, guard(%rip)
