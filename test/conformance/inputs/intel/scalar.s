# CASE: -mcpu=skylake -x86-asm-syntax=intel %s
# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -output-asm-variant=1 %s
# CASE: -mcpu=skylake -output-asm-variant=0 %s
	.intel_syntax noprefix
	mov	rax, qword ptr [rdi + 8*rsi]
	mov	dword ptr [rsp - 16], ecx
	mov	al, 7
	movzx	ebx, byte ptr [rdi]
	movsx	r8, word ptr [rsi + 2]
	movsxd	r9, edx
	add	rax, 15
	sub	qword ptr [rbp], -128
	adc	r10d, r11d
	imul	rcx, rdx, 100
	lea	rdi, [rdi + 4*rax + 12]
	test	r12b, 1
	cmp	word ptr [rax], 1000
	cmovg	esi, dword ptr [rdi]
	setne	byte ptr [rdi]
	shl	rax, cl
	shrd	eax, ebx, 3
	xchg	rbx, rax
	push	r15
	pop	qword ptr [rsp]
	cdq
	idiv	ecx

