# CASE: -mcpu=skylake -bottleneck-analysis %s
# CASE: -mcpu=btver2 -bottleneck-analysis %s
# CASE: -mcpu=znver4 -bottleneck-analysis -iterations=1 %s
# CASE: -mcpu=sandybridge -bottleneck-analysis -iterations=500 %s
vmulpd	%ymm0, %ymm1, %ymm2
vmulpd	%ymm2, %ymm3, %ymm4
vdivpd	%ymm4, %ymm5, %ymm6
vaddpd	%ymm6, %ymm0, %ymm0

