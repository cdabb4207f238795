# CASE: -mcpu=nehalem %s
# crc.c: clang-19 -O2 -march=nehalem
	.text
	.file	"crc.c"
	.globl	crc                             # -- Begin function crc
	.p2align	4, 0x90
	.type	crc,@function
crc:                                    # @crc
	.cfi_startproc
# %bb.0:
	movl	%edi, %eax
	testl	%edx, %edx
	je	.LBB0_9
# %bb.1:
	testb	$7, %dl
	je	.LBB0_2
# %bb.3:
	movl	%edx, %edi
	andl	$7, %edi
	xorl	%ecx, %ecx
	.p2align	4, 0x90
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	crc32b	(%rsi,%rcx), %eax
	incq	%rcx
	cmpl	%ecx, %edi
	jne	.LBB0_4
# %bb.5:
	movl	%edx, %edi
	subl	%ecx, %edi
	addq	%rcx, %rsi
	cmpl	$8, %edx
	jae	.LBB0_7
	jmp	.LBB0_9
.LBB0_2:
	movl	%edx, %edi
	cmpl	$8, %edx
	jb	.LBB0_9
.LBB0_7:
	movl	%edi, %ecx
	xorl	%edx, %edx
	.p2align	4, 0x90
.LBB0_8:                                # =>This Inner Loop Header: Depth=1
	crc32b	(%rsi,%rdx), %eax
	crc32b	1(%rsi,%rdx), %eax
	crc32b	2(%rsi,%rdx), %eax
	crc32b	3(%rsi,%rdx), %eax
	crc32b	4(%rsi,%rdx), %eax
	crc32b	5(%rsi,%rdx), %eax
	crc32b	6(%rsi,%rdx), %eax
	crc32b	7(%rsi,%rdx), %eax
	addq	$8, %rdx
	cmpl	%edx, %ecx
	jne	.LBB0_8
.LBB0_9:
	retq
.Lfunc_end0:
	.size	crc, .Lfunc_end0-crc
	.cfi_endproc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
