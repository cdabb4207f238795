# CASE: %s -mcpu
# CASE: -mcpu=skylake %s -iterations
# CASE: -mcpu=skylake %s -o
# CASE: -mcpu= %s
# CASE: -mtriple= -mcpu=skylake %s
# CASE: -march= -mcpu=skylake %s
addl	%eax, %ebx

