# gcc 12.2.0: gcc -O2 -fno-asynchronous-unwind-tables -fno-ident -fcf-protection=none -S middle.c
# int f(int);
# int middle(const int *p, int n, int k) {
#   int i = 0, s = 0;
#   if (k)
#     goto mid;
# loop:
#   s += p[i];
#   if (s > 1000)
#     f(s);
# mid:
#   s ^= p[i] * 3;
#   if (++i < n)
#     goto loop;
#   return s;
# }
	.file	"middle.c"
	.text
	.p2align 4
	.globl	middle
	.type	middle, @function
middle:
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbp
	movl	%esi, %ebp
	pushq	%rbx
	movq	%rdi, %rbx
	movl	(%rdi), %eax
	testl	%edx, %edx
	jne	.L5
	movq	%rdi, %r13
	movl	$1, %r14d
.L3:
	movl	0(%r13), %eax
	leal	(%rax,%rdx), %r12d
	cmpl	$1000, %r12d
	jg	.L8
.L2:
	leal	(%rax,%rax,2), %eax
	xorl	%r12d, %eax
	cmpl	%r14d, %ebp
	jg	.L9
.L1:
	popq	%rbx
	popq	%rbp
	popq	%r12
	popq	%r13
	popq	%r14
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	xorl	%r12d, %r12d
	leal	(%rax,%rax,2), %eax
	movl	$1, %r14d
	xorl	%r12d, %eax
	cmpl	%r14d, %ebp
	jle	.L1
.L9:
	movslq	%r14d, %rdx
	addl	$1, %r14d
	leaq	(%rbx,%rdx,4), %r13
	movl	%eax, %edx
	jmp	.L3
	.p2align 4,,10
	.p2align 3
.L8:
	movl	%r12d, %edi
	call	f@PLT
	movl	0(%r13), %eax
	jmp	.L2
	.size	middle, .-middle
	.section	.note.GNU-stack,"",@progbits
