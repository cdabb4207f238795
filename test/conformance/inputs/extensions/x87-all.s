# CASE: -mcpu=haswell %s
# CASE: -mcpu=znver1 -show-encoding %s
# CASE: -mcpu=btver2 -output-asm-variant=1 %s
# CASE: -mcpu=goldmont %s
	fld1
	fldz
	fldpi
	fldl2e
	fldl2t
	fldlg2
	fldln2
	flds	(%rdi)
	fldl	8(%rdi)
	fldt	16(%rdi)
	fld	%st(3)
	filds	(%rsi)
	fildl	(%rsi)
	fildll	(%rsi)
	fbld	(%rsi)
	fbstp	(%rsi)
	fsts	(%rdi)
	fstpl	(%rdi)
	fstpt	(%rdi)
	fists	(%rdi)
	fistpll	(%rdi)
	fisttpl	(%rdi)
	fadds	(%rdi)
	faddl	(%rdi)
	fiadds	(%rdi)
	fadd	%st(2), %st
	fadd	%st, %st(2)
	faddp	%st, %st(1)
	fsub	%st, %st(3)
	fsubr	%st, %st(3)
	fsubrp	%st, %st(1)
	fsubp
	fdiv	%st, %st(2)
	fdivr	%st(2), %st
	fdivrp
	fmulp	%st, %st(4)
	fcom	%st(1)
	fcompp
	fucomi	%st(1), %st
	fcomip	%st(2), %st
	fucompp
	fcmovne	%st(1), %st
	fcmovu	%st(2), %st
	fabs
	fchs
	fsqrt
	fsin
	fcos
	fsincos
	fptan
	fpatan
	f2xm1
	fyl2x
	fyl2xp1
	fprem
	fprem1
	frndint
	fscale
	fxtract
	fxam
	ftst
	fxch
	fxch	%st(3)
	ffree	%st(2)
	fincstp
	fdecstp
	fninit
	fnclex
	fnstcw	(%rsp)
	fldcw	(%rsp)
	fnstsw	%ax
	fstsw	(%rsp)
	fnstenv	(%rsp)
	fldenv	(%rsp)
	fnsave	(%rsp)
	frstor	(%rsp)
	fwait
	fnop
	emms
