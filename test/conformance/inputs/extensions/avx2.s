# CASE: -mcpu=haswell %s
# CASE: -mcpu=znver2 -instruction-tables %s
vpaddb	%ymm0, %ymm1, %ymm2
vpaddq	(%rdi), %ymm3, %ymm4
vpsubusb	%ymm5, %ymm6, %ymm7
vpmulld	%ymm8, %ymm9, %ymm10
vpmuludq	(%rsi), %ymm11, %ymm12
vpmaddubsw	%ymm13, %ymm14, %ymm15
vpand	%ymm0, %ymm1, %ymm2
vpandn	(%rdx), %ymm3, %ymm4
vpxor	%ymm5, %ymm5, %ymm5
vpcmpeqb	%ymm6, %ymm6, %ymm6
vpcmpgtq	%ymm7, %ymm8, %ymm9
vpslld	$5, %ymm10, %ymm11
vpsraw	%xmm12, %ymm13, %ymm14
vpsllvd	%ymm15, %ymm0, %ymm1
vpsrlvq	(%rdi), %ymm2, %ymm3
vpsravd	%xmm4, %xmm5, %xmm6
vpshufb	%ymm7, %ymm8, %ymm9
vpshufd	$0xd8, (%rsi), %ymm10
vpalignr	$4, %ymm11, %ymm12, %ymm13
vpblendd	$0xaa, %ymm14, %ymm15, %ymm0
vpblendvb	%ymm1, %ymm2, %ymm3, %ymm4
vpbroadcastb	%xmm5, %ymm6
vpbroadcastd	(%rdi), %ymm7
vpbroadcastq	%xmm8, %xmm9
vbroadcastsd	%xmm10, %ymm11
vbroadcasti128	(%rsi), %ymm12
vpermd	%ymm13, %ymm14, %ymm15
vpermq	$0x4e, %ymm0, %ymm1
vpermps	(%rdx), %ymm2, %ymm3
vpermpd	$0x1b, %ymm4, %ymm5
vperm2i128	$0x31, %ymm6, %ymm7, %ymm8
vinserti128	$1, (%rdi), %ymm9, %ymm10
vextracti128	$1, %ymm11, %xmm12
vpmovsxbd	%xmm13, %ymm14
vpmovzxwd	(%rsi), %ymm15
vpmovmskb	%ymm0, %eax
vpmaskmovd	(%rdi), %ymm1, %ymm2
vpmaskmovq	%xmm3, %xmm4, (%rsi)
vpgatherdd	%ymm5, (%rdi,%ymm6,4), %ymm7
vpgatherqq	%ymm8, (%rsi,%ymm9,8), %ymm10
vgatherdpd	%xmm11, (%rdx,%xmm12,8), %xmm13
vgatherqps	%xmm14, 16(%rdi,%ymm15), %xmm0
vpsadbw	%ymm1, %ymm2, %ymm3
vpacksswb	%ymm4, %ymm5, %ymm6
vpunpckhdq	(%rdi), %ymm7, %ymm8
vpabsw	%ymm9, %ymm10
vpavgb	%ymm11, %ymm12, %ymm13
vpminud	%ymm14, %ymm15, %ymm0
vpsignw	%ymm1, %ymm2, %ymm3
vphaddd	(%rsi), %ymm4, %ymm5
vmpsadbw	$1, %ymm6, %ymm7, %ymm8
vmovntdqa	(%rdx), %ymm9

