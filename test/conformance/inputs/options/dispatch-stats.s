# CASE: -mcpu=broadwell -dispatch-stats %s
# CASE: -mcpu=slm -dispatch-stats %s
# CASE: -mcpu=znver1 -dispatch-stats -iterations=3 %s
cvtsi2sdl	%eax, %xmm0
sqrtsd	%xmm0, %xmm0
cvttsd2si	%xmm0, %eax

