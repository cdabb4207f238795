# CASE: -mcpu=skylake-avx512 %s
# CASE: -mcpu=knl -mattr=+avx512pf %s
vgatherdps	(%rdi,%zmm0,4), %zmm1 {%k1}
vgatherqpd	8(%rsi,%zmm2,8), %zmm3 {%k2}
vpgatherdq	(%rdi,%ymm4), %zmm5 {%k3}
vpgatherqd	(%rdx,%zmm6,2), %ymm7 {%k4}
vscatterdps	%zmm8, (%rdi,%zmm9,4) {%k5}
vpscatterqq	%zmm10, 16(%rsi,%zmm11,8) {%k6}

