# CASE: -mcpu=skylake %s
# CASE: -mcpu=znver2 -timeline < %s
	movl	%eax, %ecx
#APP
# 7 "f.c" 1
	rdtsc
# 0 "" 2
#NO_APP
	addl	%eax, %ecx
