# CASE: -mcpu=lunarlake -resource-pressure -timeline -timeline-max-iterations=1 -dispatch-stats -scheduler-stats -register-file-stats -retire-stats %s
# clip.c: clang-19 -Os -fno-asynchronous-unwind-tables -fno-unroll-loops -march=lunarlake
	.text
	.file	"clip.c"
	.section	.rodata.cst32,"aM",@progbits,32
	.p2align	5, 0x0                          # -- Begin function clip
.LCPI0_0:
	.quad	4                               # 0x4
	.quad	5                               # 0x5
	.quad	6                               # 0x6
	.quad	7                               # 0x7
.LCPI0_1:
	.quad	0                               # 0x0
	.quad	1                               # 0x1
	.quad	2                               # 0x2
	.quad	3                               # 0x3
	.section	.rodata.cst8,"aM",@progbits,8
	.p2align	3, 0x0
.LCPI0_2:
	.quad	-9223372036854775808            # 0x8000000000000000
.LCPI0_5:
	.quad	8                               # 0x8
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2, 0x0
.LCPI0_3:
	.long	4294934528                      # 0xffff8000
.LCPI0_4:
	.long	32767                           # 0x7fff
.LCPI0_6:
	.byte	4                               # 0x4
	.byte	5                               # 0x5
	.byte	6                               # 0x6
	.byte	7                               # 0x7
.LCPI0_7:
	.byte	0                               # 0x0
	.byte	1                               # 0x1
	.byte	2                               # 0x2
	.byte	3                               # 0x3
	.text
	.globl	clip
	.type	clip,@function
clip:                                   # @clip
# %bb.0:
                                        # kill: def $edx killed $edx def $rdx
	testl	%edx, %edx
	jle	.LBB0_19
# %bb.1:
	movl	%edx, %eax
	addl	$7, %edx
	decq	%rax
	vmovq	%rax, %xmm0
	vpbroadcastq	%xmm0, %ymm10
	shrl	$3, %edx
	shlq	$4, %rdx
	vpmovsxbq	.LCPI0_6(%rip), %ymm0   # ymm0 = [4,5,6,7]
	vpmovsxbq	.LCPI0_7(%rip), %ymm1   # ymm1 = [0,1,2,3]
	xorl	%eax, %eax
	vpbroadcastq	.LCPI0_2(%rip), %ymm2   # ymm2 = [9223372036854775808,9223372036854775808,9223372036854775808,9223372036854775808]
	vpxor	%ymm2, %ymm10, %ymm3
	vpcmpeqd	%ymm4, %ymm4, %ymm4
	vpbroadcastd	.LCPI0_3(%rip), %ymm5   # ymm5 = [4294934528,4294934528,4294934528,4294934528,4294934528,4294934528,4294934528,4294934528]
	vpbroadcastd	.LCPI0_4(%rip), %ymm6   # ymm6 = [32767,32767,32767,32767,32767,32767,32767,32767]
	vpbroadcastq	.LCPI0_2(%rip), %xmm7   # xmm7 = [9223372036854775808,9223372036854775808]
	vpxor	%xmm7, %xmm10, %xmm8
	vpcmpeqd	%xmm9, %xmm9, %xmm9
	vpxor	%xmm7, %xmm10, %xmm10
	vpbroadcastq	.LCPI0_5(%rip), %ymm11  # ymm11 = [8,8,8,8]
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	vpxor	%ymm2, %ymm1, %ymm12
	vpcmpgtq	%ymm3, %ymm12, %ymm14
	vpxor	%ymm2, %ymm0, %ymm12
	vpcmpgtq	%ymm3, %ymm12, %ymm12
	vpackssdw	%ymm12, %ymm14, %ymm13
	vpxor	%ymm4, %ymm13, %ymm13
	vextracti128	$1, %ymm13, %xmm15
	vpackssdw	%xmm15, %xmm13, %xmm15
	vpshufd	$216, %xmm15, %xmm13            # xmm13 = xmm15[0,2,1,3]
	vpmovzxwd	%xmm13, %ymm13          # ymm13 = xmm13[0],zero,xmm13[1],zero,xmm13[2],zero,xmm13[3],zero,xmm13[4],zero,xmm13[5],zero,xmm13[6],zero,xmm13[7],zero
	vpslld	$31, %ymm13, %ymm13
	vpmaskmovd	(%rsi,%rax,2), %ymm13, %ymm13
	vpsrad	$4, %ymm13, %ymm13
	vpmaxsd	%ymm5, %ymm13, %ymm13
	vpminsd	%ymm6, %ymm13, %ymm13
	vmovd	%xmm15, %ecx
	testb	$1, %cl
	je	.LBB0_4
# %bb.3:                                #   in Loop: Header=BB0_2 Depth=1
	vpextrw	$0, %xmm13, (%rdi,%rax)
.LBB0_4:                                #   in Loop: Header=BB0_2 Depth=1
	vpxor	%xmm7, %xmm1, %xmm15
	vpcmpgtq	%xmm8, %xmm15, %xmm15
	vpackssdw	%xmm15, %xmm15, %xmm15
	vpxor	%xmm9, %xmm15, %xmm15
	vpackssdw	%xmm15, %xmm15, %xmm15
	vpextrb	$2, %xmm15, %ecx
	testb	$1, %cl
	je	.LBB0_6
# %bb.5:                                #   in Loop: Header=BB0_2 Depth=1
	vpextrw	$2, %xmm13, 2(%rdi,%rax)
.LBB0_6:                                #   in Loop: Header=BB0_2 Depth=1
	vpackssdw	%ymm0, %ymm14, %ymm15
	vextracti128	$1, %ymm15, %xmm15
	vpxor	%xmm9, %xmm15, %xmm15
	vpackssdw	%xmm15, %xmm15, %xmm15
	vpextrb	$8, %xmm15, %ecx
	testb	$1, %cl
	je	.LBB0_8
# %bb.7:                                #   in Loop: Header=BB0_2 Depth=1
	vpextrw	$4, %xmm13, 4(%rdi,%rax)
.LBB0_8:                                #   in Loop: Header=BB0_2 Depth=1
	vpackssdw	%ymm0, %ymm14, %ymm14
	vextracti128	$1, %ymm14, %xmm14
	vpxor	%xmm9, %xmm14, %xmm14
	vpackssdw	%xmm14, %xmm14, %xmm14
	vpextrb	$10, %xmm14, %ecx
	testb	$1, %cl
	je	.LBB0_10
# %bb.9:                                #   in Loop: Header=BB0_2 Depth=1
	vpextrw	$6, %xmm13, 6(%rdi,%rax)
.LBB0_10:                               #   in Loop: Header=BB0_2 Depth=1
	vpxor	%xmm7, %xmm0, %xmm14
	vpcmpgtq	%xmm10, %xmm14, %xmm14
	vpackssdw	%xmm14, %xmm14, %xmm14
	vpxor	%xmm9, %xmm14, %xmm14
	vpackssdw	%xmm14, %xmm14, %xmm14
	vpextrb	$4, %xmm14, %ecx
	testb	$1, %cl
	je	.LBB0_12
# %bb.11:                               #   in Loop: Header=BB0_2 Depth=1
	vextracti128	$1, %ymm13, %xmm14
	vpextrw	$0, %xmm14, 8(%rdi,%rax)
.LBB0_12:                               #   in Loop: Header=BB0_2 Depth=1
	vpxor	%xmm7, %xmm0, %xmm14
	vpcmpgtq	%xmm10, %xmm14, %xmm14
	vpackssdw	%xmm14, %xmm14, %xmm14
	vpxor	%xmm9, %xmm14, %xmm14
	vpackssdw	%xmm14, %xmm14, %xmm14
	vpextrb	$6, %xmm14, %ecx
	testb	$1, %cl
	je	.LBB0_14
# %bb.13:                               #   in Loop: Header=BB0_2 Depth=1
	vextracti128	$1, %ymm13, %xmm14
	vpextrw	$2, %xmm14, 10(%rdi,%rax)
.LBB0_14:                               #   in Loop: Header=BB0_2 Depth=1
	vpackssdw	%ymm12, %ymm0, %ymm14
	vextracti128	$1, %ymm14, %xmm14
	vpxor	%xmm9, %xmm14, %xmm14
	vpackssdw	%xmm14, %xmm14, %xmm14
	vpextrb	$12, %xmm14, %ecx
	testb	$1, %cl
	je	.LBB0_16
# %bb.15:                               #   in Loop: Header=BB0_2 Depth=1
	vextracti128	$1, %ymm13, %xmm14
	vpextrw	$4, %xmm14, 12(%rdi,%rax)
.LBB0_16:                               #   in Loop: Header=BB0_2 Depth=1
	vpshufhw	$132, %ymm12, %ymm12            # ymm12 = ymm12[0,1,2,3,4,5,4,6,8,9,10,11,12,13,12,14]
	vextracti128	$1, %ymm12, %xmm12
	vpxor	%xmm9, %xmm12, %xmm12
	vpackssdw	%xmm12, %xmm12, %xmm12
	vpextrb	$14, %xmm12, %ecx
	testb	$1, %cl
	je	.LBB0_18
# %bb.17:                               #   in Loop: Header=BB0_2 Depth=1
	vextracti128	$1, %ymm13, %xmm12
	vpextrw	$6, %xmm12, 14(%rdi,%rax)
.LBB0_18:                               #   in Loop: Header=BB0_2 Depth=1
	vpaddq	%ymm1, %ymm11, %ymm1
	vpaddq	%ymm0, %ymm11, %ymm0
	addq	$16, %rax
	cmpq	%rax, %rdx
	jne	.LBB0_2
.LBB0_19:
	vzeroupper
	retq
.Lfunc_end0:
	.size	clip, .Lfunc_end0-clip
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
