# CASE: -mcpu=haswell %s
# clip.c: gcc -O3 -march=haswell
	.file	"clip.c"
	.text
	.p2align 4
	.globl	clip
	.type	clip, @function
clip:
.LFB0:
	.cfi_startproc
	movq	%rsi, %rcx
	movl	%edx, %esi
	testl	%edx, %edx
	jle	.L14
	leal	-1(%rdx), %eax
	cmpl	$14, %eax
	jbe	.L8
	movl	%edx, %r8d
	movl	$-32768, %edx
	xorl	%eax, %eax
	vmovd	%edx, %xmm4
	movl	$32767, %edx
	shrl	$4, %r8d
	vmovd	%edx, %xmm3
	movl	$65535, %edx
	salq	$5, %r8
	vpbroadcastd	%xmm4, %ymm4
	vmovd	%edx, %xmm2
	vpbroadcastd	%xmm3, %ymm3
	vpbroadcastd	%xmm2, %ymm2
	.p2align 4,,10
	.p2align 3
.L4:
	vmovdqu	(%rcx,%rax,2), %ymm5
	vmovdqu	32(%rcx,%rax,2), %ymm6
	vpsrad	$4, %ymm5, %ymm0
	vpsrad	$4, %ymm6, %ymm1
	vpmaxsd	%ymm4, %ymm0, %ymm0
	vpmaxsd	%ymm4, %ymm1, %ymm1
	vpminsd	%ymm3, %ymm0, %ymm0
	vpminsd	%ymm3, %ymm1, %ymm1
	vpand	%ymm0, %ymm2, %ymm0
	vpand	%ymm1, %ymm2, %ymm1
	vpackusdw	%ymm1, %ymm0, %ymm0
	vpermq	$216, %ymm0, %ymm0
	vmovdqu	%ymm0, (%rdi,%rax)
	addq	$32, %rax
	cmpq	%rax, %r8
	jne	.L4
	movl	%esi, %eax
	andl	$-16, %eax
	movl	%eax, %edx
	cmpl	%eax, %esi
	je	.L16
	vzeroupper
.L3:
	movl	%esi, %r8d
	subl	%edx, %r8d
	leal	-1(%r8), %r9d
	cmpl	$6, %r9d
	jbe	.L6
	leaq	(%rcx,%rdx,4), %r9
	movl	$-32768, %r10d
	vmovdqu	(%r9), %xmm7
	vmovdqu	16(%r9), %xmm1
	vmovd	%r10d, %xmm3
	movl	$32767, %r10d
	vpshufd	$0, %xmm3, %xmm3
	vmovd	%r10d, %xmm2
	movl	$65535, %r10d
	vpsrad	$4, %xmm7, %xmm0
	vpsrad	$4, %xmm1, %xmm1
	vpshufd	$0, %xmm2, %xmm2
	vpmaxsd	%xmm3, %xmm0, %xmm0
	vpmaxsd	%xmm3, %xmm1, %xmm1
	vpminsd	%xmm2, %xmm0, %xmm0
	vpminsd	%xmm2, %xmm1, %xmm1
	vmovd	%r10d, %xmm2
	vpshufd	$0, %xmm2, %xmm2
	vpand	%xmm0, %xmm2, %xmm0
	vpand	%xmm1, %xmm2, %xmm2
	vpackusdw	%xmm2, %xmm0, %xmm0
	vmovdqu	%xmm0, (%rdi,%rdx,2)
	movl	%r8d, %edx
	andl	$-8, %edx
	addl	%edx, %eax
	andl	$7, %r8d
	je	.L14
.L6:
	movslq	%eax, %r10
	vmovdqa	.LC6(%rip), %xmm1
	movl	$4, %r11d
	sarx	%r11d, (%rcx,%r10,4), %edx
	vmovd	%edx, %xmm0
	leaq	0(,%r10,4), %r9
	leaq	(%r10,%r10), %r8
	vpmaxsd	%xmm1, %xmm0, %xmm0
	vmovdqa	.LC7(%rip), %xmm1
	vpminsd	%xmm1, %xmm0, %xmm0
	vmovd	%xmm0, %edx
	movw	%dx, (%rdi,%r10,2)
	leal	1(%rax), %edx
	cmpl	%edx, %esi
	jle	.L14
	vmovdqa	.LC6(%rip), %xmm1
	sarx	%r11d, 4(%rcx,%r9), %edx
	vmovd	%edx, %xmm0
	vpmaxsd	%xmm1, %xmm0, %xmm0
	vmovdqa	.LC7(%rip), %xmm1
	vpminsd	%xmm1, %xmm0, %xmm0
	vmovd	%xmm0, %edx
	movw	%dx, 2(%rdi,%r8)
	leal	2(%rax), %edx
	cmpl	%edx, %esi
	jle	.L14
	vmovdqa	.LC6(%rip), %xmm1
	sarx	%r11d, 8(%rcx,%r9), %edx
	vmovd	%edx, %xmm0
	vpmaxsd	%xmm1, %xmm0, %xmm0
	vmovdqa	.LC7(%rip), %xmm1
	vpminsd	%xmm1, %xmm0, %xmm0
	vmovd	%xmm0, %edx
	movw	%dx, 4(%rdi,%r8)
	leal	3(%rax), %edx
	cmpl	%edx, %esi
	jle	.L14
	vmovdqa	.LC6(%rip), %xmm1
	sarx	%r11d, 12(%rcx,%r9), %edx
	vmovd	%edx, %xmm0
	vpmaxsd	%xmm1, %xmm0, %xmm0
	vmovdqa	.LC7(%rip), %xmm1
	vpminsd	%xmm1, %xmm0, %xmm0
	vmovd	%xmm0, %edx
	movw	%dx, 6(%rdi,%r8)
	leal	4(%rax), %edx
	cmpl	%edx, %esi
	jle	.L14
	vmovdqa	.LC6(%rip), %xmm1
	sarx	%r11d, 16(%rcx,%r9), %edx
	vmovd	%edx, %xmm0
	vpmaxsd	%xmm1, %xmm0, %xmm0
	vmovdqa	.LC7(%rip), %xmm1
	vpminsd	%xmm1, %xmm0, %xmm0
	vmovd	%xmm0, %edx
	movw	%dx, 8(%rdi,%r8)
	leal	5(%rax), %edx
	cmpl	%edx, %esi
	jle	.L14
	vmovdqa	.LC6(%rip), %xmm1
	sarx	%r11d, 20(%rcx,%r9), %edx
	addl	$6, %eax
	vmovd	%edx, %xmm0
	vpmaxsd	%xmm1, %xmm0, %xmm0
	vmovdqa	.LC7(%rip), %xmm1
	vpminsd	%xmm1, %xmm0, %xmm0
	vmovd	%xmm0, %edx
	movw	%dx, 10(%rdi,%r8)
	cmpl	%eax, %esi
	jle	.L14
	movl	24(%rcx,%r9), %eax
	vmovdqa	.LC6(%rip), %xmm1
	sarl	$4, %eax
	vmovd	%eax, %xmm0
	vpmaxsd	%xmm1, %xmm0, %xmm0
	vmovdqa	.LC7(%rip), %xmm1
	vpminsd	%xmm1, %xmm0, %xmm0
	vmovd	%xmm0, %eax
	movw	%ax, 12(%rdi,%r8)
.L14:
	ret
.L8:
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.L3
.L16:
	vzeroupper
	ret
	.cfi_endproc
.LFE0:
	.size	clip, .-clip
	.section	.rodata.cst16,"aM",@progbits,16
	.align 16
.LC6:
	.long	-32768
	.long	0
	.long	0
	.long	0
	.align 16
.LC7:
	.long	32767
	.long	0
	.long	0
	.long	0
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
