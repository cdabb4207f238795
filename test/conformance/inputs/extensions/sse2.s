# CASE: -mcpu=sandybridge %s
# CASE: -mcpu=slm %s
movapd	(%rdi), %xmm0
movupd	%xmm0, 8(%rsi)
movsd	(%rdi), %xmm1
movsd	%xmm1, 8(%rdi)
movlpd	(%rax), %xmm2
movhpd	8(%rax), %xmm2
movdqa	%xmm3, %xmm4
movdqu	(%rdx), %xmm5
movd	%eax, %xmm6
movq	%xmm7, %rbx
movq	(%rcx), %xmm8
movntdq	%xmm9, (%rdi)
movnti	%eax, 16(%rdi)
addpd	%xmm0, %xmm1
addsd	8(%rdi), %xmm2
subsd	%xmm3, %xmm4
mulpd	%xmm5, %xmm6
divpd	%xmm7, %xmm8
divsd	(%rdx), %xmm9
sqrtpd	%xmm10, %xmm11
sqrtsd	%xmm12, %xmm13
maxpd	%xmm14, %xmm15
minsd	(%rdi), %xmm0
andpd	%xmm1, %xmm2
xorpd	%xmm3, %xmm3
cmpltpd	%xmm4, %xmm5
cmpsd	$3, (%rsi), %xmm6
comisd	%xmm7, %xmm8
ucomisd	%xmm9, %xmm10
shufpd	$1, %xmm11, %xmm12
unpcklpd	%xmm13, %xmm14
cvtps2pd	%xmm0, %xmm1
cvtpd2ps	(%rdi), %xmm2
cvtdq2ps	%xmm3, %xmm4
cvttps2dq	%xmm5, %xmm6
cvtdq2pd	%xmm7, %xmm8
cvttpd2dq	%xmm9, %xmm10
cvtsd2ss	%xmm11, %xmm12
cvtss2sd	(%rsi), %xmm13
cvtsi2sdq	%rax, %xmm14
cvttsd2si	%xmm15, %ecx
paddb	%xmm0, %xmm1
paddq	(%rdi), %xmm2
psubd	%xmm3, %xmm4
pmullw	%xmm5, %xmm6
pmulhuw	%xmm7, %xmm8
pmuludq	%xmm9, %xmm10
pmaddwd	(%rsi), %xmm11
pandn	%xmm12, %xmm13
pcmpgtb	%xmm14, %xmm15
pslld	$4, %xmm0
psrlw	%xmm1, %xmm2
psrad	(%rdx), %xmm3
pslldq	$5, %xmm4
psrldq	$3, %xmm5
pshufd	$0x1b, %xmm6, %xmm7
pshuflw	$0, (%rdi), %xmm8
pshufhw	$0xe4, %xmm9, %xmm10
punpcklbw	%xmm11, %xmm12
punpckhqdq	%xmm13, %xmm14
packuswb	%xmm15, %xmm0
pmovmskb	%xmm1, %eax
pextrw	$3, %xmm2, %ecx
pinsrw	$4, (%rsi), %xmm3
psadbw	%xmm4, %xmm5
clflush	(%rdi)
movmskpd	%xmm6, %edx
maskmovdqu	%xmm7, %xmm8

