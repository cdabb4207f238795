# CASE: -mcpu=tigerlake %s
# bsearch.c: gcc -O2 -fcf-protection=full -fstack-protector-all -march=tigerlake
	.file	"bsearch.c"
	.text
	.p2align 4
	.globl	lower
	.type	lower, @function
lower:
.LFB0:
	.cfi_startproc
	endbr64
	subq	$24, %rsp
	.cfi_def_cfa_offset 32
	movq	%fs:40, %rax
	movq	%rax, 8(%rsp)
	xorl	%eax, %eax
	xorl	%r8d, %r8d
	jmp	.L3
	.p2align 4,,10
	.p2align 3
.L4:
	movq	%rsi, %rax
	sarq	%rax
	leaq	(%r8,%rax), %rcx
	cmpl	%edx, (%rdi,%rcx,4)
	jl	.L9
	movq	%rax, %rsi
.L3:
	testq	%rsi, %rsi
	jg	.L4
	movq	8(%rsp), %rax
	subq	%fs:40, %rax
	jne	.L10
	movq	%r8, %rax
	addq	$24, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
	.p2align 4,,10
	.p2align 3
.L9:
	.cfi_restore_state
	incq	%rax
	addq	%rax, %r8
	subq	%rax, %rsi
	jmp	.L3
.L10:
	call	__stack_chk_fail@PLT
	.cfi_endproc
.LFE0:
	.size	lower, .-lower
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
	.section	.note.gnu.property,"a"
	.align 8
	.long	1f - 0f
	.long	4f - 1f
	.long	5
0:
	.string	"GNU"
1:
	.align 8
	.long	0xc0000002
	.long	3f - 2f
2:
	.long	0x3
3:
	.align 8
4:
