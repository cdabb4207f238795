# CASE: -mcpu=haswell -output-asm-variant=1 %s
	.intel_syntax noprefix
	fld	dword ptr [rdi]
	fld	tbyte ptr [rsi]
	fadd	st, st(1)
	faddp	st(2), st
	fmul	qword ptr [rdi + 8]
	fxch	st(3)
	fild	word ptr [rsp]
	fistp	qword ptr [rsp + 8]
	fnstcw	word ptr [rsp]
	fstp	st(0)

