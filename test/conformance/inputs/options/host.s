# CASE host: %s
# CASE host: -mcpu=native %s
# CASE host: -timeline < %s
addl	%eax, %ebx
