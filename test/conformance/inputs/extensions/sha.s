# CASE: -mcpu=icelake-server %s
# CASE: -mcpu=znver1 %s
sha1rnds4	$2, %xmm0, %xmm1
sha1nexte	(%rdi), %xmm2
sha1msg1	%xmm3, %xmm4
sha1msg2	%xmm5, %xmm6
sha256rnds2	%xmm0, %xmm7, %xmm8
sha256msg1	(%rsi), %xmm9
sha256msg2	%xmm10, %xmm11

