# CASE: -mcpu=znver2 %s
# count.c: clang-19 -O2 -march=znver2
	.text
	.file	"count.c"
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2, 0x0                          # -- Begin function count
.LCPI0_0:
	.long	1                               # 0x1
	.text
	.globl	count
	.p2align	4, 0x90
	.type	count,@function
count:                                  # @count
	.cfi_startproc
# %bb.0:
	testl	%edx, %edx
	jle	.LBB0_1
# %bb.3:
	movl	%edx, %ecx
	cmpl	$31, %edx
	ja	.LBB0_5
# %bb.4:
	xorl	%edx, %edx
	xorl	%eax, %eax
	jmp	.LBB0_8
.LBB0_1:
	xorl	%eax, %eax
	retq
.LBB0_5:
	vpbroadcastd	.LCPI0_0(%rip), %ymm2   # ymm2 = [1,1,1,1,1,1,1,1]
	vmovd	%esi, %xmm0
	movl	%ecx, %edx
	xorl	%eax, %eax
	vpxor	%xmm3, %xmm3, %xmm3
	vpxor	%xmm4, %xmm4, %xmm4
	vpxor	%xmm5, %xmm5, %xmm5
	andl	$2147483616, %edx               # imm = 0x7FFFFFE0
	vpbroadcastb	%xmm0, %xmm1
	vpxor	%xmm0, %xmm0, %xmm0
	.p2align	4, 0x90
.LBB0_6:                                # =>This Inner Loop Header: Depth=1
	vmovq	(%rdi,%rax), %xmm6              # xmm6 = mem[0],zero
	vmovq	8(%rdi,%rax), %xmm7             # xmm7 = mem[0],zero
	vmovq	16(%rdi,%rax), %xmm8            # xmm8 = mem[0],zero
	vmovq	24(%rdi,%rax), %xmm9            # xmm9 = mem[0],zero
	addq	$32, %rax
	vpcmpeqb	%xmm1, %xmm6, %xmm6
	vpmovzxbd	%xmm6, %ymm6            # ymm6 = xmm6[0],zero,zero,zero,xmm6[1],zero,zero,zero,xmm6[2],zero,zero,zero,xmm6[3],zero,zero,zero,xmm6[4],zero,zero,zero,xmm6[5],zero,zero,zero,xmm6[6],zero,zero,zero,xmm6[7],zero,zero,zero
	vpand	%ymm2, %ymm6, %ymm6
	vpaddd	%ymm6, %ymm0, %ymm0
	vpcmpeqb	%xmm1, %xmm7, %xmm6
	vpmovzxbd	%xmm6, %ymm6            # ymm6 = xmm6[0],zero,zero,zero,xmm6[1],zero,zero,zero,xmm6[2],zero,zero,zero,xmm6[3],zero,zero,zero,xmm6[4],zero,zero,zero,xmm6[5],zero,zero,zero,xmm6[6],zero,zero,zero,xmm6[7],zero,zero,zero
	vpand	%ymm2, %ymm6, %ymm6
	vpaddd	%ymm6, %ymm3, %ymm3
	vpcmpeqb	%xmm1, %xmm8, %xmm6
	vpmovzxbd	%xmm6, %ymm6            # ymm6 = xmm6[0],zero,zero,zero,xmm6[1],zero,zero,zero,xmm6[2],zero,zero,zero,xmm6[3],zero,zero,zero,xmm6[4],zero,zero,zero,xmm6[5],zero,zero,zero,xmm6[6],zero,zero,zero,xmm6[7],zero,zero,zero
	vpand	%ymm2, %ymm6, %ymm6
	vpaddd	%ymm6, %ymm4, %ymm4
	vpcmpeqb	%xmm1, %xmm9, %xmm6
	vpmovzxbd	%xmm6, %ymm6            # ymm6 = xmm6[0],zero,zero,zero,xmm6[1],zero,zero,zero,xmm6[2],zero,zero,zero,xmm6[3],zero,zero,zero,xmm6[4],zero,zero,zero,xmm6[5],zero,zero,zero,xmm6[6],zero,zero,zero,xmm6[7],zero,zero,zero
	vpand	%ymm2, %ymm6, %ymm6
	vpaddd	%ymm6, %ymm5, %ymm5
	cmpq	%rax, %rdx
	jne	.LBB0_6
# %bb.7:
	vpaddd	%ymm0, %ymm3, %ymm0
	vpaddd	%ymm0, %ymm4, %ymm0
	vpaddd	%ymm0, %ymm5, %ymm0
	vextracti128	$1, %ymm0, %xmm1
	vpaddd	%xmm1, %xmm0, %xmm0
	vpshufd	$238, %xmm0, %xmm1              # xmm1 = xmm0[2,3,2,3]
	vpaddd	%xmm1, %xmm0, %xmm0
	vpshufd	$85, %xmm0, %xmm1               # xmm1 = xmm0[1,1,1,1]
	vpaddd	%xmm1, %xmm0, %xmm0
	vmovd	%xmm0, %eax
	cmpl	%ecx, %edx
	je	.LBB0_2
	.p2align	4, 0x90
.LBB0_8:                                # =>This Inner Loop Header: Depth=1
	xorl	%r8d, %r8d
	cmpb	%sil, (%rdi,%rdx)
	sete	%r8b
	incq	%rdx
	addl	%r8d, %eax
	cmpq	%rdx, %rcx
	jne	.LBB0_8
.LBB0_2:
	vzeroupper
	retq
.Lfunc_end0:
	.size	count, .Lfunc_end0-count
	.cfi_endproc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
