# CASE: -mtriple=i686-unknown-linux-gnu -mcpu=skylake -show-encoding %s
# CASE: -march=x86 -mcpu=znver3 -output-asm-variant=1 -all-views %s
# CASE: -mtriple=i386-pc-linux-gnu -mcpu=btver2 -instruction-tables < %s
	aad $10
	aam $10
	push %eax
	pushl $5
	pushl $500
	push %ds
	pop %ds
	push %es
	pop %es
	push %cs
	push %fs
	pushw %ss
	pushf
	popf
	pusha
	popa
	pushaw
	popaw
	leave
	ret
	ret $4
	lret
	call foo
	calll *%eax
	call *(%eax)
	jmp foo
	jne foo
	jmp *%eax
	jmp *8(%eax)
	inc %eax
	dec %ax
	les (%eax), %ebx
	lds (%eax), %ebx
	lcall $1, $2
	ljmp $1, $2
	arpl %ax, %bx
	movl foo, %eax
	movl foo, %ebx
	movl 0x1234, %ebx
	movl (%bx,%si), %eax
	enter $1, $2
	loop foo
	jecxz foo
	jcxz foo
	movsl
	pushw $4
	push foo
	mov %cr0, %eax
	sysret
	iret
	into
	xchg %eax, %eax
	salc
	vpgatherdd %xmm1, (%eax,%xmm2), %xmm3
	lea (%eax), %cx
	call 5
	jmp 7
	movl %gs:0, %eax
	bound %eax, foo
	xlatb
	outsb
	monitor
	invlpga
	monitorx
	sgdt (%eax)
	ud2
	aad $-3
	pushl -4(%ebp)
	popl 4(%ebx,%ecx,4)
	int3
	sysenter
	mov %ds, %eax
	rep stosl
