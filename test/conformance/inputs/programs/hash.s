# CASE: -mcpu=btver2 -timeline -bottleneck-analysis %s
# hash.c: gcc -O2 -march=btver2
	.file	"hash.c"
	.text
	.p2align 4,,10
	.p2align 3
	.globl	hash
	.type	hash, @function
hash:
.LFB0:
	.cfi_startproc
	movzbl	(%rdi), %edx
	movl	$5381, %eax
	testb	%dl, %dl
	je	.L4
	.p2align 4,,10
	.p2align 3
.L3:
	movq	%rax, %rcx
	incq	%rdi
	salq	$5, %rcx
	addq	%rcx, %rax
	xorq	%rdx, %rax
	movzbl	(%rdi), %edx
	testb	%dl, %dl
	jne	.L3
	ret
	.p2align 4,,7
	.p2align 3
.L4:
	ret
	.cfi_endproc
.LFE0:
	.size	hash, .-hash
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
