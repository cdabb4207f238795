# CASE: -mcpu=znver3 %s
	.file	"dot.c"
	.text
	.p2align 4
	.globl	dot
	.type	dot, @function
dot:
.LFB0:
	.cfi_startproc
	endbr64
	testl	%edx, %edx
	jle	.L4
	movslq	%edx, %rdx
	xorl	%eax, %eax
	vxorpd	%xmm1, %xmm1, %xmm1
	.p2align 4,,10
	.p2align 3
.L3:
	vmovsd	(%rdi,%rax,8), %xmm0
	vfmadd231sd	(%rsi,%rax,8), %xmm0, %xmm1
	incq	%rax
	cmpq	%rdx, %rax
	jne	.L3
	vmovapd	%xmm1, %xmm0
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	vxorpd	%xmm1, %xmm1, %xmm1
	vmovapd	%xmm1, %xmm0
	ret
	.cfi_endproc
.LFE0:
	.size	dot, .-dot
	.ident	"GCC: (GNU) 13.2.0"
	.section	.note.GNU-stack,"",@progbits

