# CASE: -mcpu=alderlake %s
{vex} vpdpbusd	%ymm0, %ymm1, %ymm2
{vex} vpdpbusds	(%rdi), %xmm3, %xmm4
{vex} vpdpwssd	%ymm5, %ymm6, %ymm7
{vex} vpdpwssds	32(%rsi), %ymm8, %ymm9

