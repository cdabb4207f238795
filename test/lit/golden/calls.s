# Whole calls: a vectorised loop with its remainder, a nest, and a function without a return.
# RUN: cd %S && incc-mca -mcpu=znver4 --auto --views=none --trip=inner=27,outer=10 calls.s | %golden calls.golden
	.globl	scale
	.type	scale, @function
scale:
	testq	%rsi, %rsi
	jle	.Lend
	movq	%rsi, %rax
	shrq	$2, %rax
	je	.Lrest
	salq	$5, %rax
	xorl	%edx, %edx
.Lmain:
	vmulpd	(%rdi,%rdx), %ymm0, %ymm1
	vmovupd	%ymm1, (%rdi,%rdx)
	addq	$32, %rdx
	cmpq	%rax, %rdx
	jne	.Lmain
.Lrest:
	movq	%rsi, %rax
	andq	$-4, %rax
	cmpq	%rax, %rsi
	je	.Lend
.Lscalar:
	vmulsd	(%rdi,%rax,8), %xmm0, %xmm1
	vmovsd	%xmm1, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rsi, %rax
	jne	.Lscalar
.Lend:
	ret
	.globl	rows
	.type	rows, @function
rows:
	vxorpd	%xmm0, %xmm0, %xmm0
.Lrow:
	xorl	%eax, %eax
.Lcolumn:
	vaddsd	(%rdx,%rax,8), %xmm0, %xmm0
	addq	$1, %rax
	cmpq	%rsi, %rax
	jne	.Lcolumn
	leaq	(%rdx,%rsi,8), %rdx
	subq	$1, %rdi
	jne	.Lrow
	ret
	.globl	forever
	.type	forever, @function
forever:
.Lagain:
	addq	$1, %rax
	jmp	.Lagain
