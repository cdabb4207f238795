# CASE: -mcpu=haswell %s
	.file	"a.c"
	.text
	.globl	f
	.p2align	4, 0x90
	.type	f,@function
f:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	movl	$N, %eax
	addl	$N+1, %eax
	.set	N, 12
	popq	%rbp
	retq
.Lend:
	.size	f, .Lend-f
	.cfi_endproc
	.section	.rodata.cst16,"aM",@progbits,16
.LC0:	.long	1, 2, 3, 4
	.quad	.LC0
	.ascii	"a \"string\"; addq $1, %rax # no"
	.asciz	"zero"
	.zero	16
	.byte	0x90
	.ident	"GCC"
	.section	".note.GNU-stack","",@progbits

