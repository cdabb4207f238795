# CASE: -mcpu=btver2 %s
# sad.c: gcc -O3 -march=btver2
	.file	"sad.c"
	.text
	.p2align 4,,10
	.p2align 3
	.globl	sad
	.type	sad, @function
sad:
.LFB0:
	.cfi_startproc
	testl	%edx, %edx
	movq	%rdi, %r8
	movl	%edx, %r10d
	movq	%rsi, %rdi
	jle	.L10
	leal	-1(%rdx), %eax
	cmpl	$14, %eax
	jbe	.L11
	movl	%edx, %r9d
	shrl	$4, %r9d
	cmpl	$79, %edx
	jbe	.L12
	leal	-5(%r9), %edx
	movq	%r8, %rcx
	andl	$-4, %edx
	xorl	%eax, %eax
	vpxor	%xmm0, %xmm0, %xmm0
.L5:
	vmovdqu	(%rcx), %xmm1
	movl	%eax, %r11d
	prefetcht0	400(%rcx)
	addl	$4, %eax
	addq	$64, %rcx
	prefetcht0	400(%rsi)
	addq	$64, %rsi
	vpsadbw	-64(%rsi), %xmm1, %xmm1
	vpaddd	%xmm1, %xmm0, %xmm0
	vmovdqu	-48(%rcx), %xmm1
	vpsadbw	-48(%rsi), %xmm1, %xmm1
	vpaddd	%xmm1, %xmm0, %xmm0
	vmovdqu	-32(%rcx), %xmm1
	vpsadbw	-32(%rsi), %xmm1, %xmm1
	vpaddd	%xmm1, %xmm0, %xmm0
	vmovdqu	-16(%rcx), %xmm1
	vpsadbw	-16(%rsi), %xmm1, %xmm1
	cmpl	%edx, %r11d
	vpaddd	%xmm1, %xmm0, %xmm0
	jne	.L5
	addl	$4, %edx
.L4:
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L6:
	vmovdqu	(%rcx,%rax), %xmm1
	incl	%edx
	vpsadbw	(%rsi,%rax), %xmm1, %xmm1
	addq	$16, %rax
	cmpl	%r9d, %edx
	vpaddd	%xmm1, %xmm0, %xmm0
	jb	.L6
	vpsrldq	$8, %xmm0, %xmm1
	movl	%r10d, %edx
	vpaddd	%xmm1, %xmm0, %xmm1
	andl	$-16, %edx
	vpsrldq	$4, %xmm1, %xmm2
	cmpl	%edx, %r10d
	vpaddd	%xmm2, %xmm1, %xmm1
	movl	%edx, %ecx
	vmovd	%xmm1, %eax
	vmovdqa	%xmm0, %xmm1
	vpsrldq	$8, %xmm0, %xmm0
	vpaddd	%xmm0, %xmm1, %xmm0
	je	.L19
.L3:
	movl	%r10d, %esi
	subl	%ecx, %esi
	leal	-1(%rsi), %r9d
	cmpl	$6, %r9d
	jbe	.L8
	movl	%ecx, %eax
	movl	%esi, %ecx
	vmovq	(%rdi,%rax), %xmm2
	andl	$-8, %ecx
	vmovq	(%r8,%rax), %xmm1
	addl	%ecx, %edx
	andl	$7, %esi
	vpsadbw	%xmm2, %xmm1, %xmm1
	vpxor	%xmm2, %xmm2, %xmm2
	vpaddd	%xmm1, %xmm0, %xmm0
	vpshufb	.LC1(%rip), %xmm2, %xmm2
	vpshufb	.LC0(%rip), %xmm0, %xmm1
	vpor	%xmm2, %xmm1, %xmm1
	vpaddd	%xmm1, %xmm0, %xmm0
	vmovd	%xmm0, %eax
	je	.L1
.L8:
	movslq	%edx, %rsi
	movzbl	(%r8,%rsi), %ecx
	movzbl	(%rdi,%rsi), %esi
	subl	%esi, %ecx
	movl	%ecx, %esi
	negl	%esi
	cmovns	%esi, %ecx
	addl	%ecx, %eax
	leal	1(%rdx), %ecx
	cmpl	%ecx, %r10d
	jle	.L1
	movslq	%ecx, %rcx
	movzbl	(%r8,%rcx), %esi
	movzbl	(%rdi,%rcx), %r9d
	subl	%r9d, %esi
	movl	%esi, %ecx
	negl	%esi
	cmovns	%esi, %ecx
	addl	%ecx, %eax
	leal	2(%rdx), %ecx
	cmpl	%ecx, %r10d
	jle	.L1
	movslq	%ecx, %rcx
	movzbl	(%r8,%rcx), %esi
	movzbl	(%rdi,%rcx), %r9d
	subl	%r9d, %esi
	movl	%esi, %ecx
	negl	%esi
	cmovns	%esi, %ecx
	addl	%ecx, %eax
	leal	3(%rdx), %ecx
	cmpl	%r10d, %ecx
	jge	.L1
	movslq	%ecx, %rcx
	movzbl	(%r8,%rcx), %esi
	movzbl	(%rdi,%rcx), %r9d
	subl	%r9d, %esi
	movl	%esi, %ecx
	negl	%esi
	cmovns	%esi, %ecx
	addl	%ecx, %eax
	leal	4(%rdx), %ecx
	cmpl	%ecx, %r10d
	jle	.L1
	movslq	%ecx, %rcx
	movzbl	(%r8,%rcx), %esi
	movzbl	(%rdi,%rcx), %r9d
	subl	%r9d, %esi
	movl	%esi, %ecx
	negl	%esi
	cmovns	%esi, %ecx
	addl	%ecx, %eax
	leal	5(%rdx), %ecx
	cmpl	%ecx, %r10d
	jle	.L1
	movslq	%ecx, %rcx
	movzbl	(%r8,%rcx), %esi
	movzbl	(%rdi,%rcx), %r9d
	subl	%r9d, %esi
	movl	%esi, %ecx
	negl	%esi
	cmovns	%esi, %ecx
	addl	$6, %edx
	addl	%ecx, %eax
	cmpl	%edx, %r10d
	jle	.L1
	movslq	%edx, %rdx
	movzbl	(%r8,%rdx), %ecx
	movzbl	(%rdi,%rdx), %esi
	movl	%ecx, %edx
	subl	%esi, %edx
	movl	%edx, %ecx
	negl	%ecx
	cmovns	%ecx, %edx
	addl	%edx, %eax
	ret
	.p2align 4,,7
	.p2align 3
.L10:
	xorl	%eax, %eax
.L1:
	ret
.L11:
	xorl	%ecx, %ecx
	xorl	%edx, %edx
	xorl	%eax, %eax
	vpxor	%xmm0, %xmm0, %xmm0
	jmp	.L3
.L12:
	movq	%r8, %rcx
	xorl	%edx, %edx
	vpxor	%xmm0, %xmm0, %xmm0
	jmp	.L4
.L19:
	ret
	.cfi_endproc
.LFE0:
	.size	sad, .-sad
	.section	.rodata.cst16,"aM",@progbits,16
	.align 16
.LC0:
	.byte	4
	.byte	5
	.byte	6
	.byte	7
	.byte	-128
	.byte	-128
	.byte	-128
	.byte	-128
	.byte	-128
	.byte	-128
	.byte	-128
	.byte	-128
	.byte	-128
	.byte	-128
	.byte	-128
	.byte	-128
	.align 16
.LC1:
	.byte	-128
	.byte	-128
	.byte	-128
	.byte	-128
	.byte	0
	.byte	1
	.byte	2
	.byte	3
	.byte	-128
	.byte	-128
	.byte	-128
	.byte	-128
	.byte	-128
	.byte	-128
	.byte	-128
	.byte	-128
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
