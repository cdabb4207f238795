# CASE: -mcpu=skylake -timeline-max-iterations=5 %s
# CASE: -mcpu=skylake -bottleneck-analysis -dispatch=2 %s
# CASE: -mcpu=skylake -instruction-tables -iterations=5 -dispatch-stats %s
addl	%eax, %ebx
