# CASE: -mtriple=i686-unknown-linux-gnu -mcpu=skylake %s
# CASE: -mtriple=i686-unknown-linux-gnu -mcpu=znver2 -output-asm-variant=0 -show-encoding %s
	.intel_syntax noprefix
	push	ebp
	mov	ebp, esp
	mov	eax, dword ptr [ebp + 8]
	inc	eax
	lea	edx, [eax + 4*ecx - 12]
	push	dword ptr [edx]
	call	foo
	call	dword ptr [eax]
	jmp	eax
	je	.L2
	mov	eax, dword ptr [counter]
	mov	dword ptr [counter], ecx
.L2:
	bound	ebx, [eax]
	les	ebx, [eax]
	aad
	popad
	leave
	ret	4
