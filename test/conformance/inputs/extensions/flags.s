# CASE: -mcpu=x86-64 %s
# CASE: -mcpu=x86-64 -instruction-tables %s
# What may load and store where LLVM's descriptions are unlike the instructions' work, with and without a mask.
enter	$16, $0
enter	$16, $1
enter	$16, $-1
vextractf32x8	$1, %zmm1, (%rdi)
vextractf32x8	$1, %zmm1, (%rdi) {%k1}
vextracti64x2	$1, %ymm1, (%rdi)
vextracti64x2	$1, %ymm1, (%rdi) {%k1}
vcompressps	%zmm1, %zmm2
vcompressps	%zmm1, %zmm2 {%k1}
vpexpandd	(%rdi), %zmm2
vpexpandd	(%rdi), %zmm2 {%k1} {z}
