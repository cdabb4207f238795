	.file	"two.c"
	.text
	.p2align 4
	.globl	scale
	.type	scale, @function
scale:
	.file 1 "two.c"
	.loc 1 2 3
	testq	%rsi, %rsi
	jle	.L1
	leaq	(%rdi,%rsi,8), %rax
	.p2align 4,,10
	.p2align 3
.L3:
	.loc 1 3 5
	vmulsd	(%rdi), %xmm0, %xmm1
	vmovsd	%xmm1, (%rdi)
	.loc 1 2 3
	addq	$8, %rdi
	cmpq	%rax, %rdi
	jne	.L3
.L1:
	ret
	.size	scale, .-scale
	.globl	find
	.type	find, @function
find:
	.loc 1 8 3
	jmp	.L7
.L8:
	incq	%rdi
.L7:
	cmpb	$0, (%rdi)
	je	.L6
	cmpb	%sil, (%rdi)
	jne	.L8
.L6:
	movq	%rdi, %rax
	ret
	.size	find, .-find
