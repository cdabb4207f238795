# CASE: -mcpu=skylake-avx512 %s
# gather.c: gcc -O3 -march=skylake-avx512
	.file	"gather.c"
	.text
	.p2align 4
	.globl	gather
	.type	gather, @function
gather:
.LFB0:
	.cfi_startproc
	testl	%ecx, %ecx
	jle	.L14
	leal	-1(%rcx), %eax
	cmpl	$6, %eax
	jbe	.L8
	movl	%ecx, %r8d
	shrl	$3, %r8d
	salq	$5, %r8
	xorl	%eax, %eax
	kxnorb	%k1, %k1, %k1
	.p2align 4,,10
	.p2align 3
.L4:
	vmovdqu	(%rdx,%rax), %ymm0
	kmovb	%k1, %k2
	vgatherdpd	(%rsi,%xmm0,8), %ymm2{%k2}
	vperm2i128	$17, %ymm0, %ymm0, %ymm0
	kmovb	%k1, %k3
	vgatherdpd	(%rsi,%xmm0,8), %ymm1{%k3}
	vmovupd	%ymm1, 32(%rdi,%rax,2)
	vmovupd	%ymm2, (%rdi,%rax,2)
	addq	$32, %rax
	cmpq	%rax, %r8
	jne	.L4
	movl	%ecx, %eax
	andl	$-8, %eax
	movl	%eax, %r8d
	cmpl	%eax, %ecx
	je	.L16
	vzeroupper
.L3:
	movl	%ecx, %r9d
	subl	%r8d, %r9d
	leal	-1(%r9), %r10d
	cmpl	$2, %r10d
	jbe	.L6
	vmovdqu	(%rdx,%r8,4), %xmm0
	leaq	(%rdi,%r8,8), %r10
	movl	%r9d, %r8d
	andl	$-4, %r8d
	kxnorb	%k1, %k1, %k1
	kmovb	%k1, %k4
	vgatherdpd	(%rsi,%xmm0,8), %xmm2{%k4}
	vpshufd	$238, %xmm0, %xmm0
	vgatherdpd	(%rsi,%xmm0,8), %xmm1{%k1}
	addl	%r8d, %eax
	andl	$3, %r9d
	vmovupd	%xmm2, (%r10)
	vmovupd	%xmm1, 16(%r10)
	je	.L14
.L6:
	movslq	%eax, %r8
	movslq	(%rdx,%r8,4), %r11
	leaq	0(,%r8,4), %r10
	vmovsd	(%rsi,%r11,8), %xmm0
	leaq	0(,%r8,8), %r9
	vmovsd	%xmm0, (%rdi,%r8,8)
	leal	1(%rax), %r8d
	cmpl	%r8d, %ecx
	jle	.L14
	movslq	4(%rdx,%r10), %r8
	addl	$2, %eax
	vmovsd	(%rsi,%r8,8), %xmm0
	vmovsd	%xmm0, 8(%rdi,%r9)
	cmpl	%eax, %ecx
	jle	.L14
	movslq	8(%rdx,%r10), %rax
	vmovsd	(%rsi,%rax,8), %xmm0
	vmovsd	%xmm0, 16(%rdi,%r9)
.L14:
	ret
	.p2align 4,,10
	.p2align 3
.L16:
	vzeroupper
	ret
.L8:
	xorl	%r8d, %r8d
	xorl	%eax, %eax
	jmp	.L3
	.cfi_endproc
.LFE0:
	.size	gather, .-gather
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
