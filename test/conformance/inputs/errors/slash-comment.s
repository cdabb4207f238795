# CASE: -mcpu=skylake %s
	addl	%eax, %ebx
/ of GNU as alone
	subl	%eax, %ebx
