# CASE: -mcpu=cooperlake -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# clip.c: clang-19 -O1 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=cooperlake
	.text
	.file	"clip.c"
	.globl	clip                            # -- Begin function clip
	.p2align	4, 0x90
	.type	clip,@function
clip:                                   # @clip
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_3
# %bb.1:
	movl	%edx, %eax
	xorl	%ecx, %ecx
	movl	$-32768, %edx                   # imm = 0x8000
	movl	$32767, %r8d                    # imm = 0x7FFF
	.p2align	4, 0x90
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	movl	(%rsi,%rcx,4), %r9d
	sarl	$4, %r9d
	cmpl	$-32767, %r9d                   # imm = 0x8001
	cmovll	%edx, %r9d
	cmpl	$32767, %r9d                    # imm = 0x7FFF
	cmovgel	%r8d, %r9d
	movw	%r9w, (%rdi,%rcx,2)
	incq	%rcx
	cmpq	%rcx, %rax
	jne	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	clip, .Lfunc_end0-clip
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
