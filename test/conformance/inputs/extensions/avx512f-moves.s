# CASE: -mcpu=skylake-avx512 -show-encoding %s
# CASE: -mcpu=znver4 %s
vmovaps	%zmm0, %zmm1
vmovaps	(%rdi), %zmm2 {%k1} {z}
vmovupd	%zmm3, 64(%rsi) {%k2}
vmovdqa32	%zmm4, %zmm5 {%k3}
vmovdqa64	128(%rdi), %zmm6
vmovdqu32	%zmm7, 3(%rdx)
vmovdqu64	(%rcx,%rax,8), %zmm8
vmovss	(%rdi), %xmm9 {%k4} {z}
vmovsd	%xmm10, %xmm11, %xmm12 {%k5}
vmovd	%eax, %xmm20
vmovq	%xmm21, %rdx
vmovntdq	%zmm13, (%rdi)
vmovntdqa	(%rsi), %zmm14
vmovddup	%zmm15, %zmm16
vmovsldup	(%rdx), %zmm17
vbroadcastss	%xmm18, %zmm19
vbroadcastsd	(%rdi), %zmm22
vbroadcastf32x4	(%rsi), %zmm23
vbroadcasti64x4	(%rdx), %zmm24
vpbroadcastd	%eax, %zmm25
vpbroadcastq	%xmm26, %zmm27
kmovw	%k1, %k2
kmovw	%eax, %k3
kmovw	(%rdi), %k4
kmovw	%k5, (%rsi)

