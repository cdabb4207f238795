# gcc 12.2.0: gcc -O0 -fno-asynchronous-unwind-tables -fno-ident -fcf-protection=none -S product.c
# void product(double *restrict a, const double *restrict b, const double *restrict c, int n) {
#   for (int i = 0; i < n; i++)
#     for (int j = 0; j < n; j++) {
#       double s = 0;
#       for (int k = 0; k < n; k++)
#         s += b[i * n + k] * c[k * n + j];
#       a[i * n + j] = s;
#     }
# }
	.file	"product.c"
	.text
	.globl	product
	.type	product, @function
product:
	pushq	%rbp
	movq	%rsp, %rbp
	movq	%rdi, -40(%rbp)
	movq	%rsi, -48(%rbp)
	movq	%rdx, -56(%rbp)
	movl	%ecx, -60(%rbp)
	movl	$0, -4(%rbp)
	jmp	.L2
.L7:
	movl	$0, -8(%rbp)
	jmp	.L3
.L6:
	pxor	%xmm0, %xmm0
	movsd	%xmm0, -16(%rbp)
	movl	$0, -20(%rbp)
	jmp	.L4
.L5:
	movl	-4(%rbp), %eax
	imull	-60(%rbp), %eax
	movl	%eax, %edx
	movl	-20(%rbp), %eax
	addl	%edx, %eax
	cltq
	leaq	0(,%rax,8), %rdx
	movq	-48(%rbp), %rax
	addq	%rdx, %rax
	movsd	(%rax), %xmm1
	movl	-20(%rbp), %eax
	imull	-60(%rbp), %eax
	movl	%eax, %edx
	movl	-8(%rbp), %eax
	addl	%edx, %eax
	cltq
	leaq	0(,%rax,8), %rdx
	movq	-56(%rbp), %rax
	addq	%rdx, %rax
	movsd	(%rax), %xmm0
	mulsd	%xmm1, %xmm0
	movsd	-16(%rbp), %xmm1
	addsd	%xmm1, %xmm0
	movsd	%xmm0, -16(%rbp)
	addl	$1, -20(%rbp)
.L4:
	movl	-20(%rbp), %eax
	cmpl	-60(%rbp), %eax
	jl	.L5
	movl	-4(%rbp), %eax
	imull	-60(%rbp), %eax
	movl	%eax, %edx
	movl	-8(%rbp), %eax
	addl	%edx, %eax
	cltq
	leaq	0(,%rax,8), %rdx
	movq	-40(%rbp), %rax
	addq	%rdx, %rax
	movsd	-16(%rbp), %xmm0
	movsd	%xmm0, (%rax)
	addl	$1, -8(%rbp)
.L3:
	movl	-8(%rbp), %eax
	cmpl	-60(%rbp), %eax
	jl	.L6
	addl	$1, -4(%rbp)
.L2:
	movl	-4(%rbp), %eax
	cmpl	-60(%rbp), %eax
	jl	.L7
	nop
	nop
	popq	%rbp
	ret
	.size	product, .-product
	.section	.note.GNU-stack,"",@progbits
