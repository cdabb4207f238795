# CASE: -mcpu=skylake-avx512 -output-asm-variant=1 %s
# CASE: -mcpu=icelake-server %s
	.intel_syntax noprefix
	vaddps	zmm0 {k1} {z}, zmm1, zmmword ptr [rdi]
	vaddpd	zmm2, zmm3, qword ptr [rsi]{1to8}
	vmulps	zmm4, zmm5, zmm6, {rz-sae}
	vcmpps	k2 {k1}, zmm7, zmm8, 2
	vpternlogd	zmm9, zmm10, zmm11, 202
	vgatherdps	zmm12 {k3}, zmmword ptr [rdi + 4*zmm13]
	vpcompressd	zmmword ptr [rdx] {k4}, zmm14
	kmovw	eax, k5
	vcvttps2dq	zmm15, zmm16, {sae}
	vmovdqu8	ymm17 {k6} {z}, ymmword ptr [rcx]

