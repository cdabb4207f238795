# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -show-encoding %s
# CASE: -mcpu=skylake -output-asm-variant=1 %s
	movl	%fs:0, %eax
	movq	%gs:(%rax), %rcx
	movl	%cs:4(%rip), %eax
	movb	%es:(%rdi), %al
	movl	%ss:(%rsp), %eax
	movl	%ds:(%rbp), %eax
	data16	addl %eax, %ebx
	addr32	movl (%eax), %ebx
	movl	(%eax,%ebx,2), %ecx
	leal	4(%rax), %ecx
	leaq	(%eax), %rcx
	rex64 jmp *%rax
	rex.w addl %eax, %ebx
	lock addl $1, (%rax)
	rep stosq
	repz ret
	{disp32} movl 4(%rax), %ecx
	{disp8} movl (%rax), %ecx
	{load} movl %eax, %ecx
	{vex3} vaddps %xmm0, %xmm1, %xmm2
	{evex} vaddps %xmm0, %xmm1, %xmm2
	movl	(,%rax), %ecx
	movl	(,%riz,4), %ecx
	movl	(%rax,%riz), %ecx
	movabsl 0x1122334455667788, %eax
	movl	0x11223344, %eax
	movl	-4, %eax
	jne,pn .L
	jmp .L
	.L: nop
