# CASE: -mcpu=haswell -output-asm-variant=1 %s
# CASE: -mcpu=znver3 -output-asm-variant=1 -print-imm-hex %s
	.intel_syntax noprefix
.loop:
	vmovups	ymm0, ymmword ptr [rdi + rax]
	vfmadd213ps	ymm0, ymm1, ymmword ptr [rsi + rax + 32]
	vpermilps	ymm2, ymm0, 177
	vinsertf128	ymm3, ymm2, xmm1, 1
	vextracti128	xmmword ptr [rdx], ymm3, 1
	vbroadcastss	ymm4, dword ptr [rcx]
	vpgatherdd	ymm5, ymmword ptr [rdi + 4*ymm6], ymm7
	vcmpps	ymm8, ymm9, ymm10, 5
	vmovd	xmm11, eax
	vzeroupper
	add	rax, 32
	cmp	rax, 4096
	jb	.loop

