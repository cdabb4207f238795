# CASE: -mcpu=sandybridge -instruction-tables %s
# CASE: -mcpu=znver3 %s
crc32b	%al, %ecx
crc32l	%ebx, %edx
crc32q	(%rdi), %rsi
pcmpgtq	%xmm0, %xmm1
pcmpestri	$12, %xmm2, %xmm3
pcmpestrm	$12, (%rdi), %xmm4
pcmpistri	$0x18, %xmm5, %xmm6
pcmpistrm	$0x40, %xmm7, %xmm8

