# CASE: -mcpu=btver2 %s
# CASE: -mcpu=znver2 -show-encoding %s
movaps	%xmm0, %xmm1
movaps	(%rdi), %xmm2
movaps	%xmm2, 16(%rdi)
movups	1(%rsi), %xmm3
movss	(%rdi), %xmm4
movss	%xmm4, 4(%rdi)
movss	%xmm5, %xmm6
movlps	(%rdi), %xmm7
movhps	%xmm7, 8(%rdi)
movlhps	%xmm0, %xmm1
movhlps	%xmm2, %xmm3
movmskps	%xmm4, %eax
movntps	%xmm5, (%rdi)
addps	%xmm0, %xmm1
addss	(%rdi), %xmm2
subps	%xmm3, %xmm4
mulss	%xmm5, %xmm6
mulps	16(%rsi), %xmm7
divps	%xmm8, %xmm9
divss	(%rdx), %xmm10
sqrtps	%xmm11, %xmm12
sqrtss	(%rax), %xmm13
rcpps	%xmm14, %xmm15
rsqrtss	%xmm0, %xmm1
minps	%xmm2, %xmm3
maxss	%xmm4, %xmm5
andps	%xmm6, %xmm7
andnps	(%rdi), %xmm8
orps	%xmm9, %xmm10
xorps	%xmm11, %xmm11
cmpps	$2, %xmm0, %xmm1
cmpneqss	%xmm2, %xmm3
comiss	%xmm4, %xmm5
ucomiss	(%rsi), %xmm6
shufps	$0x4e, %xmm7, %xmm8
unpcklps	%xmm9, %xmm10
unpckhps	(%rdi), %xmm11
cvtsi2ssl	%eax, %xmm0
cvtsi2ssq	(%rdi), %xmm1
cvtss2si	%xmm2, %ecx
cvttss2si	(%rsi), %rdx
ldmxcsr	(%rsp)
stmxcsr	4(%rsp)
prefetcht0	(%rdi)
prefetcht1	64(%rdi)
prefetcht2	128(%rdi)
prefetchnta	(%rsi)

