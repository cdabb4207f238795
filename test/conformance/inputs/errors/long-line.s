# CASE: -mcpu=skylake %s
	addl	%eax, %ebx; subl %ecx, %edx; orl %esi, %edi; andl %r8d, %r9d; xorl %r10d, %r11d; addl %r12d, %r13d; wrong %eax; subl %eax, %ebx

