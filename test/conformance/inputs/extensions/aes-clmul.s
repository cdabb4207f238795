# CASE: -mcpu=haswell %s
# CASE: -mcpu=btver2 -timeline -timeline-max-iterations=2 %s
aesenc	%xmm0, %xmm1
aesenclast	(%rdi), %xmm2
aesdec	%xmm3, %xmm4
aesdeclast	%xmm5, %xmm6
aesimc	%xmm7, %xmm8
aeskeygenassist	$1, %xmm9, %xmm10
pclmulqdq	$0, %xmm11, %xmm12
pclmulqdq	$0x11, (%rsi), %xmm13

