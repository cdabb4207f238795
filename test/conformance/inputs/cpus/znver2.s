# CASE: -mcpu=znver2 -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# clip.c: clang-19 -O2 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=znver2
	.text
	.file	"clip.c"
	.globl	clip                            # -- Begin function clip
	.p2align	4, 0x90
	.type	clip,@function
clip:                                   # @clip
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_8
# %bb.1:
	movl	%edx, %eax
	cmpl	$7, %edx
	ja	.LBB0_5
# %bb.2:
	xorl	%ecx, %ecx
	jmp	.LBB0_3
.LBB0_5:
	movl	%eax, %edx
	movl	%eax, %ecx
	xorl	%r8d, %r8d
	shrl	$3, %edx
	andl	$2147483640, %ecx               # imm = 0x7FFFFFF8
	shll	$4, %edx
	.p2align	4, 0x90
.LBB0_6:                                # =>This Inner Loop Header: Depth=1
	vmovdqu	(%rsi,%r8,2), %ymm0
	vpsrad	$4, %ymm0, %ymm0
	vextracti128	$1, %ymm0, %xmm1
	vpackssdw	%xmm1, %xmm0, %xmm0
	vmovdqu	%xmm0, (%rdi,%r8)
	addq	$16, %r8
	cmpq	%r8, %rdx
	jne	.LBB0_6
# %bb.7:
	cmpl	%eax, %ecx
	je	.LBB0_8
.LBB0_3:
	movl	$-32768, %edx                   # imm = 0x8000
	movl	$32767, %r8d                    # imm = 0x7FFF
	.p2align	4, 0x90
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	movl	(%rsi,%rcx,4), %r9d
	sarl	$4, %r9d
	cmpl	$-32767, %r9d                   # imm = 0x8001
	cmovll	%edx, %r9d
	cmpl	$32767, %r9d                    # imm = 0x7FFF
	cmovgel	%r8d, %r9d
	movw	%r9w, (%rdi,%rcx,2)
	incq	%rcx
	cmpq	%rcx, %rax
	jne	.LBB0_4
.LBB0_8:
	vzeroupper
	retq
.Lfunc_end0:
	.size	clip, .Lfunc_end0-clip
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
