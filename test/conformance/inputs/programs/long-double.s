# CASE: -mcpu=ivybridge %s
# ldouble.c: gcc -O2 -march=ivybridge
	.file	"ldouble.c"
	.text
	.p2align 4
	.globl	lsum
	.type	lsum, @function
lsum:
.LFB0:
	.cfi_startproc
	testl	%esi, %esi
	jle	.L4
	fldz
	movslq	%esi, %rsi
	salq	$4, %rsi
	leaq	(%rdi,%rsi), %rax
	.p2align 4,,10
	.p2align 3
.L3:
	fldt	(%rdi)
	addq	$16, %rdi
	fmul	%st(0), %st
	faddp	%st, %st(1)
	cmpq	%rax, %rdi
	jne	.L3
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	fldz
	ret
	.cfi_endproc
.LFE0:
	.size	lsum, .-lsum
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
