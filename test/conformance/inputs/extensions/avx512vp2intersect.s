# CASE: -mcpu=tigerlake %s
vp2intersectd	%zmm0, %zmm1, %k0
vp2intersectq	(%rdi){1to4}, %ymm2, %k2

