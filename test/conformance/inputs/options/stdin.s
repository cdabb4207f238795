# CASE: -mcpu=haswell < %s
# CASE: -mcpu=haswell - < %s
# CASE: -mcpu=haswell -timeline -o - < %s
movl	(%rax), %ebx
addl	%ebx, %ecx

