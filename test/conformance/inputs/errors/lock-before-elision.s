# CASE: -mcpu=skylake %s
	movl	$1, %eax
	lock xacquire xaddl	%eax, (%rdi)
	movl	%eax, %ecx
