# CASE: -mcpu=broadwell %s
# add128.c: clang-19 -O2 -march=broadwell
	.text
	.file	"add128.c"
	.globl	add                             # -- Begin function add
	.p2align	4, 0x90
	.type	add,@function
add:                                    # @add
	.cfi_startproc
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_6
# %bb.1:
	movl	%edx, %r8d
	movl	%r8d, %eax
	andl	$3, %eax
	cmpl	$4, %edx
	jae	.LBB0_7
# %bb.2:
	xorl	%r9d, %r9d
	xorl	%r10d, %r10d
	xorl	%ecx, %ecx
	testq	%rax, %rax
	jne	.LBB0_4
	jmp	.LBB0_6
.LBB0_7:
	pushq	%r14
	.cfi_def_cfa_offset 16
	pushq	%rbx
	.cfi_def_cfa_offset 24
	.cfi_offset %rbx, -24
	.cfi_offset %r14, -16
	andl	$2147483644, %r8d               # imm = 0x7FFFFFFC
	xorl	%ecx, %ecx
	xorl	%r9d, %r9d
	xorl	%r10d, %r10d
	xorl	%r11d, %r11d
	.p2align	4, 0x90
.LBB0_8:                                # =>This Inner Loop Header: Depth=1
	movl	$7, %edx
	mulxq	(%rsi,%r9,8), %rdx, %rbx
	addq	(%rdi,%r9,8), %r10
	adcq	$0, %r11
	addq	%rdx, %r10
	movq	%r10, (%rdi,%r9,8)
	movl	$7, %edx
	mulxq	8(%rsi,%r9,8), %rdx, %r10
	adcq	%rbx, %r11
	xorl	%ebx, %ebx
	addq	8(%rdi,%r9,8), %r11
	setb	%bl
	addq	%rdx, %r11
	movq	%r11, 8(%rdi,%r9,8)
	movl	$7, %edx
	mulxq	16(%rsi,%r9,8), %rdx, %r11
	adcq	%r10, %rbx
	xorl	%r14d, %r14d
	addq	16(%rdi,%r9,8), %rbx
	setb	%r14b
	addq	%rdx, %rbx
	movq	%rbx, 16(%rdi,%r9,8)
	movl	$7, %edx
	mulxq	24(%rsi,%r9,8), %rbx, %rdx
	adcq	%r11, %r14
	xorl	%r10d, %r10d
	addq	24(%rdi,%r9,8), %r14
	setb	%r10b
	addq	%rbx, %r14
	adcq	%rdx, %r10
	movq	%r14, 24(%rdi,%r9,8)
	addq	$4, %r9
	movl	$0, %r11d
	cmpq	%r9, %r8
	jne	.LBB0_8
# %bb.9:
	popq	%rbx
	.cfi_def_cfa_offset 16
	popq	%r14
	.cfi_def_cfa_offset 8
	.cfi_restore %rbx
	.cfi_restore %r14
	testq	%rax, %rax
	je	.LBB0_6
.LBB0_4:
	leaq	(%rdi,%r9,8), %rdi
	leaq	(%rsi,%r9,8), %rsi
	xorl	%r8d, %r8d
	.p2align	4, 0x90
.LBB0_5:                                # =>This Inner Loop Header: Depth=1
	movl	$7, %edx
	mulxq	(%rsi,%r8,8), %r9, %rdx
	addq	(%rdi,%r8,8), %r10
	adcq	$0, %rcx
	addq	%r9, %r10
	adcq	%rdx, %rcx
	movq	%r10, (%rdi,%r8,8)
	incq	%r8
	movq	%rcx, %r10
	movl	$0, %ecx
	cmpq	%r8, %rax
	jne	.LBB0_5
.LBB0_6:
	retq
.Lfunc_end0:
	.size	add, .Lfunc_end0-add
	.cfi_endproc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
