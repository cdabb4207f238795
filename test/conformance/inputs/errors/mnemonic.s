# CASE: -mcpu=skylake %s
addl	%eax, %ebx
	frobnicate	%ecx, %edx
subl	%eax, %ebx
   gibberish

