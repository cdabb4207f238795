# gcc puts inline assembly between line markers, the last of which has the number 0.
# CASE: -mcpu=skylake %s
	movl	%eax, %ecx
#APP
# 7 "f.c" 1
	frob	%eax
	rdtsc
# 0 "" 2
#NO_APP
	addl	%eax, %ecx
	frob	%ecx
