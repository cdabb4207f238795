# What the renamer does alone: eliminated moves, zero and ones idioms, nops; a zeroed register ends a chain.
# RUN: cd %S && incc-mca -mcpu=skylake-avx512 -timeline -timeline-max-iterations=2 renamer.s | %golden renamer.golden
.L2:
	movq	%rax, %rbx
	xorl	%ecx, %ecx
	vxorps	%xmm0, %xmm0, %xmm0
	vpcmpeqd	%ymm1, %ymm1, %ymm1
	nopw	0(%rax,%rax,1)
	vcvtsi2sdq	%rdx, %xmm0, %xmm0
	addq	%rcx, %rbx
	movb	%bl, %al
	movb	%ah, %dl
	decq	%rdi
	jne	.L2
