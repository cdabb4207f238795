# CASE: -mcpu=skylake %s
	{vex} vpdpbusd %xmm1, %xmm2, %xmm3
	{load} addl %eax, %ebx
	{store} addl %eax, %ebx
	{nooptimize} addl $1, %eax
	{frob} nop
