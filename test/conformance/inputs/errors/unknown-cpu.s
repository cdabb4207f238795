# CASE: -mcpu=pentium9 %s
# CASE: -mcpu=pentium9 -timeline < %s
# CASE: -mcpu=SKYLAKE %s
# CASE: -mcpu=skylake_server %s
# CASE: -mcpu=neoverse-n1 %s
addl	%eax, %ebx

