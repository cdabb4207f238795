# CASE: -mcpu=skylake -bottleneck-analysis %s
# CASE: -mcpu=skylake -bottleneck-analysis=false %s
# CASE: -mcpu=znver3 -bottleneck-analysis %s
addl	$1, %eax

