# CASE: -mcpu=bdver2 -json %s
# bytes.c: gcc -O3 -march=bdver2
	.file	"bytes.c"
	.text
	.p2align 4,,10
	.p2align 3
	.globl	rev
	.type	rev, @function
rev:
.LFB0:
	.cfi_startproc
	movq	%rdi, %r9
	movq	%rsi, %r10
	movl	%edx, %edi
	testl	%edx, %edx
	jle	.L12
	leal	-1(%rdx), %eax
	cmpl	$2, %eax
	jbe	.L8
	movl	%edx, %r8d
	shrl	$2, %r8d
	cmpl	$19, %edx
	jbe	.L9
	vmovdqa	.LC0(%rip), %xmm1
	leal	-5(%r8), %edx
	movq	%r9, %rsi
	andl	$-4, %edx
	movq	%r10, %rcx
	xorl	%eax, %eax
.L5:
	vmovdqu	(%rcx), %xmm3
	vmovdqu	16(%rcx), %xmm4
	prefetcht0	400(%rcx)
	movl	%eax, %r11d
	vmovdqu	32(%rcx), %xmm5
	vmovdqu	48(%rcx), %xmm6
	prefetchw	400(%rsi)
	addq	$64, %rcx
	addq	$64, %rsi
	addl	$4, %eax
	vpshufb	%xmm1, %xmm3, %xmm0
	vmovdqu	%xmm0, -64(%rsi)
	vpshufb	%xmm1, %xmm4, %xmm0
	vmovdqu	%xmm0, -48(%rsi)
	vpshufb	%xmm1, %xmm5, %xmm0
	vmovdqu	%xmm0, -32(%rsi)
	vpshufb	%xmm1, %xmm6, %xmm0
	vmovdqu	%xmm0, -16(%rsi)
	cmpl	%edx, %r11d
	jne	.L5
	addl	$4, %edx
.L4:
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L6:
	vmovdqu	(%rcx,%rax), %xmm2
	incl	%edx
	vpshufb	%xmm1, %xmm2, %xmm0
	vmovdqu	%xmm0, (%rsi,%rax)
	addq	$16, %rax
	cmpl	%r8d, %edx
	jb	.L6
	movl	%edi, %edx
	andl	$-4, %edx
	testb	$3, %dil
	je	.L14
.L3:
	movslq	%edx, %rax
	salq	$2, %rax
	movl	(%r10,%rax), %ecx
	bswap	%ecx
	movl	%ecx, (%r9,%rax)
	leal	1(%rdx), %ecx
	cmpl	%ecx, %edi
	jle	.L12
	movl	4(%r10,%rax), %ecx
	addl	$2, %edx
	bswap	%ecx
	movl	%ecx, 4(%r9,%rax)
	cmpl	%edx, %edi
	jle	.L12
	movl	8(%r10,%rax), %edx
	bswap	%edx
	movl	%edx, 8(%r9,%rax)
.L12:
	ret
	.p2align 4,,7
	.p2align 3
.L14:
	ret
.L8:
	xorl	%edx, %edx
	jmp	.L3
.L9:
	vmovdqa	.LC0(%rip), %xmm1
	movq	%r9, %rsi
	movq	%r10, %rcx
	xorl	%edx, %edx
	jmp	.L4
	.cfi_endproc
.LFE0:
	.size	rev, .-rev
	.section	.rodata.cst16,"aM",@progbits,16
	.align 16
.LC0:
	.byte	3
	.byte	2
	.byte	1
	.byte	0
	.byte	7
	.byte	6
	.byte	5
	.byte	4
	.byte	11
	.byte	10
	.byte	9
	.byte	8
	.byte	15
	.byte	14
	.byte	13
	.byte	12
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
