# CASE: -mcpu=skylake -print-imm-hex %s
# CASE: -mcpu=skylake -print-imm-hex -output-asm-variant=1 %s
# CASE: -mcpu=skylake -output-asm-variant=1 -show-encoding -show-barriers %s
# CASE: -mcpu=skylake -print-imm-hex -timeline -instruction-tables=0 %s
# CASE: -mcpu=skylake -output-asm-variant=2 %s
# CASE: -mcpu=skylake -output-asm-variant=-1 %s
# CASE: -mcpu=skylake -x86-asm-syntax=att %s
	movl	$-1, %eax
	movabsq	$-2, %rax
	movq	$0x7fffffff, %rax
	andl	$-256, %eax
	shll	$31, %ecx
	addq	$-128, %rsp
	cmpb	$200, %al
	pushq	$-1
	pushq	$0x1234
	testw	$0xff00, %ax
	imulq	$-7, (%rdi), %rax
	vpshufd	$0330, %xmm0, %xmm1
	roundps	$012, %xmm0, %xmm1
	leaq	-0x80(%rdi,%rsi,4), %rax
	movl	0xdeadbeef(%rip), %eax
	movb	$'a', %al
	ret	$16
	int	$0x80
	movl	$1+2*3, %eax
	movl	$~0, %eax
	orq	$(1<<30), %rax
	movb	%al, -1
	subl	$-2147483648, %eax
	outb	%al, $0x80
