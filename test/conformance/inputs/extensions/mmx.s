# CASE: -mcpu=btver2 %s
# CASE: -mcpu=skylake %s
movd	%eax, %mm0
movq	%rbx, %mm1
movq	(%rdi), %mm2
movq	%mm2, 8(%rdi)
paddb	%mm0, %mm1
paddd	(%rsi), %mm2
paddq	%mm3, %mm4
psubusw	%mm1, %mm2
pmullw	%mm3, %mm4
pmaddwd	(%rax), %mm5
pmuludq	%mm6, %mm7
pand	%mm0, %mm1
pxor	%mm2, %mm2
pcmpeqd	%mm3, %mm3
packsswb	%mm4, %mm5
punpckldq	(%rdi), %mm6
psllw	$3, %mm0
psrlq	%mm1, %mm2
pshufw	$0x1b, %mm3, %mm4
pavgb	%mm5, %mm6
psadbw	%mm0, %mm7
pextrw	$2, %mm1, %eax
pinsrw	$1, %ecx, %mm2
pmovmskb	%mm3, %edx
maskmovq	%mm4, %mm5
movntq	%mm6, (%rdi)
cvtpi2ps	%mm0, %xmm0
cvttps2pi	%xmm1, %mm1
movdq2q	%xmm2, %mm2
movq2dq	%mm3, %xmm3
emms

