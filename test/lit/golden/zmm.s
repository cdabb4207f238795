# 512-bit vectors with masks, a broadcast and a gather.
# RUN: cd %S && incc-mca -mcpu=skylake-avx512 -timeline -timeline-max-iterations=2 zmm.s | %golden zmm.golden
#
# To see: the gather is the load of its eight elements one by one, 4 cycles of both load ports, and the largest load of
# a port. But it clears its mask when it is done, and kxnorw, which sets it again, is no idiom that is independent of
# its input: each gather waits for the one before. Without that chain, the ports would be the limit.
.L2:
	vmovupd	(%rsi,%rax), %zmm1
	vmovupd	64(%rsi,%rax), %zmm2
	vfmadd231pd	(%rdx){1to8}, %zmm1, %zmm3
	vfmadd231pd	%zmm2, %zmm4, %zmm5
	vcmppd	$1, %zmm1, %zmm2, %k1
	vaddpd	%zmm2, %zmm6, %zmm6{%k1}
	vmovapd	%zmm2, %zmm7{%k1}{z}
	kxnorw	%k2, %k2, %k2
	vgatherdpd	(%r9,%ymm8,8), %zmm9{%k2}
	addq	$128, %rax
	cmpq	%rax, %rcx
	jne	.L2
