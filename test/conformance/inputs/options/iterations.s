# CASE: -mcpu=haswell -iterations=1 %s
# CASE: -mcpu=haswell -iterations=0 %s
# CASE: -mcpu=haswell -iterations=7 -timeline %s
# CASE: -mcpu=haswell --iterations 1000 %s
# CASE: -mcpu=haswell -iterations=12345 %s
mulsd	%xmm0, %xmm1
addsd	%xmm1, %xmm2
decl	%ecx
jnz	.L

