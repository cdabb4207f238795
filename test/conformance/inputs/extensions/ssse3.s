# CASE: -mcpu=atom -instruction-tables %s
# CASE: -mcpu=btver2 %s
pabsb	%xmm0, %xmm1
pabsd	(%rdi), %xmm2
palignr	$7, %xmm3, %xmm4
phaddw	%xmm5, %xmm6
phaddd	(%rsi), %xmm7
phsubsw	%xmm8, %xmm9
pmaddubsw	%xmm10, %xmm11
pmulhrsw	(%rdx), %xmm12
pshufb	%xmm13, %xmm14
psignd	%xmm15, %xmm0
pshufb	%mm0, %mm1
pabsw	(%rdi), %mm2

