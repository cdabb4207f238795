# CASE: -mcpu=sandybridge %s
# CASE: -mcpu=nehalem -all-views %s
# CASE: -mcpu=core2 %s
# CASE: -mcpu=slm %s
	vpaddd	%ymm0, %ymm1, %ymm2
	vfmadd213sd	(%rdi), %xmm1, %xmm2
	andn	%eax, %ebx, %ecx
	pdepq	%rax, %rbx, %rcx
	mulx	%rax, %rbx, %rcx
	adcxq	%rax, %rbx
	lzcntl	%eax, %ebx
	tzcntl	%eax, %ebx
	rorx	$5, %eax, %ebx
