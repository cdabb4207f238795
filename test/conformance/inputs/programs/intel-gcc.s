# CASE: -mcpu=haswell %s
# CASE: -mcpu=haswell -output-asm-variant=1 %s
# clip.c: gcc -O3 -masm=intel -march=haswell
	.file	"clip.c"
	.intel_syntax noprefix
	.text
	.p2align 4
	.globl	clip
	.type	clip, @function
clip:
.LFB0:
	.cfi_startproc
	mov	rcx, rsi
	mov	esi, edx
	test	edx, edx
	jle	.L14
	lea	eax, -1[rdx]
	cmp	eax, 14
	jbe	.L8
	mov	r8d, edx
	mov	edx, -32768
	xor	eax, eax
	vmovd	xmm4, edx
	mov	edx, 32767
	shr	r8d, 4
	vmovd	xmm3, edx
	mov	edx, 65535
	sal	r8, 5
	vpbroadcastd	ymm4, xmm4
	vmovd	xmm2, edx
	vpbroadcastd	ymm3, xmm3
	vpbroadcastd	ymm2, xmm2
	.p2align 4,,10
	.p2align 3
.L4:
	vmovdqu	ymm5, YMMWORD PTR [rcx+rax*2]
	vmovdqu	ymm6, YMMWORD PTR 32[rcx+rax*2]
	vpsrad	ymm0, ymm5, 4
	vpsrad	ymm1, ymm6, 4
	vpmaxsd	ymm0, ymm0, ymm4
	vpmaxsd	ymm1, ymm1, ymm4
	vpminsd	ymm0, ymm0, ymm3
	vpminsd	ymm1, ymm1, ymm3
	vpand	ymm0, ymm2, ymm0
	vpand	ymm1, ymm2, ymm1
	vpackusdw	ymm0, ymm0, ymm1
	vpermq	ymm0, ymm0, 216
	vmovdqu	YMMWORD PTR [rdi+rax], ymm0
	add	rax, 32
	cmp	r8, rax
	jne	.L4
	mov	eax, esi
	and	eax, -16
	mov	edx, eax
	cmp	esi, eax
	je	.L16
	vzeroupper
.L3:
	mov	r8d, esi
	sub	r8d, edx
	lea	r9d, -1[r8]
	cmp	r9d, 6
	jbe	.L6
	lea	r9, [rcx+rdx*4]
	mov	r10d, -32768
	vmovdqu	xmm7, XMMWORD PTR [r9]
	vmovdqu	xmm1, XMMWORD PTR 16[r9]
	vmovd	xmm3, r10d
	mov	r10d, 32767
	vpshufd	xmm3, xmm3, 0
	vmovd	xmm2, r10d
	mov	r10d, 65535
	vpsrad	xmm0, xmm7, 4
	vpsrad	xmm1, xmm1, 4
	vpshufd	xmm2, xmm2, 0
	vpmaxsd	xmm0, xmm0, xmm3
	vpmaxsd	xmm1, xmm1, xmm3
	vpminsd	xmm0, xmm0, xmm2
	vpminsd	xmm1, xmm1, xmm2
	vmovd	xmm2, r10d
	vpshufd	xmm2, xmm2, 0
	vpand	xmm0, xmm2, xmm0
	vpand	xmm2, xmm2, xmm1
	vpackusdw	xmm0, xmm0, xmm2
	vmovdqu	XMMWORD PTR [rdi+rdx*2], xmm0
	mov	edx, r8d
	and	edx, -8
	add	eax, edx
	and	r8d, 7
	je	.L14
.L6:
	movsx	r10, eax
	vmovdqa	xmm1, XMMWORD PTR .LC6[rip]
	mov	r11d, 4
	sarx	edx, DWORD PTR [rcx+r10*4], r11d
	vmovd	xmm0, edx
	lea	r9, 0[0+r10*4]
	lea	r8, [r10+r10]
	vpmaxsd	xmm0, xmm0, xmm1
	vmovdqa	xmm1, XMMWORD PTR .LC7[rip]
	vpminsd	xmm0, xmm0, xmm1
	vmovd	edx, xmm0
	mov	WORD PTR [rdi+r10*2], dx
	lea	edx, 1[rax]
	cmp	esi, edx
	jle	.L14
	vmovdqa	xmm1, XMMWORD PTR .LC6[rip]
	sarx	edx, DWORD PTR 4[rcx+r9], r11d
	vmovd	xmm0, edx
	vpmaxsd	xmm0, xmm0, xmm1
	vmovdqa	xmm1, XMMWORD PTR .LC7[rip]
	vpminsd	xmm0, xmm0, xmm1
	vmovd	edx, xmm0
	mov	WORD PTR 2[rdi+r8], dx
	lea	edx, 2[rax]
	cmp	esi, edx
	jle	.L14
	vmovdqa	xmm1, XMMWORD PTR .LC6[rip]
	sarx	edx, DWORD PTR 8[rcx+r9], r11d
	vmovd	xmm0, edx
	vpmaxsd	xmm0, xmm0, xmm1
	vmovdqa	xmm1, XMMWORD PTR .LC7[rip]
	vpminsd	xmm0, xmm0, xmm1
	vmovd	edx, xmm0
	mov	WORD PTR 4[rdi+r8], dx
	lea	edx, 3[rax]
	cmp	esi, edx
	jle	.L14
	vmovdqa	xmm1, XMMWORD PTR .LC6[rip]
	sarx	edx, DWORD PTR 12[rcx+r9], r11d
	vmovd	xmm0, edx
	vpmaxsd	xmm0, xmm0, xmm1
	vmovdqa	xmm1, XMMWORD PTR .LC7[rip]
	vpminsd	xmm0, xmm0, xmm1
	vmovd	edx, xmm0
	mov	WORD PTR 6[rdi+r8], dx
	lea	edx, 4[rax]
	cmp	esi, edx
	jle	.L14
	vmovdqa	xmm1, XMMWORD PTR .LC6[rip]
	sarx	edx, DWORD PTR 16[rcx+r9], r11d
	vmovd	xmm0, edx
	vpmaxsd	xmm0, xmm0, xmm1
	vmovdqa	xmm1, XMMWORD PTR .LC7[rip]
	vpminsd	xmm0, xmm0, xmm1
	vmovd	edx, xmm0
	mov	WORD PTR 8[rdi+r8], dx
	lea	edx, 5[rax]
	cmp	esi, edx
	jle	.L14
	vmovdqa	xmm1, XMMWORD PTR .LC6[rip]
	sarx	edx, DWORD PTR 20[rcx+r9], r11d
	add	eax, 6
	vmovd	xmm0, edx
	vpmaxsd	xmm0, xmm0, xmm1
	vmovdqa	xmm1, XMMWORD PTR .LC7[rip]
	vpminsd	xmm0, xmm0, xmm1
	vmovd	edx, xmm0
	mov	WORD PTR 10[rdi+r8], dx
	cmp	esi, eax
	jle	.L14
	mov	eax, DWORD PTR 24[rcx+r9]
	vmovdqa	xmm1, XMMWORD PTR .LC6[rip]
	sar	eax, 4
	vmovd	xmm0, eax
	vpmaxsd	xmm0, xmm0, xmm1
	vmovdqa	xmm1, XMMWORD PTR .LC7[rip]
	vpminsd	xmm0, xmm0, xmm1
	vmovd	eax, xmm0
	mov	WORD PTR 12[rdi+r8], ax
.L14:
	ret
.L8:
	xor	edx, edx
	xor	eax, eax
	jmp	.L3
.L16:
	vzeroupper
	ret
	.cfi_endproc
.LFE0:
	.size	clip, .-clip
	.section	.rodata.cst16,"aM",@progbits,16
	.align 16
.LC6:
	.long	-32768
	.long	0
	.long	0
	.long	0
	.align 16
.LC7:
	.long	32767
	.long	0
	.long	0
	.long	0
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
