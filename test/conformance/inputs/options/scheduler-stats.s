# CASE: -mcpu=haswell -scheduler-stats %s
# CASE: -mcpu=znver2 -scheduler-stats %s
# CASE: -mcpu=btver2 -scheduler-stats -iterations=1500 %s
# CASE: -mcpu=bdver2 -scheduler-stats %s
bsfq	%rax, %rbx
popcntq	%rbx, %rcx
rolq	$7, %rcx
addpd	%xmm0, %xmm1

