# CASE: -mcpu=skylake -timeline -timeline-max-iterations=1 %s
# CASE: -mcpu=skylake -timeline -timeline-max-iterations=3 -timeline-max-cycles=20 %s
# CASE: -mcpu=skylake -timeline -timeline-max-iterations=0 %s
# CASE: -mcpu=skylake -timeline -timeline-max-cycles=1 %s
# CASE: -mcpu=btver2 -timeline -timeline-max-iterations=12 -timeline-max-cycles=0 -iterations=12 %s
# CASE: -mcpu=btver2 -timeline-max-iterations=2 %s
divsd	%xmm0, %xmm1
sqrtsd	%xmm1, %xmm2
addsd	%xmm2, %xmm3

