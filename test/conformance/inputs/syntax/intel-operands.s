# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -show-encoding -output-asm-variant=0 %s
	.intel_syntax noprefix
	mov	eax, dword ptr [rdi + 4*rsi - 8]
	mov	eax, [rdi][rsi*4]
	mov	eax, 8[rdi]
	mov	rax, qword ptr fs:[0]
	mov	byte ptr [rax], 1
	lea	rax, [rip + foo]
	mov	eax, dword ptr foo[rip]
	mov	rax, offset foo
	add	rax, offset foo+4
	mov	eax, 0ffh
	and	eax, 1010b
	mov	al, 'x'
	call	qword ptr [rax]
	jmp	[rax]
	jmp	short lab
	lab:
	movzx	eax, byte ptr [rdi]
	movsxd	rax, eax
	vaddps	zmm1 {k1}{z}, zmm2, dword ptr [rdi]{1to16}
	vaddps	zmm1, zmm2, zmm3, {rn-sae}
	vgatherdps	ymm1, ymmword ptr [rdi + 4*ymm2], ymm3
	fld	tbyte ptr [rdi]
	fadd	st, st(1)
	shl	eax, cl
	imul	eax, [rdi], 5
	xchg	rax, rbx
	cmpxchg16b	xmmword ptr [rdi]
	rep movsb
	lock add dword ptr [rdi], 1
	push	5
	ret	8
	movabs	rax, 1122334455667788h
	mov	eax, 1 shl 4
	mov	eax, (5+3)*2
	cvtsi2sd	xmm0, dword ptr [rdi]
	out	dx, al
	int	3
