# CASE: -mcpu=znver4 -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# gather.c: clang-19 -O2 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=znver4
	.text
	.file	"gather.c"
	.globl	gather                          # -- Begin function gather
	.p2align	4, 0x90
	.type	gather,@function
gather:                                 # @gather
# %bb.0:
	testl	%ecx, %ecx
	jle	.LBB0_7
# %bb.1:
	movl	%ecx, %eax
	cmpl	$7, %ecx
	ja	.LBB0_3
# %bb.2:
	xorl	%ecx, %ecx
	jmp	.LBB0_6
.LBB0_3:
	movl	$7171, %r8d                     # imm = 0x1C03
	movl	%eax, %ecx
	andl	$2147483640, %ecx               # imm = 0x7FFFFFF8
	xorl	%r9d, %r9d
	bextrl	%r8d, %eax, %r8d
	shlq	$5, %r8
	.p2align	4, 0x90
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	vmovupd	(%rdx,%r9), %ymm0
	kxnorw	%k0, %k0, %k1
	vxorpd	%xmm1, %xmm1, %xmm1
	vgatherdpd	(%rsi,%ymm0,8), %zmm1 {%k1}
	vmovupd	%zmm1, (%rdi,%r9,2)
	addq	$32, %r9
	cmpq	%r9, %r8
	jne	.LBB0_4
# %bb.5:
	cmpl	%eax, %ecx
	je	.LBB0_7
	.p2align	4, 0x90
.LBB0_6:                                # =>This Inner Loop Header: Depth=1
	movslq	(%rdx,%rcx,4), %r8
	vmovsd	(%rsi,%r8,8), %xmm0             # xmm0 = mem[0],zero
	vmovsd	%xmm0, (%rdi,%rcx,8)
	incq	%rcx
	cmpq	%rcx, %rax
	jne	.LBB0_6
.LBB0_7:
	vzeroupper
	retq
.Lfunc_end0:
	.size	gather, .Lfunc_end0-gather
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
