# CASE: -mcpu=x86-64 %s
# dot.c: gcc -Os -march=x86-64
	.file	"dot.c"
	.text
	.globl	dot
	.type	dot, @function
dot:
.LFB0:
	.cfi_startproc
	xorl	%eax, %eax
	xorps	%xmm0, %xmm0
.L2:
	cmpl	%eax, %edx
	jle	.L5
	movsd	(%rdi,%rax,8), %xmm1
	mulsd	(%rsi,%rax,8), %xmm1
	incq	%rax
	addsd	%xmm1, %xmm0
	jmp	.L2
.L5:
	ret
	.cfi_endproc
.LFE0:
	.size	dot, .-dot
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
