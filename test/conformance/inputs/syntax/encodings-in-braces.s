# CASE: -mcpu=skylake -show-encoding %s
	{vex2} vaddps %xmm1, %xmm2, %xmm3
	{vex3} vaddps %xmm1, %xmm2, %xmm3
	{evex} vaddps %xmm1, %xmm2, %xmm3
	{disp32} movl (%rax), %ecx
	{disp8} movl (%rax), %ecx
	movl 2147483647(%rax), %ebx
	movl 127(%rip), %eax
	movl foo+-4(%rax), %eax
	movl (%r13), %eax
