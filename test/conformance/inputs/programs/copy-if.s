# CASE: -mcpu=znver4 %s
# copyif.c: gcc -O3 -march=znver3
	.file	"copyif.c"
	.text
	.p2align 4
	.globl	copyif
	.type	copyif, @function
copyif:
.LFB0:
	.cfi_startproc
	testl	%edx, %edx
	jle	.L5
	movslq	%edx, %rdx
	leaq	(%rsi,%rdx,4), %r8
	xorl	%edx, %edx
	.p2align 4
	.p2align 3
.L4:
	movl	(%rsi), %eax
	testl	%eax, %eax
	jle	.L3
	movslq	%edx, %rcx
	incl	%edx
	movl	%eax, (%rdi,%rcx,4)
.L3:
	addq	$4, %rsi
	cmpq	%rsi, %r8
	jne	.L4
	movl	%edx, %eax
	ret
	.p2align 4
	.p2align 3
.L5:
	xorl	%edx, %edx
	movl	%edx, %eax
	ret
	.cfi_endproc
.LFE0:
	.size	copyif, .-copyif
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
