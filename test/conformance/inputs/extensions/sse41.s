# CASE: -mcpu=slm %s
# CASE: -mcpu=znver1 %s
blendps	$5, %xmm0, %xmm1
blendpd	$1, (%rdi), %xmm2
blendvps	%xmm0, %xmm3, %xmm4
pblendvb	%xmm0, (%rsi), %xmm5
pblendw	$0x0f, %xmm6, %xmm7
dpps	$0x31, %xmm8, %xmm9
dppd	$0x11, (%rdx), %xmm10
extractps	$2, %xmm11, %eax
insertps	$0x10, %xmm12, %xmm13
movntdqa	(%rcx), %xmm14
mpsadbw	$3, %xmm15, %xmm0
packusdw	%xmm1, %xmm2
pcmpeqq	%xmm3, %xmm4
pextrb	$3, %xmm5, (%rdi)
pextrd	$1, %xmm6, %ebx
pextrq	$0, %xmm7, %rcx
pinsrb	$2, %edx, %xmm8
pinsrd	$3, (%rsi), %xmm9
pinsrq	$1, %rax, %xmm10
phminposuw	%xmm11, %xmm12
pmaxsd	%xmm13, %xmm14
pminuw	(%rdi), %xmm15
pmovsxbw	%xmm0, %xmm1
pmovzxwq	(%rsi), %xmm2
pmuldq	%xmm3, %xmm4
pmulld	%xmm5, %xmm6
ptest	%xmm7, %xmm8
roundps	$1, %xmm9, %xmm10
roundsd	$3, (%rdx), %xmm11

