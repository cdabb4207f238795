# CASE: -mcpu=alderlake -timeline -timeline-max-iterations=1 %s
# dpbusd.c: clang-19 -O3 -march=alderlake
	.text
	.file	"dpbusd.c"
	.globl	dp                              # -- Begin function dp
	.p2align	4, 0x90
	.type	dp,@function
dp:                                     # @dp
	.cfi_startproc
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_1
# %bb.2:
	movl	%edx, %ecx
	cmpl	$31, %edx
	ja	.LBB0_4
# %bb.3:
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.LBB0_7
.LBB0_1:
	xorl	%eax, %eax
	retq
.LBB0_4:
	movl	%ecx, %edx
	andl	$2147483616, %edx               # imm = 0x7FFFFFE0
	vpxor	%xmm0, %xmm0, %xmm0
	xorl	%eax, %eax
	vpxor	%xmm1, %xmm1, %xmm1
	vpxor	%xmm2, %xmm2, %xmm2
	vpxor	%xmm3, %xmm3, %xmm3
	.p2align	4, 0x90
.LBB0_5:                                # =>This Inner Loop Header: Depth=1
	vpmovzxbd	(%rdi,%rax), %ymm4      # ymm4 = mem[0],zero,zero,zero,mem[1],zero,zero,zero,mem[2],zero,zero,zero,mem[3],zero,zero,zero,mem[4],zero,zero,zero,mem[5],zero,zero,zero,mem[6],zero,zero,zero,mem[7],zero,zero,zero
	vpmovzxbd	8(%rdi,%rax), %ymm5     # ymm5 = mem[0],zero,zero,zero,mem[1],zero,zero,zero,mem[2],zero,zero,zero,mem[3],zero,zero,zero,mem[4],zero,zero,zero,mem[5],zero,zero,zero,mem[6],zero,zero,zero,mem[7],zero,zero,zero
	vpmovzxbd	16(%rdi,%rax), %ymm6    # ymm6 = mem[0],zero,zero,zero,mem[1],zero,zero,zero,mem[2],zero,zero,zero,mem[3],zero,zero,zero,mem[4],zero,zero,zero,mem[5],zero,zero,zero,mem[6],zero,zero,zero,mem[7],zero,zero,zero
	vpmovzxbd	24(%rdi,%rax), %ymm7    # ymm7 = mem[0],zero,zero,zero,mem[1],zero,zero,zero,mem[2],zero,zero,zero,mem[3],zero,zero,zero,mem[4],zero,zero,zero,mem[5],zero,zero,zero,mem[6],zero,zero,zero,mem[7],zero,zero,zero
	vpmovsxbd	(%rsi,%rax), %ymm8
	{vex}	vpdpwssd	%ymm4, %ymm8, %ymm0
	vpmovsxbd	8(%rsi,%rax), %ymm4
	{vex}	vpdpwssd	%ymm5, %ymm4, %ymm1
	vpmovsxbd	16(%rsi,%rax), %ymm4
	{vex}	vpdpwssd	%ymm6, %ymm4, %ymm2
	vpmovsxbd	24(%rsi,%rax), %ymm4
	{vex}	vpdpwssd	%ymm7, %ymm4, %ymm3
	addq	$32, %rax
	cmpq	%rax, %rdx
	jne	.LBB0_5
# %bb.6:
	vpaddd	%ymm0, %ymm1, %ymm0
	vpaddd	%ymm2, %ymm3, %ymm1
	vpaddd	%ymm0, %ymm1, %ymm0
	vextracti128	$1, %ymm0, %xmm1
	vpaddd	%xmm1, %xmm0, %xmm0
	vpshufd	$238, %xmm0, %xmm1              # xmm1 = xmm0[2,3,2,3]
	vpaddd	%xmm1, %xmm0, %xmm0
	vpshufd	$85, %xmm0, %xmm1               # xmm1 = xmm0[1,1,1,1]
	vpaddd	%xmm1, %xmm0, %xmm0
	vmovd	%xmm0, %eax
	cmpl	%ecx, %edx
	je	.LBB0_8
	.p2align	4, 0x90
.LBB0_7:                                # =>This Inner Loop Header: Depth=1
	movzbl	(%rdi,%rdx), %r8d
	movsbl	(%rsi,%rdx), %r9d
	imull	%r8d, %r9d
	addl	%r9d, %eax
	incq	%rdx
	cmpq	%rdx, %rcx
	jne	.LBB0_7
.LBB0_8:
	vzeroupper
	retq
.Lfunc_end0:
	.size	dp, .Lfunc_end0-dp
	.cfi_endproc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
