# CASE: -mcpu=haswell %s
	.intel_syntax noprefix
	mov	rax, [rdi]
	mov	rbx, 0ffh
	mov	ecx, 1010b
	mov	edx, offset table
	add	rax, [rip + table]
	jmp	short over
over:
	mov	byte ptr es:[rdi], al
	mov	rax, fs:[0]
	.data
table:	.quad 1, 2

