# CASE: -mcpu=sandybridge -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# bytes.c: clang-19 -O2 -fno-asynchronous-unwind-tables -fno-unroll-loops -march=sandybridge
	.text
	.file	"bytes.c"
	.section	.rodata.cst16,"aM",@progbits,16
	.p2align	4, 0x0                          # -- Begin function rev
.LCPI0_0:
	.byte	3                               # 0x3
	.byte	2                               # 0x2
	.byte	1                               # 0x1
	.byte	0                               # 0x0
	.byte	7                               # 0x7
	.byte	6                               # 0x6
	.byte	5                               # 0x5
	.byte	4                               # 0x4
	.byte	11                              # 0xb
	.byte	10                              # 0xa
	.byte	9                               # 0x9
	.byte	8                               # 0x8
	.byte	15                              # 0xf
	.byte	14                              # 0xe
	.byte	13                              # 0xd
	.byte	12                              # 0xc
	.text
	.globl	rev
	.p2align	4, 0x90
	.type	rev,@function
rev:                                    # @rev
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_7
# %bb.1:
	movl	%edx, %eax
	cmpl	$7, %edx
	ja	.LBB0_3
# %bb.2:
	xorl	%ecx, %ecx
	jmp	.LBB0_6
.LBB0_3:
	movl	%eax, %ecx
	andl	$2147483640, %ecx               # imm = 0x7FFFFFF8
	movl	%eax, %edx
	shrl	$3, %edx
	andl	$268435455, %edx                # imm = 0xFFFFFFF
	shlq	$5, %rdx
	xorl	%r8d, %r8d
	vmovdqa	.LCPI0_0(%rip), %xmm0           # xmm0 = [3,2,1,0,7,6,5,4,11,10,9,8,15,14,13,12]
	.p2align	4, 0x90
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	vmovdqu	(%rsi,%r8), %xmm1
	vmovdqu	16(%rsi,%r8), %xmm2
	vpshufb	%xmm0, %xmm1, %xmm1
	vpshufb	%xmm0, %xmm2, %xmm2
	vmovdqu	%xmm2, 16(%rdi,%r8)
	vmovdqu	%xmm1, (%rdi,%r8)
	addq	$32, %r8
	cmpq	%r8, %rdx
	jne	.LBB0_4
# %bb.5:
	cmpl	%eax, %ecx
	je	.LBB0_7
	.p2align	4, 0x90
.LBB0_6:                                # =>This Inner Loop Header: Depth=1
	movl	(%rsi,%rcx,4), %edx
	bswapl	%edx
	movl	%edx, (%rdi,%rcx,4)
	incq	%rcx
	cmpq	%rcx, %rax
	jne	.LBB0_6
.LBB0_7:
	retq
.Lfunc_end0:
	.size	rev, .Lfunc_end0-rev
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
