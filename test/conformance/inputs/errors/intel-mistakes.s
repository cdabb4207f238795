# CASE: -mcpu=skylake %s
	.intel_syntax noprefix
	add	eax
	add	[rax], 1
	mov	eax, dword ptr [rax + rbx*3]
	mov	eax, qword ptr [rax]
	mov	dword ptr [rax], dword ptr [rbx]
	lea	eax, rbx
	inc	[rax]
	foo	eax
	mov	%eax, 1
	nop
