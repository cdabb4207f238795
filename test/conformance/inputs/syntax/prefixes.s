# CASE: -mcpu=skylake %s
# CASE: -mcpu=znver4 -show-encoding %s
	data16
	addr32 movl	(%rdi), %eax
	rep; nop
	cs nopw	512(%rax,%rax)
	{vex3} vaddps	%xmm0, %xmm1, %xmm2
	{evex} vaddps	%xmm0, %xmm1, %xmm2
	{disp32} movl	4(%rdi), %ebx
	rex64 addl	%eax, %ebx
done:

