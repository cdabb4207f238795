# CASE: -mcpu=icelake-server -all-stats %s
# CASE: -mcpu=znver4 -all-stats %s
# CASE: -mcpu=bdver2 -all-stats %s
# CASE: -mcpu=sandybridge -all-stats=false -retire-stats %s
addl	$1, %eax
movl	%eax, (%rdi)
xorl	%ecx, %ecx
shll	$2, %edx

