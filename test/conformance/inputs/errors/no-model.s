# CASE: -mcpu=generic %s
# CASE: -mcpu=i386 %s
# CASE: -mcpu=pentium4 %s
# CASE: -mcpu=k8 %s
# CASE: -mcpu=btver1 %s
# CASE: -mcpu=lakemont %s
addl	%eax, %ebx

