# CASE: -mcpu=haswell %s
# CASE: -mcpu=bdver2 -timeline -timeline-max-iterations=1 %s
fldz
fld1
fldpi
flds	(%rdi)
fldl	8(%rdi)
fldt	16(%rdi)
fld	%st(2)
filds	(%rsi)
fildl	(%rsi)
fildll	(%rsi)
fadd	%st(1), %st
faddp	%st, %st(1)
fadds	(%rdi)
fsubl	(%rdi)
fsubrp	%st, %st(2)
fmul	%st, %st(3)
fmull	8(%rdi)
fdivp	%st, %st(1)
fdivrs	(%rsi)
fchs
fabs
fsqrt
fsin
fcos
fsincos
fptan
fpatan
f2xm1
fyl2x
fscale
frndint
fprem
fxch	%st(1)
fcomi	%st(1), %st
fucomip	%st(2), %st
fcmovb	%st(1), %st
fcmovne	%st(3), %st
fsts	(%rdi)
fstpl	(%rdi)
fstpt	16(%rdi)
fistps	(%rsi)
fisttpll	(%rsi)
fnstcw	(%rsp)
fldcw	(%rsp)
fnstsw	%ax
ffree	%st(4)
fincstp
fdecstp
fninit
fnclex
wait
fnop

