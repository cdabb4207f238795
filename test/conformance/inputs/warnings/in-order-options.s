# CASE: -mcpu=atom -all-views -dispatch=1 %s
# CASE: -mcpu=bonnell -retire-stats %s
# CASE: -mcpu=lakemont -timeline %s
cvttss2si	%xmm0, %eax
addl	%eax, (%rdi)
divsd	%xmm1, %xmm2

