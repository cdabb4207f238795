# Unoptimised code: everything goes through the stack, and the chain runs through three places in memory.
# RUN: cd %S && incc-mca -mcpu=skylake-avx512 --auto stack.s | %golden stack.golden
	.globl	sum
	.type	sum, @function
sum:
	pushq	%rbp
	movq	%rsp, %rbp
	jmp	.L2
.L3:
	movq	-8(%rbp), %rax
	leaq	0(,%rax,8), %rdx
	movq	-40(%rbp), %rax
	addq	%rdx, %rax
	movsd	(%rax), %xmm0
	movsd	-16(%rbp), %xmm1
	addsd	%xmm1, %xmm0
	movsd	%xmm0, -16(%rbp)
	addq	$1, -8(%rbp)
.L2:
	movq	-8(%rbp), %rax
	cmpq	-48(%rbp), %rax
	jl	.L3
	movsd	-16(%rbp), %xmm0
	popq	%rbp
	ret
	.size	sum, .-sum
