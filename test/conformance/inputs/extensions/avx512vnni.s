# CASE: -mcpu=cascadelake %s
# CASE: -mcpu=icelake-server -bottleneck-analysis %s
vpdpbusd	%zmm0, %zmm1, %zmm2
vpdpbusds	(%rdi), %zmm3, %zmm4
vpdpwssd	%ymm16, %ymm17, %ymm18 {%k1}
vpdpwssds	(%rsi){1to16}, %zmm5, %zmm6 {%k2} {z}

