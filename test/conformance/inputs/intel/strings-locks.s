# CASE: -mcpu=znver1 -output-asm-variant=1 %s
	.intel_syntax noprefix
	rep stosq
	repne scasb
	lods	al, byte ptr [rsi]
	cmpsd
	lock cmpxchg	dword ptr [rdi], ecx
	lock xadd	qword ptr [rsi], rax
	xchg	byte ptr [rdi], al
	cmpxchg16b	xmmword ptr [rdi]

