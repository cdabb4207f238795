# CASE: -mcpu=skylake -mcpu=haswell %s
# CASE: -mcpu=skylake -iterations=1 -iterations=2 %s
# CASE: -mcpu=skylake -timeline -timeline=false %s
# CASE: -mcpu=skylake -noalias -noalias %s
# CASE: -mcpu=skylake -mattr=+avx -mattr=+avx2 %s
addl	%eax, %ebx

