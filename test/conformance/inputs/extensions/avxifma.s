# CASE: -mcpu=sierraforest %s
{vex} vpmadd52luq	%ymm0, %ymm1, %ymm2
{vex} vpmadd52huq	(%rdi), %xmm3, %xmm4
vbcstnebf162ps	(%rdi), %ymm5
vcvtneoph2ps	(%rsi), %xmm6

