# CASE: -mcpu=ivybridge %s
	.intel_syntax prefix
	mov	%rax, qword ptr [%rdi]
	add	%eax, 5
	vaddps	%ymm0, %ymm1, ymmword ptr [%rsi]

