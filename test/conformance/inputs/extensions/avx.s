# CASE: -mcpu=sandybridge %s
# CASE: -mcpu=btver2 -show-encoding %s
vmovaps	(%rdi), %ymm0
vmovapd	%xmm1, %xmm2
vmovups	%ymm3, 32(%rsi)
vmovss	(%rdi), %xmm4
vmovsd	%xmm5, %xmm6, %xmm7
vmovsd	%xmm8, 8(%rdi)
vmovd	%eax, %xmm9
vmovq	%xmm10, %rcx
vaddps	%ymm0, %ymm1, %ymm2
vaddsd	(%rdi), %xmm3, %xmm4
vsubpd	%ymm5, %ymm6, %ymm7
vmulps	(%rsi), %ymm8, %ymm9
vdivps	%ymm10, %ymm11, %ymm12
vdivsd	%xmm13, %xmm14, %xmm15
vsqrtpd	(%rdx), %ymm0
vsqrtss	%xmm1, %xmm2, %xmm3
vrcpps	%ymm4, %ymm5
vrsqrtps	%xmm6, %xmm7
vmaxps	%ymm8, %ymm9, %ymm10
vminsd	%xmm11, %xmm12, %xmm13
vandps	%ymm14, %ymm15, %ymm0
vxorps	%xmm1, %xmm1, %xmm1
vxorpd	%ymm2, %ymm2, %ymm2
vcmpps	$0x1e, %ymm3, %ymm4, %ymm5
vcmpeqpd	(%rdi), %xmm6, %xmm7
vcomiss	%xmm8, %xmm9
vshufps	$0x39, %ymm10, %ymm11, %ymm12
vunpckhpd	%ymm13, %ymm14, %ymm15
vblendvps	%ymm0, %ymm1, %ymm2, %ymm3
vblendpd	$9, (%rsi), %ymm4, %ymm5
vdpps	$0xff, %ymm6, %ymm7, %ymm8
vhaddpd	%ymm9, %ymm10, %ymm11
vaddsubps	%xmm12, %xmm13, %xmm14
vroundpd	$2, %ymm15, %ymm0
vbroadcastss	(%rdi), %ymm1
vbroadcastsd	8(%rdi), %ymm2
vbroadcastf128	(%rsi), %ymm3
vinsertf128	$1, %xmm4, %ymm5, %ymm6
vextractf128	$1, %ymm7, (%rdi)
vextractf128	$0, %ymm8, %xmm9
vperm2f128	$0x21, %ymm10, %ymm11, %ymm12
vpermilps	$0x1b, %ymm13, %ymm14
vpermilpd	%xmm15, %xmm0, %xmm1
vmaskmovps	(%rdi), %ymm2, %ymm3
vmaskmovpd	%xmm4, %xmm5, (%rsi)
vtestps	%ymm6, %ymm7
vptest	(%rdx), %ymm8
vcvtdq2pd	%xmm9, %ymm10
vcvtpd2ps	%ymm11, %xmm12
vcvttps2dq	(%rdi), %ymm13
vcvtsi2sdl	%eax, %xmm14, %xmm15
vcvttsd2si	%xmm0, %rcx
vpaddd	%xmm1, %xmm2, %xmm3
vpshufb	(%rsi), %xmm4, %xmm5
vpinsrd	$2, %eax, %xmm6, %xmm7
vpextrq	$1, %xmm8, (%rdi)
vpmovmskb	%xmm9, %edx
vmovntps	%ymm10, (%rdi)
vlddqu	(%rsi), %ymm11
vmovddup	(%rdx), %ymm12
vmovmskpd	%ymm13, %eax
vaesenc	%xmm14, %xmm15, %xmm0
vpclmulqdq	$1, (%rdi), %xmm1, %xmm2
vldmxcsr	(%rsp)
vzeroupper
vzeroall

