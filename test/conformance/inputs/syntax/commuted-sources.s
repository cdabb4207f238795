# LLVM exchanges sources that commute where a shorter VEX prefix comes of it; GNU as keeps their order.
# CASE: -mcpu=skylake -show-encoding %s
# CASE: -mcpu=btver2 -output-asm-variant=1 %s
	vaddps	%xmm8, %xmm0, %xmm9
	vaddps	%xmm8, %xmm10, %xmm9
	vsubps	%xmm8, %xmm0, %xmm9
	vpaddd	%xmm9, %xmm1, %xmm2
	vmulpd	%ymm15, %ymm7, %ymm7
	vandpd	(%r9), %ymm7, %ymm7
	vcmpeqps	%xmm12, %xmm3, %xmm0
	vcmpltps	%xmm12, %xmm3, %xmm0
	vcmppd	$0x14, %ymm12, %ymm3, %ymm0
	vmulss	%xmm12, %xmm3, %xmm0
	{vex3} vpxor	%xmm12, %xmm3, %xmm0
