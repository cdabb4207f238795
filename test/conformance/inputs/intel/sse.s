# CASE: -mcpu=znver2 -output-asm-variant=1 %s
# CASE: -mcpu=btver2 %s
	.intel_syntax noprefix
	movaps	xmm0, xmmword ptr [rdi]
	movss	xmm1, dword ptr [rsi + 4]
	movsd	qword ptr [rsp], xmm2
	addps	xmm3, xmm4
	mulsd	xmm5, qword ptr [rdi + 8*rax - 8]
	cvtsi2sd	xmm6, rax
	cvttss2si	ecx, dword ptr [rdx]
	pshufd	xmm7, xmm8, 27
	pinsrd	xmm9, dword ptr [rdi], 2
	cmpltps	xmm10, xmm11
	ucomisd	xmm12, xmm13
	movq	rax, xmm14
	movd	xmm15, ebx
	pmovmskb	edx, xmm0

