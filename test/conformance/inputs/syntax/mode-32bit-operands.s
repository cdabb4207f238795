# CASE: -mtriple=i686-unknown-unknown -mcpu=icelake-server -show-encoding %s
# CASE: -march=x86 -mcpu=znver4 -output-asm-variant=1 -print-imm-hex %s
# a comment
	.macro twice
	incl %eax
	.endm
	/* block */
foo: bar: pushl %ebp
	rep
	movsb
	lock; incl (%eax)
	twice
	movl $0x12345678, %eax
	jmp 1f
1:
	data16
	pushl $3
	.byte 0x40
	movl %gs:20, %eax
	fldt (%esp)
	fstpl 8(%esp)
	paddd %xmm1, %xmm2
	vaddps (%eax,%ecx,8), %ymm1, %ymm2
	cmpxchg8b (%esi)
	movl $foo, %eax
	addl $bar, %eax
	call *foo
	call foo@PLT
	pushl $foo
	movl foo+4(,%ecx,4), %edx
	enter $8, $0
	cwtl
	cltd
	movw %ds, %ax
	bswapl %eax
	imull $7, %ecx
	xchgl %ecx, %eax
	xchgl %ecx, %edx
	outl %eax, %dx
	lretl $4
	iretl
	pushfl
	sete %al
	cmovnel %eax, %ecx
	rdtsc
	clflush (%eax)
	addr16 movl (%bx), %eax
	ljmp *(%eax)
	lcall *(%eax)
	leal foo(%ebx), %eax
	movl foo@GOT(%ebx), %eax
	pextrd $1, %xmm0, %eax
	vpgatherdd %ymm1, (%eax,%ymm2,4), %ymm3
	vaddps %zmm1, %zmm2, %zmm3{%k1}
	vmovdqu64 (%eax), %zmm1
	crc32l %eax, %ecx
	mulxl %ecx, %edx, %ebx
	endbr32
