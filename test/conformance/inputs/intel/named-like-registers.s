# Functions may be called as registers are, and names may have dollar signs.
# CASE: -mcpu=skylake %s
# CASE: -mcpu=znver3 -output-asm-variant=0 %s
	.intel_syntax noprefix
	.globl	st
	.type	st, @function
st:
	mov	eax, dword ptr [rip + foo$bar]
	lea	rax, [rip + .L$x]
	cmp	dword ptr [rip + x$], 5
	add	eax, dword ptr _a$[rsp - 4]
	ret
	.size	st, .-st
	.globl	sp
sp:
	imul	eax, edi, 3
	.size	sp, .-sp
