# CASE: -mcpu=skylake-avx512 %s
# saxpy.c: gcc -O3 -march=skylake-avx512
	.file	"saxpy.c"
	.text
	.p2align 4
	.globl	saxpy
	.type	saxpy, @function
saxpy:
.LFB0:
	.cfi_startproc
	movq	%rdi, %rcx
	testl	%edx, %edx
	jle	.L14
	leal	-1(%rdx), %eax
	cmpl	$6, %eax
	jbe	.L8
	movl	%edx, %edi
	shrl	$3, %edi
	vbroadcastss	%xmm0, %ymm2
	salq	$5, %rdi
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L4:
	vmovups	(%rsi,%rax), %ymm1
	vfmadd213ps	(%rcx,%rax), %ymm2, %ymm1
	vmovups	%ymm1, (%rcx,%rax)
	addq	$32, %rax
	cmpq	%rax, %rdi
	jne	.L4
	movl	%edx, %eax
	andl	$-8, %eax
	movl	%eax, %edi
	cmpl	%eax, %edx
	je	.L16
	vzeroupper
.L3:
	movl	%edx, %r8d
	subl	%edi, %r8d
	leal	-1(%r8), %r9d
	cmpl	$2, %r9d
	jbe	.L6
	leaq	(%rcx,%rdi,4), %r9
	vmovups	(%r9), %xmm3
	vbroadcastss	%xmm0, %xmm1
	vfmadd132ps	(%rsi,%rdi,4), %xmm3, %xmm1
	movl	%r8d, %edi
	andl	$-4, %edi
	addl	%edi, %eax
	andl	$3, %r8d
	vmovups	%xmm1, (%r9)
	je	.L14
.L6:
	movslq	%eax, %r9
	vmovss	(%rsi,%r9,4), %xmm1
	leaq	0(,%r9,4), %rdi
	leaq	(%rcx,%rdi), %r8
	vfmadd213ss	(%r8), %xmm0, %xmm1
	vmovss	%xmm1, (%r8)
	leal	1(%rax), %r8d
	cmpl	%r8d, %edx
	jle	.L14
	vmovss	4(%rsi,%rdi), %xmm1
	leaq	4(%rcx,%rdi), %r8
	vfmadd213ss	(%r8), %xmm0, %xmm1
	addl	$2, %eax
	vmovss	%xmm1, (%r8)
	cmpl	%eax, %edx
	jle	.L14
	leaq	8(%rcx,%rdi), %rax
	vmovss	(%rax), %xmm4
	vfmadd132ss	8(%rsi,%rdi), %xmm4, %xmm0
	vmovss	%xmm0, (%rax)
.L14:
	ret
	.p2align 4,,10
	.p2align 3
.L16:
	vzeroupper
	ret
.L8:
	xorl	%edi, %edi
	xorl	%eax, %eax
	jmp	.L3
	.cfi_endproc
.LFE0:
	.size	saxpy, .-saxpy
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
