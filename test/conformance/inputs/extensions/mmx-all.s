# CASE: -mcpu=skylake %s
# CASE: -mcpu=bdver2 %s
# CASE: -mcpu=core2 -output-asm-variant=1 %s
	movd	%eax, %mm0
	movq	%rax, %mm1
	movq	(%rdi), %mm2
	movq	%mm2, 8(%rdi)
	movntq	%mm0, (%rdi)
	maskmovq	%mm0, %mm1
	paddb	%mm0, %mm1
	paddq	(%rdi), %mm1
	pmaddwd	%mm0, %mm1
	pmulhuw	%mm2, %mm3
	psadbw	%mm2, %mm3
	pshufw	$27, %mm0, %mm1
	pextrw	$1, %mm0, %eax
	pinsrw	$2, %ecx, %mm0
	pmovmskb	%mm3, %eax
	psllw	$4, %mm0
	psraw	%mm1, %mm2
	punpckhbw	%mm1, %mm2
	packsswb	(%rsi), %mm2
	pandn	%mm1, %mm2
	pxor	%mm3, %mm3
	pavgb	%mm1, %mm2
	palignr	$3, %mm1, %mm2
	pabsd	%mm1, %mm2
	phaddsw	%mm1, %mm2
	cvtpi2ps	%mm0, %xmm1
	cvttps2pi	(%rdi), %mm1
	movq2dq	%mm0, %xmm2
	movdq2q	%xmm2, %mm0
	emms
