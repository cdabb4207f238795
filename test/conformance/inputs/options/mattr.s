# CASE: -mcpu=btver2 -mattr=+avx2,+fma %s
# CASE: -mcpu=skylake -mattr=-avx512f,+avx2 %s
# CASE: -mcpu=skylake -mattr=+nonsense %s
# CASE: -mcpu=skylake -mattr= %s
# CASE: -mcpu=skylake -mattr avx2 %s
vpaddd	%xmm0, %xmm1, %xmm2
vaddps	%ymm3, %ymm4, %ymm5

