# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -output-asm-variant=1 %s
	.equ	SIZE, 3*16
	movl	$SIZE, %eax
	movl	$(1<<5)|2, %ebx
	movl	$'a', %ecx
	movq	symbol+8(%rip), %rdx
	leaq	symbol-4(,%rdi,4), %rsi
	movq	symbol@GOTPCREL(%rip), %r8
	movl	%fs:0, %r9d
	movq	%gs:40(%rax), %r10
	addl	$symbol, %r11d
	movl	$017, %r13d
	callq	memcpy@PLT
	movabsq	$symbol, %r14

