# CASE: -mcpu=bdver2 %s
# mat.c: clang-19 -O2 -march=bdver2
	.text
	.file	"mat.c"
	.globl	mat                             # -- Begin function mat
	.p2align	4, 0x90
	.type	mat,@function
mat:                                    # @mat
	.cfi_startproc
# %bb.0:
	vmovupd	(%rsi), %ymm1
	vmovupd	32(%rsi), %ymm6
	vinsertf128	$1, 64(%rsi), %ymm1, %ymm7
	vbroadcastsd	(%rdx), %ymm2
	vbroadcastsd	8(%rdx), %ymm3
	vxorpd	%xmm9, %xmm9, %xmm9
	vbroadcastsd	16(%rdx), %ymm4
	vbroadcastsd	24(%rdx), %ymm5
	vperm2f128	$49, 64(%rsi), %ymm1, %ymm0 # ymm0 = ymm1[2,3],mem[2,3]
	vperm2f128	$49, 96(%rsi), %ymm6, %ymm1 # ymm1 = ymm6[2,3],mem[2,3]
	vinsertf128	$1, 96(%rsi), %ymm6, %ymm6
	vunpcklpd	%ymm6, %ymm7, %ymm8     # ymm8 = ymm7[0],ymm6[0],ymm7[2],ymm6[2]
	vunpckhpd	%ymm6, %ymm7, %ymm6     # ymm6 = ymm7[1],ymm6[1],ymm7[3],ymm6[3]
	vbroadcastsd	32(%rdx), %ymm7
	vfmaddpd	%ymm9, %ymm2, %ymm8, %ymm2      # ymm2 = (ymm8 * ymm2) + ymm9
	vfmaddpd	%ymm9, %ymm3, %ymm8, %ymm3      # ymm3 = (ymm8 * ymm3) + ymm9
	vfmaddpd	%ymm9, %ymm4, %ymm8, %ymm4      # ymm4 = (ymm8 * ymm4) + ymm9
	vfmaddpd	%ymm9, %ymm5, %ymm8, %ymm5      # ymm5 = (ymm8 * ymm5) + ymm9
	vfmaddpd	%ymm2, %ymm7, %ymm6, %ymm2      # ymm2 = (ymm6 * ymm7) + ymm2
	vbroadcastsd	40(%rdx), %ymm7
	vfmaddpd	%ymm3, %ymm7, %ymm6, %ymm3      # ymm3 = (ymm6 * ymm7) + ymm3
	vbroadcastsd	48(%rdx), %ymm7
	vfmaddpd	%ymm4, %ymm7, %ymm6, %ymm4      # ymm4 = (ymm6 * ymm7) + ymm4
	vbroadcastsd	56(%rdx), %ymm7
	vfmaddpd	%ymm5, %ymm7, %ymm6, %ymm5      # ymm5 = (ymm6 * ymm7) + ymm5
	vbroadcastsd	64(%rdx), %ymm6
	vunpcklpd	%ymm1, %ymm0, %ymm7     # ymm7 = ymm0[0],ymm1[0],ymm0[2],ymm1[2]
	vunpckhpd	%ymm1, %ymm0, %ymm0     # ymm0 = ymm0[1],ymm1[1],ymm0[3],ymm1[3]
	vbroadcastsd	96(%rdx), %ymm1
	vfmaddpd	%ymm2, %ymm6, %ymm7, %ymm2      # ymm2 = (ymm7 * ymm6) + ymm2
	vbroadcastsd	72(%rdx), %ymm6
	vfmaddpd	%ymm2, %ymm1, %ymm0, %ymm1      # ymm1 = (ymm0 * ymm1) + ymm2
	vbroadcastsd	104(%rdx), %ymm2
	vfmaddpd	%ymm3, %ymm6, %ymm7, %ymm3      # ymm3 = (ymm7 * ymm6) + ymm3
	vbroadcastsd	80(%rdx), %ymm6
	vfmaddpd	%ymm3, %ymm2, %ymm0, %ymm2      # ymm2 = (ymm0 * ymm2) + ymm3
	vbroadcastsd	112(%rdx), %ymm3
	vfmaddpd	%ymm4, %ymm6, %ymm7, %ymm4      # ymm4 = (ymm7 * ymm6) + ymm4
	vbroadcastsd	88(%rdx), %ymm6
	vfmaddpd	%ymm4, %ymm3, %ymm0, %ymm3      # ymm3 = (ymm0 * ymm3) + ymm4
	vbroadcastsd	120(%rdx), %ymm4
	vfmaddpd	%ymm5, %ymm6, %ymm7, %ymm5      # ymm5 = (ymm7 * ymm6) + ymm5
	vfmaddpd	%ymm5, %ymm4, %ymm0, %ymm0      # ymm0 = (ymm0 * ymm4) + ymm5
	vperm2f128	$49, %ymm3, %ymm1, %ymm4 # ymm4 = ymm1[2,3],ymm3[2,3]
	vinsertf128	$1, %xmm3, %ymm1, %ymm1
	vinsertf128	$1, %xmm0, %ymm2, %ymm3
	vperm2f128	$49, %ymm0, %ymm2, %ymm0 # ymm0 = ymm2[2,3],ymm0[2,3]
	vunpcklpd	%ymm3, %ymm1, %ymm2     # ymm2 = ymm1[0],ymm3[0],ymm1[2],ymm3[2]
	vunpckhpd	%ymm3, %ymm1, %ymm1     # ymm1 = ymm1[1],ymm3[1],ymm1[3],ymm3[3]
	vunpcklpd	%ymm0, %ymm4, %ymm3     # ymm3 = ymm4[0],ymm0[0],ymm4[2],ymm0[2]
	vunpckhpd	%ymm0, %ymm4, %ymm0     # ymm0 = ymm4[1],ymm0[1],ymm4[3],ymm0[3]
	vmovups	%ymm1, 32(%rdi)
	vmovups	%ymm2, (%rdi)
	vmovupd	%ymm0, 96(%rdi)
	vmovupd	%ymm3, 64(%rdi)
	vzeroupper
	retq
.Lfunc_end0:
	.size	mat, .Lfunc_end0-mat
	.cfi_endproc
                                        # -- End function
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
